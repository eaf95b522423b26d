"""What records say: standings, crosstable, seats, faults, think times. A fold over records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from botarena.v1.record_pb2 import MatchRecord

from arena.games import find_game
from arena.match.record import RecordDamagedError, unseal
from arena.match.verdicts import RATED, fault_name, verdict_name
from arena.ratings.fold import TieRule
from arena.ratings.standings import Played, Standing, Standings
from arena.store.stored import StoredMatch, StoredTournament

_NOT_MET = {"share": None, "error": None, "matches": 0}
_SURPRISES = 5
"""Pairs that are named."""

ANCHOR = "house:random"
"""The bot whose rating is 0: it comes with the arena, so ratings compare from one tournament to the next."""


class ThinkTimes:
    """Times of decisions, kept to within 1 % in constant memory."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def add(self, microseconds: int) -> None:
        """Count one."""
        shift = max(0, microseconds.bit_length() - 7)
        self.counts[microseconds >> shift << shift] += 1

    def quantile(self, share: float) -> int | None:
        """The smallest time that this share of the decisions did not exceed, in microseconds."""
        left = share * self.counts.total()
        for time, count in sorted(self.counts.items()):
            left -= count
            if left <= 0:
                return time
        return None


class Report:
    """Adds up records of one game.

    Args:
        game: its name.
        anchor: name of the bot whose rating is 0; without one the mean of all bots is.
        live: whether it is asked for ratings all the time, see `Standings`.

    Attributes:
        matches: number of records added.
        decisions: number of decisions in them.
        void: matches that count for nothing, by verdict.
        standings: what the rated ones add up to.
        think: times of decisions by bot.
        failed: faults by bot and kind.
        decided: decisions that were put to each bot.
    """

    def __init__(self, game: str, anchor: str | None = None, *, live: bool = False) -> None:
        self.matches = 0
        self.decisions = 0
        self.void: Counter[str] = Counter()
        self.standings = Standings(TieRule(find_game(game).ties.value), live=live)
        self._anchor = anchor
        self.think: defaultdict[str, ThinkTimes] = defaultdict(ThinkTimes)
        self.failed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.decided: Counter[str] = Counter()

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
                self.think[names[seat]].add(think)
        for seat, number in own_decisions(record).items():
            self.decided[names[seat]] += number
        for fault in record.faults:
            self.failed[names[fault.seat]][fault_name(fault.kind)] += 1
        self.standings.add(
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
        return {bot: dict(kinds) for bot, kinds in sorted(self.failed.items())}

    def rows(self) -> list[dict[str, Any]]:
        """The leaderboard, best first, as plain data."""
        return [self._row(standing) for standing in self.standings.table(self._anchor)]

    def crosstable(self) -> list[dict[str, Any]]:
        """For each ordered pair of a pool: how sure it is that the one's skill is greater, and the share of
        matches in which it ranked above the other, None if they have not met."""
        from arena.ratings.confidence import probability_better

        fit, cells = self.standings.fit(), self.standings.crosstable()
        better = probability_better(fit)
        return [
            {
                "bot": bot,
                "against": other,
                **(asdict(cells[bot, other]) if (bot, other) in cells else _NOT_MET),
                "better": float(better[row, column]),
            }
            for row, bot in enumerate(fit.bots)
            for column, other in enumerate(fit.bots)
            if row != column and fit.pools[row] == fit.pools[column]
        ]

    def seats(self) -> list[dict[str, Any]]:
        """How each seat fared, with all bots and with each, and its advantage in rating points."""
        fit = self.standings.fit()
        rows = []
        for line in self.standings.seats():
            whole = line.bot is None and line.seats in fit.seats
            rows.append(
                {
                    "seats": line.seats,
                    "seat": line.seat,
                    "bot": line.bot,
                    "matches": line.matches,
                    "points": line.points,
                    "error": line.error,
                    "advantage": float(fit.seats[line.seats][line.seat]) if whole else None,
                    "sigma": float(fit.seat_sigmas[line.seats][line.seat]) if whole else None,
                }
            )
        return rows

    def luck(self) -> dict[str, Any]:
        """How much was luck, and what the repetition of deals took out of it."""
        from arena.ratings.luck import duplicate_factor, luck_index

        results, ties = self.standings.results, self.standings.ties
        duplicates = duplicate_factor(results)
        return {
            "luck_index": luck_index(results, ties, self.standings.fit()),
            "duplicate_factor": duplicates and duplicates.factor,
            "duplicate_error": duplicates and duplicates.error,
        }

    def surprises(self) -> list[dict[str, Any]]:
        """The pairs whose results their ratings tell least: where strength goes in circles."""
        from arena.ratings.residuals import residuals

        return [asdict(pair) for pair in residuals(self.standings.results, self.standings.fit(), _SURPRISES)]

    def partners(self) -> tuple[list[dict[str, Any]], str | None]:
        """Bots that do better or worse when another one sits at their table, flagged ones first; or why
        that cannot be judged."""
        from arena.ratings.partners import partners

        found = partners(self.standings.results, self.standings.fit())
        rows = [asdict(pair) for pair in found.pairs]
        return [{"with" if key == "with_" else key: row[key] for key in row} for row in rows], found.reason

    def _row(self, standing: Standing) -> dict[str, Any]:
        skill = standing.skill
        faults = self.failed.get(skill.bot, Counter())
        think = self.think.get(skill.bot, ThinkTimes())
        return {
            "pool": skill.pool,
            "rank_low": skill.low,
            "rank_high": skill.high,
            "group": skill.group,
            "bot": skill.bot,
            "mu": skill.mu,
            "sigma": skill.sigma,
            "provisional": skill.provisional,
            "expected_share": skill.share,
            "best": skill.first,
            "matches": standing.matches,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "mean_rank": standing.mean_rank,
            "mean_score": standing.mean_score,
            "points": standing.points,
            "decisions": self.decided[skill.bot],
            "think_p50_us": think.quantile(0.5),
            "think_p99_us": think.quantile(0.99),
            "faults": sum(faults.values()),
            "faults_by_kind": dict(sorted(faults.items())),
            "faults_per_1000": {
                kind: 1000 * count / max(1, self.decided[skill.bot]) for kind, count in sorted(faults.items())
            },
        }


def own_decisions(record: MatchRecord) -> Counter[int]:
    """By seat, the number of decisions that were put to its bot: of a stand-in's only that at which the bot
    failed."""
    decided = Counter(record.seats)
    for fault in record.faults:
        if fault.forfeit:
            decided[fault.seat] -= list(record.seats[fault.decision + 1 :]).count(fault.seat)
    return decided


def anchor_of(tournament: StoredTournament) -> str | None:
    """The bot of a tournament whose rating is 0: the first house bot that plays at random."""
    return next((bot.name for bot in tournament.bots if bot.spec.get("reference") == ANCHOR), None)


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
    """The report of a tournament's stored matches."""
    report = Report(tournament.game, anchor_of(tournament))
    for played in matches:
        report.add(played_record(played))
    return report
