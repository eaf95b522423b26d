"""Accounts, bots, hosted tournaments and boards of a server."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column(
        "tournament_bot",
        sa.Column("owner", sa.String(40), comment="whose it is, if it was submitted to a server"),
    )
    op.add_column(
        "tournament_bot", sa.Column("entry", sa.BigInteger, comment="row number of its version, likewise")
    )
    _accounts()
    _bots()
    _hosted()
    _boards()


def _accounts() -> None:
    op.create_table(
        "user",
        sa.Column("id", _number, nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("folded", sa.String(40), nullable=False, comment="alike for names that look alike"),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.Column("disabled_us", sa.BigInteger, comment="null while it may be used"),
        sa.Column(
            "quotas",
            sa.Text,
            nullable=False,
            server_default="{}",
            comment="JSON: those of its own",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_user"),
        sa.UniqueConstraint("name", name="uq_user_name"),
        sa.UniqueConstraint("folded", name="uq_user_folded"),
    )
    op.create_table(
        "token",
        sa.Column("id", _number, nullable=False),
        sa.Column("user", _number, nullable=False),
        sa.Column("label", sa.String(80), nullable=False),
        sa.Column("hash", sa.LargeBinary(32), nullable=False, comment="SHA-256 of the token"),
        sa.Column("scopes", sa.Text, nullable=False, comment="JSON: list of names"),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.Column("expires_us", sa.BigInteger, comment="null: never"),
        sa.Column("revoked_us", sa.BigInteger, comment="null: it was not"),
        sa.Column("used_us", sa.BigInteger, comment="about when it was used last"),
        sa.PrimaryKeyConstraint("id", name="pk_token"),
        sa.ForeignKeyConstraint(["user"], ["user.id"], name="fk_token_user"),
        sa.UniqueConstraint("hash", name="uq_token_hash"),
    )


def _bots() -> None:
    op.create_table(
        "bot",
        sa.Column("id", _number, nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("folded", sa.String(40), nullable=False, comment="alike for names that look alike"),
        sa.Column("owner", _number, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.Column("disabled_us", sa.BigInteger, comment="null while it may play"),
        sa.Column(
            "mixed",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="plays beside others",
        ),
        sa.Column("active", sa.Integer, comment="number of the version that plays"),
        sa.Column(
            "barred",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="disabled by an organiser",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_bot"),
        sa.UniqueConstraint("name", name="uq_bot_name"),
        sa.UniqueConstraint("folded", name="uq_bot_folded"),
        sa.ForeignKeyConstraint(["owner"], ["user.id"], name="fk_bot_owner"),
    )
    op.create_table(
        "blob",
        sa.Column("digest", sa.String(64), nullable=False, comment="SHA-256 of the data in hex"),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.PrimaryKeyConstraint("digest", name="pk_blob"),
    )
    op.create_table(
        "bot_version",
        sa.Column("id", _number, nullable=False),
        sa.Column("bot", _number, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, comment="1, 2, ... of its bot"),
        sa.Column("kind", sa.String(10), nullable=False, comment="archive, image or remote"),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("reason", sa.Text, nullable=False, server_default="", comment="why it failed, in a line"),
        sa.Column("digest", sa.String(64), comment="of its archive, which is a blob, or its image"),
        sa.Column("size", sa.BigInteger, nullable=False, server_default="0", comment="bytes"),
        sa.Column("notes", sa.Text, nullable=False, server_default="", comment="what its author says of it"),
        sa.Column(
            "activate", sa.Boolean, nullable=False, server_default=sa.true(), comment="once it is checked"
        ),
        sa.Column("spec", sa.Text, nullable=False, comment="JSON: how it is started"),
        sa.Column("build_log", sa.Text, nullable=False, server_default=""),
        sa.Column("check_log", sa.Text, nullable=False, server_default=""),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.Column("changed_us", sa.BigInteger, nullable=False, comment="likewise: of its state"),
        sa.PrimaryKeyConstraint("id", name="pk_bot_version"),
        sa.ForeignKeyConstraint(["bot"], ["bot.id"], name="fk_bot_version_bot"),
        sa.UniqueConstraint("bot", "number", name="uq_bot_version_bot_number"),
    )


def _hosted() -> None:
    op.create_table(
        "hosted",
        sa.Column("tournament", _number, nullable=False),
        sa.Column("owner", _number, nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("reason", sa.Text, nullable=False, server_default="", comment="of its state, in a line"),
        sa.Column("begins_us", sa.BigInteger, comment="microseconds since 1970 UTC; null: at once"),
        sa.Column("per_day", sa.BigInteger, comment="matches a day of a league; null: any number"),
        sa.Column("rated", sa.Boolean, nullable=False),
        sa.Column("same_owner", sa.Boolean, nullable=False, comment="whether bots of one owner may meet"),
        sa.Column("remote", sa.String(10), nullable=False, comment="none, mixed or only"),
        sa.Column("is_open", sa.Boolean, nullable=False, comment="whether owners of bots may enter them"),
        sa.Column("changed_us", sa.BigInteger, nullable=False, comment="likewise: of its state"),
        sa.PrimaryKeyConstraint("tournament", name="pk_hosted"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_hosted_tournament"),
        sa.ForeignKeyConstraint(["owner"], ["user.id"], name="fk_hosted_owner"),
    )
    op.create_table(
        "hosted_day",
        sa.Column("tournament", _number, nullable=False),
        sa.Column("day", sa.Integer, nullable=False, autoincrement=False, comment="since 1970 UTC"),
        sa.Column("matches", sa.BigInteger, nullable=False, comment="stored on it"),
        sa.PrimaryKeyConstraint("tournament", "day", name="pk_hosted_day"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_hosted_day_tournament"),
    )
    op.create_table(
        "hosted_bot",
        sa.Column("tournament", _number, nullable=False, comment="a league"),
        sa.Column("bot", _number, nullable=False, comment="whatever its version is"),
        sa.PrimaryKeyConstraint("tournament", "bot", name="pk_hosted_bot"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_hosted_bot_tournament"),
        sa.ForeignKeyConstraint(["bot"], ["bot.id"], name="fk_hosted_bot_bot"),
    )


def _boards() -> None:
    op.create_table(
        "board",
        sa.Column("key", sa.String(64), nullable=False, comment="SHA-256 of the selection in hex"),
        sa.Column("selection", sa.Text, nullable=False, comment="JSON"),
        sa.Column("upto", sa.BigInteger, nullable=False, comment="last match that it counts"),
        sa.Column("matches", sa.BigInteger, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False, comment="sums that more matches are added to"),
        sa.Column("rows", sa.Text, nullable=False, comment="JSON: what is shown"),
        sa.Column("changed_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.PrimaryKeyConstraint("key", name="pk_board"),
    )
    op.create_table(
        "board_part",
        sa.Column("board", sa.String(64), nullable=False),
        sa.Column("part", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False, comment="results of some of its matches"),
        sa.ForeignKeyConstraint(["board"], ["board.key"], name="fk_board_part_board"),
        sa.PrimaryKeyConstraint("board", "part", name="pk_board_part"),
    )


def downgrade() -> None:
    for table in (
        "board_part",
        "board",
        "hosted_bot",
        "hosted_day",
        "hosted",
        "bot_version",
        "blob",
        "bot",
        "token",
        "user",
    ):
        op.drop_table(table)
    with op.batch_alter_table("tournament_bot") as batch:
        batch.drop_column("entry")
        batch.drop_column("owner")
