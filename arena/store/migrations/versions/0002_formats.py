"""Formats of tournaments: their settings, the rounds that they decide, and bots that retire."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column(
        "tournament", sa.Column("format", sa.String(20), nullable=False, server_default="round-robin")
    )
    op.add_column(
        "tournament",
        sa.Column("settings", sa.Text, nullable=False, server_default="{}", comment="JSON: the format's own"),
    )
    op.add_column(
        "tournament_bot",
        sa.Column(
            "retired",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="plays no further round",
        ),
    )
    op.create_table(
        "pairing",
        sa.Column("tournament", _number, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("deal", sa.BigInteger, nullable=False),
        sa.Column("seatings", sa.Text, nullable=False, comment="JSON: per match the bot in each seat"),
        sa.PrimaryKeyConstraint("tournament", "block", name="pk_pairing"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_pairing_tournament"),
    )


def downgrade() -> None:
    op.drop_table("pairing")
    op.drop_column("tournament_bot", "retired")
    op.drop_column("tournament", "settings")
    op.drop_column("tournament", "format")
