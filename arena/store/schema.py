"""The tables. Records of matches are append-only; all else is there to find them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

# SQLite gives row numbers to columns of type INTEGER alone.
_Number = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

tournament = Table(
    "tournament",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("kind", String(20), nullable=False),
    Column("game", String(40), nullable=False),
    Column("options", Text, nullable=False, comment="JSON, as a person gave them"),
    Column("seats", Integer, nullable=False),
    Column("deals", BigInteger, nullable=False),
    Column("rotate", Boolean, nullable=False),
    Column("matches", BigInteger, nullable=False, comment="to be played in all"),
    Column("seed", LargeBinary(32), nullable=False),
    Column("move_us", BigInteger, nullable=False),
    Column("bank_us", BigInteger, nullable=False),
    Column("start_us", BigInteger, nullable=False),
    Column("faults_allowed", Integer, nullable=False),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("finished_us", BigInteger, comment="null while matches are missing"),
    Column("format", String(20), nullable=False, server_default="round-robin"),
    Column("settings", Text, nullable=False, server_default="{}", comment="JSON: the format's own"),
)

tournament_bot = Table(
    "tournament_bot",
    metadata,
    Column("tournament", _Number, ForeignKey("tournament.id"), primary_key=True),
    Column("bot", Integer, primary_key=True, comment="index within the tournament"),
    Column("name", String(80), nullable=False),
    Column("version", String(120), nullable=False),
    Column("spec", Text, nullable=False, comment="JSON: how it is started"),
    Column("retired", Boolean, nullable=False, server_default=false(), comment="plays no further round"),
)

pairing = Table(
    "pairing",
    metadata,
    Column("tournament", _Number, ForeignKey("tournament.id"), primary_key=True),
    Column("block", BigInteger, primary_key=True, autoincrement=False),
    Column("round", Integer, nullable=False),
    Column("deal", BigInteger, nullable=False),
    Column("seatings", Text, nullable=False, comment="JSON: per match the bot in each seat"),
)

lost_block = Table(
    "lost_block",
    metadata,
    Column("tournament", _Number, ForeignKey("tournament.id"), primary_key=True),
    Column("block", BigInteger, primary_key=True, autoincrement=False),
    Column("runs", Integer, nullable=False, comment="that gave it up"),
    Column("reason", Text, nullable=False, comment="in the last of them"),
    Column("lost_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
)

match = Table(
    "match",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("tournament", _Number, nullable=False),
    Column("block", BigInteger, nullable=False),
    Column("seating", Integer, nullable=False),
    Column("verdict", Integer, nullable=False),
    Column("record", LargeBinary, nullable=False, comment="a sealed MatchRecord"),
    # In the order of the migration, so that a fresh database is the same to the letter.
    ForeignKeyConstraint(["tournament"], ["tournament.id"]),
    UniqueConstraint("tournament", "block", "seating"),
)

match_seat = Table(
    "match_seat",
    metadata,
    Column("match", _Number, ForeignKey("match.id"), primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("bot", Integer, nullable=False, comment="index within the tournament"),
    Column("rank", Integer, comment="null if the match is void"),
    Column("score", Integer),
    Column("fault", Integer, comment="kind of the fault by which the seat was forfeited"),
    Index(None, "bot"),
    sqlite_with_rowid=False,
)

# Where alembic notes the version of the schema. Its own table, not one of ours.
alembic_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
