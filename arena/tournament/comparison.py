"""What a comparison of two versions came to: their results, scores and moves side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from botarena.v1.record_pb2 import MatchRecord

from arena.ratings.compare import Finding, Interval, SequentialTest, interval
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.report import played_record
from arena.tournament.runner import played_tables, schedule_of
from arena.tournament.versions import NEW, OLD, Compare

if TYPE_CHECKING:
    from arena.store.store import Store


@dataclass(frozen=True, slots=True)
class Comparison:
    """Old and new version side by side.

    Attributes:
        test: that was made.
        finding: what it says.
        scores: new minus old, in the game's points.
        matches: that are stored.
        pairs: of matches that differ in the version alone, void ones left out.
        identical: of which so many went alike, decision by decision.
    """

    test: SequentialTest
    finding: Finding
    scores: Interval
    matches: int
    pairs: int
    identical: int


def comparison_of(store: Store, tournament: StoredTournament) -> Comparison:
    """The comparison of all that is stored."""
    schedule = schedule_of(tournament)
    assert isinstance(schedule, Compare)
    matches = pairs = identical = 0
    scores = []
    for _, block in groupby(store.matches(tournament.id), key=lambda played: played.block):
        stored = list(block)
        matches += len(stored)
        found = [(old, new) for old, new in _pairs(stored) if old.ranks and new.ranks]
        pairs += len(found)
        identical += sum(old.actions == new.actions for old, new in found)
        if found:
            scores.append(sum(_gain(old, new) for old, new in found) / len(found))
    finding = schedule.finding(played_tables(store, tournament))
    return Comparison(schedule.test, finding, interval(scores), matches, pairs, identical)


def _pairs(block: list[StoredMatch]) -> Iterator[tuple[MatchRecord, MatchRecord]]:
    """The matches of a block with the old version and with the new one, in the same seat."""
    stored = {played.seating: played for played in block}
    for seating in range(OLD, 1 + max(stored), 2):
        if seating in stored and seating + NEW in stored:
            yield played_record(stored[seating]), played_record(stored[seating + NEW])


def _gain(old: MatchRecord, new: MatchRecord) -> float:
    """By how much more the new version scored than the old one in its place."""
    (seat,) = [
        index for index, (one, other) in enumerate(zip(old.bots, new.bots, strict=True)) if one != other
    ]
    return float(new.scores[seat] - old.scores[seat])
