"""What it takes to go on with a report: sums, and the results that ratings are fitted to, as bytes.

Matches are added in any order, but those of a block together. Bots are kept by name and version: what they
are called on a leaderboard depends on which others there are, so it is said when a report is made.

The sums are JSON. The results are columns of numbers, a few bytes a match when compressed; they are kept in
parts, so that what was stored need not be written again.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from botarena.v1.record_pb2 import MatchRecord

from arena.games import find_game
from arena.match.verdicts import RATED, fault_name, verdict_name
from arena.ratings import counting
from arena.ratings.arrays import Ints
from arena.ratings.fold import TieRule
from arena.ratings.results import Results
from arena.ratings.standings import Counts, Standings
from arena.tournament.report import Report

VERSION = 1
"""Of the bytes. What has another one is made anew from the records."""
_COLUMNS = ("bots", "ranks", "tournaments", "blocks", "seatings")
_TYPES = {"bots": "<u4", "ranks": "<u2", "tournaments": "<u4", "blocks": "<u8", "seatings": "<u2"}
Key: TypeAlias = tuple[str, str]


class StaleLedgerError(ValueError):
    """Bytes of another version, or none of ours."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A match to be added.

    Attributes:
        tournament, block, seating: where it belongs.
        record: its record.
    """

    tournament: int
    block: int
    seating: int
    record: MatchRecord


@dataclass(frozen=True, slots=True)
class _Columns:
    """Results at tables of one size; bots and ranks by match and seat, all else by match."""

    bots: npt.NDArray[Any]
    ranks: npt.NDArray[Any]
    tournaments: npt.NDArray[Any]
    blocks: npt.NDArray[Any]
    seatings: npt.NDArray[Any]


class Ledger:
    """Adds up matches of one game, and can be put away in between.

    Attributes:
        bots: names and versions by number.
        matches: number of matches added.
    """

    def __init__(self) -> None:
        self.bots: list[Key] = []
        self.matches = 0
        self._number: dict[Key, int] = {}
        self._decisions = 0
        self._void: Counter[str] = Counter()
        self._decided: Counter[int] = Counter()
        self._failed: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._think: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._tallies: dict[Any, list[int]] = {}
        self._seats: dict[Any, list[int]] = {}
        self._pairs: dict[Any, list[int]] = {}
        self._parts: list[bytes] = []

    # adding

    def add(self, entries: Iterable[Entry]) -> bytes:
        """Add matches; their results as a part, to be kept beside the sums.

        Args:
            entries: whole blocks.
        """
        rated: dict[int, list[tuple[Entry, list[int]]]] = {}
        for entry in entries:
            record = entry.record
            self.matches += 1
            self._decisions += len(record.seats)
            if record.verdict not in RATED:
                self._void[verdict_name(record.verdict)] += 1
                continue
            numbers = [self._number_of((bot.name, bot.version)) for bot in record.bots]
            rated.setdefault(len(numbers), []).append((entry, numbers))
            for fault in record.faults:
                self._failed[numbers[fault.seat]][fault_name(fault.kind)] += 1
                if fault.forfeit:
                    later = list(record.seats[fault.decision + 1 :]).count(fault.seat)
                    self._decided[numbers[fault.seat]] -= later
        for each in rated.values():
            self._add_decisions(each)
        part = _pack({size: self._add_size(each) for size, each in sorted(rated.items())})
        self._parts.append(part)
        return part

    def _number_of(self, bot: Key) -> int:
        number = self._number.setdefault(bot, len(self.bots))
        if number == len(self.bots):
            self.bots.append(bot)
        return number

    def _add_decisions(self, matches: Sequence[tuple[Entry, list[int]]]) -> None:
        """Count decisions and their times, those of a bot together; all tables are of one size."""
        seats, times = array("q"), array("q")
        decisions, timed = array("q"), array("q")
        for entry, _ in matches:
            record = entry.record
            seats.extend(record.seats)
            decisions.append(len(record.seats))
            think = record.circumstances.think_us[: len(record.seats)]
            times.extend(think)
            timed.append(len(think))
        table = np.array([numbers for _, numbers in matches], np.int64)
        which = np.repeat(np.arange(len(matches)), decisions)
        deciders = table[which, np.array(seats)]
        # Of its decisions a match may have fewer times, which are those of the first.
        place = np.arange(len(which)) - np.repeat(np.cumsum(decisions) - decisions, decisions)
        who, when = deciders[place < np.repeat(timed, decisions)], np.array(times)
        for bot, count in enumerate(np.bincount(deciders).tolist()):
            if count:
                self._decided[bot] += count
        took = when > 0
        keys, counts = np.unique((who[took] << 40) | _rough(when[took]), return_counts=True)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            self._think[key >> 40][key & (1 << 40) - 1] += count

    def _add_size(self, matches: Sequence[tuple[Entry, list[int]]]) -> _Columns:
        entries = [entry for entry, _ in matches]
        bots = np.array([numbers for _, numbers in matches], np.int64)
        ranks = np.array([list(entry.record.ranks) for entry in entries], np.int64)
        scores = np.array([list(entry.record.scores) for entry in entries], np.int64)
        tournaments, blocks, seatings = (
            np.array(column, np.int64)
            for column in zip(*((e.tournament, e.block, e.seating) for e in entries), strict=True)
        )
        _, shared = np.unique(np.stack([tournaments, blocks]), axis=1, return_inverse=True)
        batch = counting.Batch(bots, ranks, scores, shared.ravel())
        for bot, row in counting.tallies_of(batch):
            _sum(self._tallies, (bot,), row)
        for seat, bot, row in counting.seats_of(batch):
            _sum(self._seats, (batch.seats, seat, bot), row)
        for one, other, row in counting.pairs_of(batch):
            _sum(self._pairs, (one, other), row)
        return _Columns(bots, ranks, tournaments, blocks, seatings)

    # telling

    def report(self, game: str, labels: Mapping[Key, str], anchor: str | None = None) -> Report:
        """The report of all matches that were added.

        Args:
            game: name of their game.
            labels: what each (name, version) is called.
            anchor: what the bot is called whose rating is 0.
        """
        names = [labels[bot] for bot in self.bots]
        report = Report(game, anchor)
        report.matches, report.decisions = self.matches, self._decisions
        report.void.update(self._void)
        for bot, name in enumerate(names):
            report.decided[name] = self._decided[bot]
            if bot in self._failed:
                report.failed[name].update(self._failed[bot])
            if bot in self._think:
                report.think[name].counts.update(self._think[bot])
        ties = TieRule(find_game(game).ties.value)
        report.standings = Standings.counted(ties, self._results(names), self._counts(names))
        return report

    def _counts(self, names: Sequence[str]) -> Counts:
        return Counts(
            {names[bot]: row for (bot,), row in self._tallies.items()},
            {(size, seat, names[bot]): row for (size, seat, bot), row in self._seats.items()},
            dict(_named(names[one], names[other], row) for (one, other), row in self._pairs.items()),
        )

    def _results(self, names: Sequence[str]) -> Results:
        """The results in the order of the schedules: so they are what a fold over the records gives."""
        sizes = _unpack(self._parts)
        blocks = _block_numbers(list(sizes.values()))
        order = _by_appearance(list(sizes.values()), blocks, len(names))
        place = np.argsort(order)
        results = Results()
        for each, numbers in zip(sizes.values(), blocks, strict=True):
            rows = np.lexsort((each.seatings, numbers))
            bots, ranks = place[each.bots[rows]], each.ranks[rows].astype(np.intp)
            results.add_all([names[bot] for bot in order], bots, ranks, numbers[rows])
        return results

    # putting away

    def pack(self) -> bytes:
        """The sums; the parts are kept beside them."""
        data = {
            "version": VERSION,
            "bots": self.bots,
            "matches": self.matches,
            "decisions": self._decisions,
            "void": self._void,
            "decided": list(self._decided.items()),
            "failed": list(self._failed.items()),
            "think": [[bot, list(times.items())] for bot, times in self._think.items()],
            "tallies": [[*key, *row] for key, row in self._tallies.items()],
            "seats": [[*key, *row] for key, row in self._seats.items()],
            "pairs": [[*key, *row] for key, row in self._pairs.items()],
        }
        return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)

    @classmethod
    def unpack(cls, sums: bytes, parts: Iterable[bytes]) -> Ledger:
        """Out of what `pack` and `add` gave.

        Raises:
            StaleLedgerError: it is of another version.
        """
        try:
            data = json.loads(zlib.decompress(sums))
            version = data["version"]
        except (ValueError, zlib.error, TypeError, KeyError):
            raise StaleLedgerError("the sums cannot be read") from None
        if version != VERSION:
            raise StaleLedgerError(f"the sums have version {version}")
        ledger = cls()
        for bot in data["bots"]:
            ledger._number_of((bot[0], bot[1]))
        ledger.matches, ledger._decisions = data["matches"], data["decisions"]
        ledger._void.update(data["void"])
        ledger._decided.update(dict(data["decided"]))
        for bot, kinds in data["failed"]:
            ledger._failed[bot].update(kinds)
        for bot, times in data["think"]:
            ledger._think[bot].update(dict(times))
        ledger._tallies = {(row[0],): row[1:] for row in data["tallies"]}
        ledger._seats = {tuple(row[:3]): row[3:] for row in data["seats"]}
        ledger._pairs = {tuple(row[:2]): row[2:] for row in data["pairs"]}
        ledger._parts = list(parts)
        return ledger


def joined(parts: Sequence[bytes]) -> bytes:
    """Several parts as one."""
    return _pack(_unpack(parts))


def part_matches(part: bytes) -> int:
    """How many results a part has."""
    return sum(count for _, count in _head(zlib.decompress(part))[0])


def _rough(times: Ints) -> Ints:
    """Times as `ThinkTimes` keeps them."""
    _, bits = np.frexp(times.astype(float))
    shift = np.maximum(0, bits.astype(np.int64) - 7)
    rough: Ints = times >> shift << shift
    return rough


def _sum(sums: dict[Any, list[int]], key: tuple[int, ...], row: Sequence[int]) -> None:
    had = sums.get(key)
    sums[key] = list(row) if had is None else [a + b for a, b in zip(had, row, strict=True)]


def _named(one: str, other: str, row: Sequence[int]) -> tuple[tuple[str, str], Sequence[int]]:
    """Sums of two bots from the side of the one whose name comes first."""
    if one < other:
        return (one, other), row
    blocks, n, s, nn, ns, ss = row
    return (other, one), (blocks, n, 2 * n - s, nn, 2 * nn - ns, 4 * nn - 4 * ns + ss)


def _block_numbers(sizes: Sequence[_Columns]) -> list[Ints]:
    """By size and match a number for each block of a tournament, in their order."""
    if not sizes:
        return []
    columns = [(each.tournaments.astype(np.int64), each.blocks.astype(np.int64)) for each in sizes]
    tournaments, blocks = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort((blocks, tournaments))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(tournaments[order]) != 0) | (np.diff(blocks[order]) != 0)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new) - 1
    return np.split(numbers, np.cumsum([len(each.blocks) for each in sizes])[:-1])


def _by_appearance(sizes: Sequence[_Columns], blocks: Sequence[Ints], bots: int) -> Ints:
    """Bots in the order in which they sat down first."""
    first = np.full(bots, np.iinfo(np.int64).max)
    for each, numbers in zip(sizes, blocks, strict=True):
        seats = each.bots.shape[1]
        moment = (numbers * (1 << 16) + each.seatings)[:, None] * seats + np.arange(seats)
        np.minimum.at(first, each.bots, moment)
    order: Ints = np.argsort(first, kind="stable")
    return order


# A part: a line of JSON that says how many matches there are by size of the table, then the columns.


def _pack(sizes: Mapping[int, _Columns]) -> bytes:
    head = json.dumps([[size, len(each.blocks)] for size, each in sizes.items()]).encode()
    columns = [
        getattr(each, name).astype(_TYPES[name]).tobytes() for each in sizes.values() for name in _COLUMNS
    ]
    return zlib.compress(b"\n".join([head, b"".join(columns)]), 1)


def _head(data: bytes) -> tuple[list[list[int]], int]:
    head, _, _ = data.partition(b"\n")
    return json.loads(head), len(head) + 1


def _unpack(parts: Iterable[bytes]) -> dict[int, _Columns]:
    found: dict[int, list[_Columns]] = {}
    for part in parts:
        data = zlib.decompress(part)
        head, at = _head(data)
        for size, count in head:
            columns = []
            for name in _COLUMNS:
                seats = size if name in ("bots", "ranks") else 1
                column = np.frombuffer(data, _TYPES[name], count * seats, at)
                at += column.nbytes
                columns.append(column.reshape(count, seats) if seats > 1 else column)
            found.setdefault(size, []).append(_Columns(*columns))
    return {
        size: _Columns(*(np.concatenate([getattr(each, name) for each in several]) for name in _COLUMNS))
        for size, several in sorted(found.items())
    }
