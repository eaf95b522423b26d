"""What a tournament's records say: standings, crosstable, faults, think times. A fold over records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from botarena.v1.record_pb2 import MatchRecord

from arena.games import find_game
from arena.match.record import RecordDamagedError, unseal
from arena.match.verdicts import RATED, fault_name, verdict_name
from arena.ratings.fold import TieRule
from arena.ratings.standings import Played, Standing, Standings
from arena.store.stored import StoredMatch, StoredTournament


class ThinkTimes:
    """Times of decisions, kept to within 1 % in constant memory."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, microseconds: int) -> None:
        """Count one."""
        shift = max(0, microseconds.bit_length() - 7)
        self._counts[microseconds >> shift << shift] += 1

    def quantile(self, share: float) -> int | None:
        """The smallest time that this share of the decisions did not exceed, in microseconds."""
        left = share * self._counts.total()
        for time, count in sorted(self._counts.items()):
            left -= count
            if left <= 0:
                return time
        return None


class Report:
    """Adds up records; order matters only to the rating, which folds in the order given.

    Args:
        tournament: whose records they are.

    Attributes:
        matches: number of records added.
        decisions: number of decisions in them.
        void: matches that count for nothing, by verdict.
    """

    def __init__(self, tournament: StoredTournament) -> None:
        self.matches = 0
        self.decisions = 0
        self.void: Counter[str] = Counter()
        self._standings = Standings(TieRule(find_game(tournament.game).ties.value))
        self._think: defaultdict[str, ThinkTimes] = defaultdict(ThinkTimes)
        self._faults: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, record: MatchRecord) -> None:
        """Add one record."""
        self.matches += 1
        self.decisions += len(record.seats)
        names = [bot.name for bot in record.bots]
        if record.verdict not in RATED:
            self.void[verdict_name(record.verdict)] += 1
            return
        for seat, think in zip(record.seats, record.circumstances.think_us, strict=False):
            if think:  # a stand-in takes no time, and its bot's times end there
                self._think[names[seat]].add(think)
        for fault in record.faults:
            self._faults[names[fault.seat]][fault_name(fault.kind)] += 1
        self._standings.add(
            Played(
                block=record.deal,
                bots=tuple(names),
                ranks=tuple(record.ranks),
                scores=tuple(record.scores),
                order=record.seed + record.seating.to_bytes(4, "big"),
            )
        )

    @property
    def faults(self) -> dict[str, dict[str, int]]:
        """Number of faults by bot and kind."""
        return {bot: dict(kinds) for bot, kinds in sorted(self._faults.items())}

    def rows(self) -> list[dict[str, Any]]:
        """The leaderboard, best first, as plain data."""
        return [self._row(standing) for standing in self._standings.table()]

    def crosstable(self) -> list[dict[str, Any]]:
        """For each ordered pair that met: the share of matches in which the one ranked above the other."""
        return [
            {"bot": bot, "against": other, "share": cell.share, "error": cell.error, "matches": cell.matches}
            for (bot, other), cell in sorted(self._standings.crosstable().items())
        ]

    def _row(self, standing: Standing) -> dict[str, Any]:
        faults = self._faults.get(standing.bot, Counter())
        think = self._think.get(standing.bot, ThinkTimes())
        return {
            "rank_low": standing.low,
            "rank_high": standing.high,
            "bot": standing.bot,
            "mu": standing.rating.mu,
            "sigma": standing.rating.sigma,
            "matches": standing.matches,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "mean_rank": standing.mean_rank,
            "mean_score": standing.mean_score,
            "points": standing.points,
            "think_p50_us": think.quantile(0.5),
            "think_p99_us": think.quantile(0.99),
            "faults": sum(faults.values()),
            "faults_by_kind": dict(faults),
        }


def played_record(played: StoredMatch) -> MatchRecord:
    """The record of a stored match.

    Raises:
        RecordDamagedError: which match it is, and what is wrong with it.
    """
    try:
        return unseal(played.record)
    except RecordDamagedError as error:
        where = f"block {played.block}, seating {played.seating}"
        raise RecordDamagedError(f"{where}: {error}") from error


def report_of(tournament: StoredTournament, matches: Iterable[StoredMatch]) -> Report:
    """The report of a tournament's stored matches, folded in the order in which they come."""
    report = Report(tournament)
    for played in matches:
        report.add(played_record(played))
    return report
