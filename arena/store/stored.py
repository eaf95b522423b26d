"""Tournaments and matches as they are stored, as plain data. Apart from the store: its database layer takes
a fifth of a second to load, and whoever only describes a tournament need not wait for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredBot:
    """A bot of a tournament.

    Attributes:
        name: its name in the tournament.
        version: what identifies its code.
        spec: how it is started, as plain data.
        retired: whether it plays no further round.
        owner: name of the user whose it is, if it was submitted to a server.
        entry: row number of its version there.
    """

    name: str
    version: str
    spec: dict[str, Any]
    retired: bool = False
    owner: str | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class StoredTournament:
    """A tournament as it is stored.

    Attributes:
        id: row number, 0 before it is stored.
        name: unique name.
        kind: "tournament" or "play".
        game: name of the game.
        options: the game's options as a person gave them.
        seats: seats at a table.
        deals: number of deals; of a format that decides its rounds itself the most, until it is over.
        rotate: whether each deal is played in all rotations of the seats.
        matches: number of matches to be played in all; at most, as for the deals.
        seed: its secret seed, 32 bytes.
        move_us, bank_us, start_us: the clock, in microseconds.
        faults_allowed: timeouts and illegal actions allowed to each seat before forfeit.
        bots: its bots by index.
        created_us: when, in microseconds since 1970 UTC.
        finished_us: when all matches were stored; None before.
        format: what decides who plays whom.
        settings: of the format, as plain data.
    """

    id: int
    name: str
    kind: str
    game: str
    options: dict[str, str]
    seats: int
    deals: int
    rotate: bool
    matches: int
    seed: bytes
    move_us: int
    bank_us: int
    start_us: int
    faults_allowed: int
    bots: tuple[StoredBot, ...]
    created_us: int
    finished_us: int | None
    format: str = "round-robin"
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredPairing:
    """A table that a format decided to be played.

    Attributes:
        block: its index in the tournament.
        round: the round that it belongs to, from 0.
        deal: index of its deal in the tournament.
        seatings: per match the index of the bot in each seat.
    """

    block: int
    round: int
    deal: int
    seatings: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class StoredLoss:
    """A block that the machine lost as often as it was tried, and that is still to be played.

    Attributes:
        block: its index in the tournament.
        runs: how many runs gave it up.
        reason: why, in the last of them.
        lost_us: when, in microseconds since 1970 UTC.
    """

    block: int
    runs: int
    reason: str
    lost_us: int


@dataclass(frozen=True, slots=True)
class StoredSeat:
    """A seat of a stored match; rank and score are None if the match is void."""

    bot: int
    rank: int | None
    score: int | None
    fault: int | None


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match as it is stored: where it belongs, how it went, and its sealed record."""

    block: int
    seating: int
    verdict: int
    record: bytes
    seats: tuple[StoredSeat, ...]
