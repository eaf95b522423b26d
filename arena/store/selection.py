"""Which stored matches a question is about, over all tournaments: any such selection is a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from botarena.v1.record_pb2 import MatchRecord
from google.protobuf.message import DecodeError

from arena.store.stored import StoredBot, StoredMatch, StoredTournament

VERSION_LETTERS = 8
"""How much of a bot's version its label shows, if that tells its versions apart."""


@dataclass(frozen=True, slots=True)
class BotFilter:
    """Bots by name, or those of one version.

    Attributes:
        name: the name in its tournaments.
        version: what the version begins with; "" for every version.
    """

    name: str
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> BotFilter:
        """Out of NAME or NAME@VERSION, the form of the labels that `entrants` gives."""
        name, _, version = text.partition("@")
        return cls(name, version)

    def fits(self, name: str, version: str) -> bool:
        """Whether a bot of this name and version is meant."""
        return name == self.name and version.startswith(self.version)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Selection:
    """What must hold for a match to be selected. A field that is left out excludes nothing.

    Attributes:
        game: name of the game.
        tournaments: names of tournaments, one of which it belongs to.
        options: sets of options as they are stored, one of which its tournament has. The store knows no
            game, so it takes {} and {"games": "1"} for different sets: who knows the game names all that
            mean the same.
        seats: seats at its table.
        anyone: bots of which one at least sits at it.
        together: bots that all sit at it.
        only: bots beside which nobody sits at it.
        since_us: it began then or later, in microseconds since 1970 UTC.
        before_us: it began earlier than then.
        rated: whether its tournament counts beside others: a server may play one that does not.
    """

    game: str | None = None
    tournaments: tuple[str, ...] = ()
    options: tuple[Mapping[str, str], ...] | None = None
    seats: int | None = None
    anyone: tuple[BotFilter, ...] = ()
    together: tuple[BotFilter, ...] = ()
    only: tuple[BotFilter, ...] = ()
    since_us: int | None = None
    before_us: int | None = None
    rated: bool = False

    def began_within(self, tournament: StoredTournament, played: StoredMatch) -> bool:
        """Whether a match of a tournament that reaches into the period began within it.

        That stands in its record alone, which is read only if the tournament reaches out of the
        period. A record that cannot be read is let through: whoever reads it for its result is told.
        """
        if self._spans(tournament):
            return True
        try:
            began = MatchRecord.FromString(played.record).circumstances.started_us
        except DecodeError:
            return True
        return (self.since_us or 0) <= began and (self.before_us is None or began < self.before_us)

    def _spans(self, tournament: StoredTournament) -> bool:
        """Whether all of a tournament lies within the period."""
        ended = tournament.finished_us
        return (self.since_us is None or self.since_us <= tournament.created_us) and (
            self.before_us is None or (ended is not None and ended < self.before_us)
        )


class BlockNumbers:
    """Numbers the blocks of several tournaments from 0, in the order in which they come.

    Block 0 of one tournament has nothing to do with block 0 of another, and who needs to know which
    matches share a deal must not take them for one.
    """

    def __init__(self) -> None:
        self._last: tuple[int, int] | None = None
        self._number = -1

    def number(self, tournament: StoredTournament, played: StoredMatch) -> int:
        """The number of a match's block; matches of a block come in succession."""
        key = (tournament.id, played.block)
        if key != self._last:
            self._last = key
            self._number += 1
        return self._number


def entrants(tournaments: Iterable[StoredTournament]) -> dict[tuple[str, str], str]:
    """What to call the bots of several tournaments, by (name, version): what is rated is a version.

    A name that had one version throughout is its label. Else the beginning of the version goes with
    it, such as "greedy@1.2+7af3": eight letters, or as many more as tell its versions apart.
    """
    versions: dict[str, set[str]] = {}
    for tournament in tournaments:
        for bot in tournament.bots:
            versions.setdefault(bot.name, set()).add(bot.version)
    return {
        (name, version): name if len(of_name) == 1 else f"{name}@{version[: _letters(of_name)]}"
        for name, of_name in versions.items()
        for version in of_name
    }


def _letters(versions: set[str]) -> int:
    """How many letters it takes to tell versions apart."""
    letters = VERSION_LETTERS
    while len({version[:letters] for version in versions}) < len(versions):
        letters += 1
    return letters


def indexes(bots: Iterable[StoredBot], filters: Iterable[BotFilter]) -> list[int]:
    """Indexes of the bots of a tournament that one of these means."""
    wanted = list(filters)
    return [index for index, bot in enumerate(bots) if any(one.fits(bot.name, bot.version) for one in wanted)]
