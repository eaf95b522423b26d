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
    true,
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
    Column("owner", String(40), comment="whose it is, if it was submitted to a server"),
    Column("entry", BigInteger, comment="row number of its version, likewise"),
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

# accounts of a server

user = Table(
    "user",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("name", String(40), nullable=False, unique=True),
    Column("folded", String(40), nullable=False, unique=True, comment="alike for names that look alike"),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("disabled_us", BigInteger, comment="null while it may be used"),
    Column("quotas", Text, nullable=False, server_default="{}", comment="JSON: those of its own"),
)

token = Table(
    "token",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("user", _Number, nullable=False),
    Column("label", String(80), nullable=False),
    Column("hash", LargeBinary(32), nullable=False, comment="SHA-256 of the token"),
    Column("scopes", Text, nullable=False, comment="JSON: list of names"),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("expires_us", BigInteger, comment="null: never"),
    Column("revoked_us", BigInteger, comment="null: it was not"),
    Column("used_us", BigInteger, comment="about when it was used last"),
    ForeignKeyConstraint(["user"], ["user.id"]),
    UniqueConstraint("hash"),
)

# bots of a server

bot = Table(
    "bot",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("name", String(40), nullable=False, unique=True),
    Column("folded", String(40), nullable=False, unique=True, comment="alike for names that look alike"),
    Column("owner", _Number, nullable=False),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("disabled_us", BigInteger, comment="null while it may play"),
    Column("mixed", Boolean, nullable=False, server_default=false(), comment="plays beside others"),
    Column("active", Integer, comment="number of the version that plays"),
    Column("barred", Boolean, nullable=False, server_default=false(), comment="disabled by an organiser"),
    ForeignKeyConstraint(["owner"], ["user.id"]),
)

blob = Table(
    "blob",
    metadata,
    Column("digest", String(64), primary_key=True, comment="SHA-256 of the data in hex"),
    Column("data", LargeBinary, nullable=False),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
)

bot_version = Table(
    "bot_version",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("bot", _Number, nullable=False),
    Column("number", Integer, nullable=False, comment="1, 2, ... of its bot"),
    Column("kind", String(10), nullable=False, comment="archive, image or remote"),
    Column("state", String(12), nullable=False),
    Column("reason", Text, nullable=False, server_default="", comment="why it failed, in a line"),
    Column("digest", String(64), comment="of its archive, which is a blob, or its image"),
    Column("size", BigInteger, nullable=False, server_default="0", comment="bytes"),
    Column("notes", Text, nullable=False, server_default="", comment="what its author says of it"),
    Column("activate", Boolean, nullable=False, server_default=true(), comment="once it is checked"),
    Column("spec", Text, nullable=False, comment="JSON: how it is started"),
    Column("build_log", Text, nullable=False, server_default=""),
    Column("check_log", Text, nullable=False, server_default=""),
    Column("created_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
    Column("changed_us", BigInteger, nullable=False, comment="likewise: of its state"),
    ForeignKeyConstraint(["bot"], ["bot.id"]),
    UniqueConstraint("bot", "number"),
)

# what a server plays by itself

hosted = Table(
    "hosted",
    metadata,
    Column("tournament", _Number, primary_key=True),
    Column("owner", _Number, nullable=False),
    Column("state", String(12), nullable=False),
    Column("reason", Text, nullable=False, server_default="", comment="of its state, in a line"),
    Column("begins_us", BigInteger, comment="microseconds since 1970 UTC; null: at once"),
    Column("per_day", BigInteger, comment="matches a day of a league; null: any number"),
    Column("rated", Boolean, nullable=False),
    Column("same_owner", Boolean, nullable=False, comment="whether bots of one owner may meet"),
    Column("remote", String(10), nullable=False, comment="none, mixed or only"),
    Column("is_open", Boolean, nullable=False, comment="whether owners of bots may enter them"),
    Column("changed_us", BigInteger, nullable=False, comment="likewise: of its state"),
    ForeignKeyConstraint(["tournament"], ["tournament.id"]),
    ForeignKeyConstraint(["owner"], ["user.id"]),
)

hosted_day = Table(
    "hosted_day",
    metadata,
    Column("tournament", _Number, ForeignKey("tournament.id"), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False, comment="since 1970 UTC"),
    Column("matches", BigInteger, nullable=False, comment="stored on it"),
)

hosted_bot = Table(
    "hosted_bot",
    metadata,
    Column("tournament", _Number, ForeignKey("tournament.id"), primary_key=True, comment="a league"),
    Column("bot", _Number, ForeignKey("bot.id"), primary_key=True, comment="whatever its version is"),
)

# what is known of selections of matches without reading them again

board = Table(
    "board",
    metadata,
    Column("key", String(64), primary_key=True, comment="SHA-256 of the selection in hex"),
    Column("selection", Text, nullable=False, comment="JSON"),
    Column("upto", BigInteger, nullable=False, comment="last match that it counts"),
    Column("matches", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False, comment="sums that more matches are added to"),
    Column("rows", Text, nullable=False, comment="JSON: what is shown"),
    Column("changed_us", BigInteger, nullable=False, comment="microseconds since 1970 UTC"),
)

board_part = Table(
    "board_part",
    metadata,
    Column("board", String(64), ForeignKey("board.key"), primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False, comment="results of some of its matches"),
)

# Where alembic notes the version of the schema. Its own table, not one of ours.
alembic_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
