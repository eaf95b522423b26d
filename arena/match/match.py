"""One match, without any input or output.

A `Match` is told replies, faults and the time, and says whom to ask what and by when; it never
waits. All times are integers in microseconds of one monotonic clock, given from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from botarena.v1.game_pb2 import GameClaim
from botarena.v1.record_pb2 import FaultKind, MatchRecord, SeatedBot, Verdict

from arena.games.chance import Chance, stand_in_seed
from arena.games.game import IllegalActionError
from arena.match.record import FORMAT, seal
from arena.match.spec import MatchSpec
from arena.match.verdicts import FAULTS, Kind, final_ranks

MAX_DETAIL = 4096


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a seat.

    Attributes:
        seat: who is asked.
        sent_us: when, on the match's clock.
        limit_us: how long the answer may take.
    """

    seat: int
    sent_us: int
    limit_us: int


class EngineLoopError(RuntimeError):
    """The rules did not end a match within their own bound."""


class Match:
    """One match from its deal to its record."""

    __slots__ = (
        "_actions",
        "_bank",
        "_bound",
        "_details",
        "_events",
        "_faults",
        "_forfeits",
        "_moves",
        "_open",
        "_record",
        "_seen",
        "_spoken",
        "_stand_ins",
        "_start_us",
        "_state",
        "_think",
        "done",
        "spec",
    )

    def __init__(self, spec: MatchSpec) -> None:
        self.spec = spec
        self.done = False
        self._state: Any = None
        self._events: list[tuple[tuple[int, ...] | None, bytes]] = []
        self._seen = [0] * len(spec.bots)
        self._actions: dict[int, Sequence[Any]] = {}
        self._moves: dict[int, int] = {}
        self._spoken: dict[int, Any] = {}
        self._think: dict[int, int] = {}
        self._open: dict[int, Ask] = {}
        self._bank = [spec.bank_us] * len(spec.bots)
        self._faults = [0] * len(spec.bots)
        self._forfeits: dict[int, Kind] = {}
        self._details: list[str] = []
        self._stand_ins: dict[int, Chance] = {}
        self._start_us = 0
        self._bound = 0
        self._record = MatchRecord(
            format=FORMAT,
            game=spec.game.name,
            game_version=spec.game.version,
            deal=spec.deal,
            seed=spec.seed,
            seating=spec.seating,
            bots=[SeatedBot(name=name, version=version) for name, version in spec.bots],
            time=spec.time_message(),
            faults_allowed=spec.faults_allowed,
            options=spec.options_message(),
        )

    # what happens to it

    def start(self, now: int, unix_us: int = 0) -> list[Ask]:
        """Deal and begin.

        Args:
            now: the time.
            unix_us: the time of day, for the record.

        Returns:
            The first questions.
        """
        self._start_us = now
        self._record.circumstances.started_us = unix_us
        try:
            game, seats = self.spec.game, len(self.spec.bots)
            self._bound = game.decision_bound(seats, self.spec.options)
            chance = Chance(self.spec.seed)
            deal = game.deal(seats, self.spec.options, chance)
            self._state, events = game.start(seats, self.spec.options, deal, chance)
            self._note(events)
        except Exception as error:
            return self._void(error, now)
        return self._go_on(now)

    def reply(
        self, seat: int, action: int | None, now: int, since: int = 0, claim: GameClaim | None = None
    ) -> list[Ask]:
        """A seat answered.

        Args:
            action: index into its actions; None if it named none.
            now: the time.
            since: when the bot was last free to begin with this question, if later than its sending.
            claim: table talk that goes with the action.

        Returns:
            The next questions.
        """
        if action is None or not 0 <= action < len(self._actions[seat]):
            given = "no action" if action is None else f"action {action}"
            count = len(self._actions[seat])
            detail = f"{given} of {count}: an index from 0 to {count - 1} is legal"
            return self.fault(seat, FaultKind.FAULT_KIND_ILLEGAL_ACTION, now, detail, since)
        if claim is not None:
            try:
                spoken = self.spec.game.with_claim(self._state, seat, self._actions[seat][action], claim)
            except IllegalActionError as error:
                return self.fault(seat, FaultKind.FAULT_KIND_ILLEGAL_ACTION, now, str(error), since)
            except Exception as error:
                return self._void(error, now)
            self._spoken[seat] = spoken
        self._charge(seat, now, since)
        self._moves[seat] = action
        return self._go_on(now)

    def expire(self, seat: int, now: int, since: int = 0) -> list[Ask]:
        """A seat did not answer in time."""
        limit = self._open[seat].limit_us
        of_what = "decision" if limit == self.spec.move_us else "match"
        detail = f"no reply within {limit / 1000:g} ms: the time for the {of_what} is used up"
        return self.fault(seat, FaultKind.FAULT_KIND_TIMEOUT, now, detail, since)

    def fault(self, seat: int, kind: Kind, now: int, detail: str = "", since: int = 0) -> list[Ask]:
        """A seat committed a fault: it is forfeited, or the stand-in answers this one decision.

        Args:
            kind: what it did.
            now: the time.
            detail: what its author should know about it.
            since: as for `reply`.

        Returns:
            The next questions.
        """
        if self.done or seat in self._forfeits:
            return []
        self._faults[seat] += 1
        forfeit = not FAULTS[kind].tolerable or self._faults[seat] > self.spec.faults_allowed
        if forfeit:
            self._forfeits[seat] = kind
        self._record.faults.add(seat=seat, decision=self._position(seat), kind=kind, forfeit=forfeit)
        self._details.append(detail[:MAX_DETAIL])
        if seat in self._open:
            self._charge(seat, now, since)
            self._moves[seat] = self._stand_in(seat)
        return self._go_on(now)

    # what it shows

    def legal(self, seat: int) -> int:
        """Number of legal actions of a seat that owes an answer."""
        return len(self._actions[seat])

    def forfeit_of(self, seat: int) -> Kind | None:
        """The fault by which a seat was forfeited."""
        return self._forfeits.get(seat)

    def turn_bytes(self, seat: int) -> bytes:
        """What a seat is shown now, with the events that it has not been shown yet: a GameTurn."""
        events = [
            piece
            for audience, piece in self._events[self._seen[seat] :]
            if audience is None or seat in audience
        ]
        self._seen[seat] = len(self._events)
        actions = self._actions[seat] if seat in self._open else ()
        return self.spec.game.turn_bytes(self._state, seat, actions, events)

    @property
    def ranks(self) -> Sequence[int]:
        """Ranks by seat once the match is done; empty if it is void."""
        return self._record.ranks

    @property
    def scores(self) -> Sequence[int]:
        """Scores by seat once the match is done."""
        return self._record.scores

    @property
    def void(self) -> bool:
        """Whether the rules failed, so that nothing about the end can be shown."""
        return self._record.verdict == Verdict.VERDICT_ENGINE_FAULT

    def record(self, worker: int = 0) -> bytes:
        """The stored form of its record, once it is done."""
        self._record.circumstances.worker = worker
        return seal(self._record)

    # how it goes on

    def _go_on(self, now: int) -> list[Ask]:
        if self._open:
            return []
        try:
            return self._play(now)
        except Exception as error:
            return self._void(error, now)

    def _play(self, now: int) -> list[Ask]:
        """Let the rules run until a bot must be asked or the match is over."""
        game = self.spec.game
        if self._moves:
            self._apply()
        while movers := game.to_move(self._state):
            if len(self._record.seats) + len(movers) > self._bound:
                raise EngineLoopError(f"no end after {self._bound} decisions")
            asks = self._ask(movers, now)
            if asks:
                return asks
            self._apply()
        self._finish(now)
        return []

    def _ask(self, movers: Sequence[int], now: int) -> list[Ask]:
        asks = []
        for seat in movers:
            self._actions[seat] = self.spec.game.actions(self._state, seat)
            if seat in self._forfeits:
                self._moves[seat] = self._stand_in(seat)
            else:
                self._open[seat] = ask = Ask(seat, now, min(self.spec.move_us, self._bank[seat]))
                asks.append(ask)
        return asks

    def _apply(self) -> None:
        """All answers of a decision are in: they take effect together."""
        seats = sorted(self._moves)
        moves = {seat: self._actions[seat][self._moves[seat]] for seat in seats}
        moves.update(self._spoken)
        for seat in seats:
            claim = self.spec.game.claim_of(moves[seat]) if seat in self._spoken else None
            if claim is not None:
                self._record.claims.add(decision=len(self._record.seats), claim=claim)
            self._record.seats.append(seat)
            self._record.actions.append(self._moves[seat])
            self._record.circumstances.think_us.append(self._think.get(seat, 0))
        self._moves.clear()
        self._spoken.clear()
        self._think.clear()
        self._actions.clear()
        self._note(self.spec.game.apply(self._state, moves))

    def _note(self, events: Sequence[Any]) -> None:
        game = self.spec.game
        self._events.extend((game.audience(event), game.event_bytes(event)) for event in events)

    def _position(self, seat: int) -> int:
        """Index in the record of the first decision that a stand-in answers if a seat fails now.

        A simultaneous decision is recorded by seat, so that no order of arrival is kept.
        """
        played = len(self._record.seats)
        if seat in self._moves:  # its answer is in already and stands
            return played + len(self._actions)
        return played + sum(other < seat for other in self._actions)

    def _charge(self, seat: int, now: int, since: int) -> None:
        ask = self._open.pop(seat)
        spent = max(0, now - max(since, ask.sent_us))
        self._think[seat] = min(spent, 0xFFFFFFFF)
        self._bank[seat] = max(0, self._bank[seat] - spent)

    def _stand_in(self, seat: int) -> int:
        """Index of a uniformly random legal action, from a chance stream of the seat's own."""
        if seat not in self._stand_ins:
            self._stand_ins[seat] = Chance(stand_in_seed(self.spec.seed, seat))
        return self._stand_ins[seat].below(len(self._actions[seat]))

    def _finish(self, now: int) -> None:
        outcome = self.spec.game.outcome(self._state)
        record = self._record
        record.verdict = Verdict.VERDICT_BOT_FAULT if self._forfeits else Verdict.VERDICT_PLAYED
        record.scores.extend(outcome.scores)
        record.ranks.extend(final_ranks(outcome.ranks, frozenset(self._forfeits)))
        self._close(now)

    def _void(self, error: Exception, now: int) -> list[Ask]:
        """Our own rules failed: nobody is to blame, and the record up to here reproduces it."""
        self._open.clear()
        self._record.verdict = Verdict.VERDICT_ENGINE_FAULT
        self._record.engine_error = f"{type(error).__name__}: {error}"
        self._close(now)
        return []

    def _close(self, now: int) -> None:
        record = self._record
        order = sorted(
            range(len(record.faults)), key=lambda i: (record.faults[i].decision, record.faults[i].seat)
        )
        faults = [record.faults[i] for i in order]
        record.circumstances.fault_details.extend(self._details[i] for i in order)
        record.ClearField("faults")
        record.faults.extend(faults)
        record.circumstances.length_us = now - self._start_us
        self.done = True
