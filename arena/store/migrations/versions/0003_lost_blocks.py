"""Why blocks could not be played."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "lost_block",
        sa.Column("tournament", _number, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("runs", sa.Integer, nullable=False, comment="that gave it up"),
        sa.Column("reason", sa.Text, nullable=False, comment="in the last of them"),
        sa.Column("lost_us", sa.BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
        sa.PrimaryKeyConstraint("tournament", "block", name="pk_lost_block"),
        sa.ForeignKeyConstraint(["tournament"], ["tournament.id"], name="fk_lost_block_tournament"),
    )


def downgrade() -> None:
    op.drop_table("lost_block")
