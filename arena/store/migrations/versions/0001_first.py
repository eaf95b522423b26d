"""The first schema: tournaments, their bots, and matches with their seats."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "tournament",
        sa.Column("id", _number, nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("game", sa.String(40), nullable=False),
        sa.Column("options", sa.Text, nullable=False, comment="JSON, as a person gave them"),
        sa.Column("seats", sa.Integer, nullable=False),
        sa.Column("deals", sa.BigInteger, nullable=False),
        sa.Column("rotate", sa.Boolean, nullable=False),
        sa.Column("matches", sa.BigInteger, nullable=False, comment="to be played in all"),
        sa.Column("seed", sa.LargeBinary(32), nullable=False),
        sa.Column("move_us", sa.BigInteger, nullable=False),
        sa.Column("bank_us", sa.BigInteger, nullable=False),
        sa.Column("start_us", sa.BigInteger, nullable=False),
        sa.Column("faults_allowed", sa.Integer, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.Column("finished_us", sa.BigInteger, comment="null while matches are missing"),
        sa.PrimaryKeyConstraint("id", name="pk_tournament"),
        sa.UniqueConstraint("name", name="uq_tournament_name"),
    )
    op.create_table(
        "tournament_bot",
        sa.Column("tournament", _number, nullable=False),
        sa.Column("bot", sa.Integer, nullable=False, comment="index within the tournament"),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("version", sa.String(120), nullable=False),
        sa.Column("spec", sa.Text, nullable=False, comment="JSON: how it is started"),
        sa.PrimaryKeyConstraint("tournament", "bot", name="pk_tournament_bot"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_tournament_bot_tournament"),
    )
    op.create_table(
        "match",
        sa.Column("id", _number, nullable=False),
        sa.Column("tournament", _number, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False),
        sa.Column("seating", sa.Integer, nullable=False),
        sa.Column("verdict", sa.Integer, nullable=False),
        sa.Column("record", sa.LargeBinary, nullable=False, comment="a sealed MatchRecord"),
        sa.PrimaryKeyConstraint("id", name="pk_match"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_match_tournament"),
        sa.UniqueConstraint("tournament", "block", "seating", name="uq_match_tournament_block_seating"),
    )
    op.create_table(
        "match_seat",
        sa.Column("match", _number, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("bot", sa.Integer, nullable=False, comment="index within the tournament"),
        sa.Column("rank", sa.Integer, comment="null if the match is void"),
        sa.Column("score", sa.Integer),
        sa.Column("fault", sa.Integer, comment="kind of the fault by which the seat was forfeited"),
        sa.PrimaryKeyConstraint("match", "seat", name="pk_match_seat"),
        sa.ForeignKeyConstraint(["match"], ["match.id"], name="fk_match_seat_match"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_match_seat_bot", "match_seat", ["bot"])


def downgrade() -> None:
    for table in ("match_seat", "match", "tournament_bot", "tournament"):
        op.drop_table(table)
