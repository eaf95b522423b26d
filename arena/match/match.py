"""One match, without any input or output.

A `Match` is told replies, faults and the time, and says whom to ask what and by when; it never
waits. All times are integers in microseconds of one monotonic clock, given from outside.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from botarena.v1.game_pb2 import GameClaim
from botarena.v1.record_pb2 import (
    Circumstances,
    Claim,
    Evidence,
    Fault,
    FaultKind,
    MatchRecord,
    SeatedBot,
    Verdict,
)

from arena.games.chance import Chance, stand_in_seed
from arena.games.game import IllegalActionError, NoPrivateEvents, Outcome
from arena.match.evidence import MOST_DETAIL, as_text
from arena.match.record import FORMAT, seal
from arena.match.spec import MatchSpec
from arena.match.verdicts import FAULTS, Kind, final_ranks

_MOST_US = 0xFFFFFFFF


@dataclass(slots=True)
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


class _Committed(NamedTuple):
    """A fault.

    Attributes:
        decision: the first that a stand-in may answer because of it.
    """

    decision: int
    seat: int
    kind: Kind
    forfeit: bool
    detail: str
    evidence: Evidence


class _Spoken(NamedTuple):
    """A claim that goes with an answer.

    Attributes:
        claim: as the bot sent it.
        action: the action with it, or why the rules failed to make it.
    """

    claim: GameClaim
    action: Any


class Match:
    """One match from its deal to its record.

    What it keeps while it is played is small and flat: thousands may be in play. The record is made
    of it at the end.

    Attributes:
        failure: the error with which our own rules failed; None as long as they do not.
        ranks: by seat once it is done, after forfeits; empty if it is void.
        verdict: how it went; None until it is done.
    """

    __slots__ = (
        "_actions",
        "_answers",
        "_bank",
        "_bound",
        "_chosen",
        "_claims",
        "_end_us",
        "_engine_error",
        "_faults",
        "_forfeits",
        "_open",
        "_outcome",
        "_pieces",
        "_private",
        "_seats",
        "_seen",
        "_spoken",
        "_stand_ins",
        "_start_us",
        "_state",
        "_think_us",
        "_unix_us",
        "failure",
        "ranks",
        "spec",
        "verdict",
    )

    def __init__(self, spec: MatchSpec) -> None:
        seats = len(spec.bots)
        self.spec = spec
        self.verdict: Verdict.ValueType | None = None
        self.ranks: Sequence[int] = ()
        self._outcome: Outcome | None = None
        self.failure: Exception | None = None
        self._state: Any = None
        # What happened, as pieces of turns; of those that not everybody sees, place and audience.
        self._pieces: list[bytes] = []
        self._private: list[tuple[int, tuple[int, ...]]] = []
        self._seen = [0] * seats
        # The decision at hand: by seat its actions, what is still asked, and what was answered.
        self._actions: dict[int, Sequence[Any]] = {}
        self._open: dict[int, Ask] = {}
        self._answers: dict[int, tuple[int, int]] = {}
        self._spoken: dict[int, _Spoken] = {}
        # All decisions so far: seat, index of the action, time.
        self._seats = bytearray()
        self._chosen = array("I")
        self._think_us = array("I")
        self._claims: list[Claim] = []
        self._bank = [spec.bank_us] * seats
        self._faults: list[_Committed] = []
        self._forfeits: dict[int, Kind] = {}
        self._stand_ins: dict[int, Chance] = {}
        self._start_us = self._end_us = self._unix_us = 0
        self._bound = 0

    # what happens to it

    def start(self, now: int, unix_us: int = 0) -> list[Ask]:
        """Deal and begin.

        Args:
            now: the time.
            unix_us: the time of day, for the record.

        Returns:
            The first questions.
        """
        self._start_us, self._unix_us = now, unix_us
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
        count = len(self._actions[seat])
        if action is None or not 0 <= action < count:
            given = "no action" if action is None else f"action {action}"
            detail = f"{given} of {count}: an index from 0 to {count - 1} is legal"
            return self.fault(seat, FaultKind.FAULT_KIND_ILLEGAL_ACTION, now, detail, since)
        if claim is not None:
            try:
                spoken = self.spec.game.with_claim(self._state, seat, self._actions[seat][action], claim)
            except IllegalActionError as error:
                return self.fault(seat, FaultKind.FAULT_KIND_ILLEGAL_ACTION, now, str(error), since)
            except Exception as error:
                # It waits for the other answers, like a claim: so the record has the whole decision.
                spoken = error
            self._spoken[seat] = _Spoken(claim, spoken)
        self._answers[seat] = (action, self._charge(seat, now, since))
        return self._go_on(now)

    def expire(self, seat: int, now: int, since: int = 0) -> list[Ask]:
        """A seat did not answer in time."""
        limit = self._open[seat].limit_us
        of_what = "decision" if limit == self.spec.move_us else "match"
        detail = f"no reply within {limit / 1000:g} ms: the time for the {of_what} is used up"
        return self.fault(seat, FaultKind.FAULT_KIND_TIMEOUT, now, detail, since)

    def fault(
        self,
        seat: int,
        kind: Kind,
        now: int,
        detail: str = "",
        since: int = 0,
        evidence: Evidence | None = None,
        gone: bool = False,
    ) -> list[Ask]:
        """A seat committed a fault: it is forfeited, or the stand-in answers this one decision.

        All faults are ruled here. A fault after which no stand-in has to answer anything is none: the
        bot had played its match.

        Args:
            kind: what it did.
            now: the time.
            detail: what its author should know about it.
            since: as for `reply`.
            evidence: how it came about; the time is added.
            gone: whether the bot can answer nothing any more, so that nothing can be tolerated.

        Returns:
            The next questions.
        """
        if self.done or seat in self._forfeits:
            return []
        count = 1 + sum(fault.seat == seat for fault in self._faults)
        tolerated = FAULTS[kind].tolerable and seat in self._open and count <= self.spec.faults_allowed
        if gone or not tolerated:
            self._forfeits[seat] = kind
        known = Evidence(at_us=self._unix_us + now - self._start_us)
        if evidence is not None:
            known.MergeFrom(evidence)
        text = as_text(detail)[:MOST_DETAIL]
        self._faults.append(_Committed(self._position(seat), seat, kind, gone or not tolerated, text, known))
        if seat in self._open:
            self._answers[seat] = (self._stand_in(seat), self._charge(seat, now, since))
        return self._go_on(now)

    # what it shows

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self.verdict is not None

    def legal(self, seat: int) -> int:
        """Number of legal actions of a seat that owes an answer."""
        return len(self._actions[seat])

    def forfeit_of(self, seat: int) -> Kind | None:
        """The fault by which a seat was forfeited."""
        return self._forfeits.get(seat)

    def turn_bytes(self, seat: int) -> bytes:
        """What a seat is shown now, with the events that it has not been shown yet: a GameTurn.

        If the rules fail to show it, the match is void from then on.
        """
        seen, pieces = self._seen[seat], self._pieces
        new = pieces[seen:]
        if self._private:
            hidden = {at for at, audience in self._private if at >= seen and seat not in audience}
            if hidden:
                new = [piece for at, piece in enumerate(new, seen) if at not in hidden]
        self._seen[seat] = len(pieces)
        ask = self._open.get(seat)
        actions = self._actions[seat] if ask is not None else ()
        try:
            return self.spec.game.turn_bytes(self._state, seat, actions, new)
        except Exception as error:
            self._void(error, self._end_us if ask is None else ask.sent_us)
            return b""

    @property
    def scores(self) -> Sequence[int]:
        """Scores by seat once the match is done."""
        return self._outcome.scores if self._outcome is not None else ()

    @property
    def void(self) -> bool:
        """Whether the rules failed, so that nothing about the end can be shown."""
        return self.verdict == Verdict.VERDICT_ENGINE_FAULT

    def record(self, worker: int = 0) -> bytes:
        """The stored form of its record, once it is done."""
        spec, faults = self.spec, self._faults
        return seal(
            MatchRecord(
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
                seats=self._seats,
                actions=self._chosen,
                faults=[
                    Fault(seat=f.seat, decision=f.decision, kind=f.kind, forfeit=f.forfeit) for f in faults
                ],
                verdict=self.verdict or Verdict.VERDICT_UNSPECIFIED,
                scores=self.scores,
                ranks=self.ranks,
                engine_error=error_text(self.failure),
                claims=self._claims,
                circumstances=Circumstances(
                    started_us=self._unix_us,
                    length_us=self._end_us - self._start_us,
                    think_us=self._think_us,
                    fault_details=[fault.detail for fault in faults],
                    evidence=[fault.evidence for fault in faults],
                    worker=worker,
                ),
            )
        )

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
        if self._answers:
            self._apply()
        while movers := game.to_move(self._state):
            if len(self._seats) + len(movers) > self._bound:
                raise EngineLoopError(f"no end after {self._bound} decisions")
            asks = self._ask(movers, now)
            if asks:
                return asks
            self._apply()
        self._finish(now)
        return []

    def _ask(self, movers: Sequence[int], now: int) -> list[Ask]:
        asks = []
        spec = self.spec
        for seat in movers:
            self._actions[seat] = spec.game.actions(self._state, seat)
            if seat in self._forfeits:
                self._answers[seat] = (self._stand_in(seat), 0)
            else:
                bank = self._bank[seat]
                self._open[seat] = ask = Ask(seat, now, bank if bank < spec.move_us else spec.move_us)
                asks.append(ask)
        return asks

    def _apply(self) -> None:
        """All answers of a decision are in: they take effect together."""
        answers, actions = self._answers, self._actions
        moves = {}
        for seat in sorted(answers) if len(answers) > 1 else answers:
            index, think = answers[seat]
            moves[seat] = actions[seat][index]
            if seat in self._spoken:
                moves[seat] = self._say(self._spoken[seat])
            self._seats.append(seat)
            self._chosen.append(index)
            self._think_us.append(think)
        answers.clear()
        actions.clear()
        if self._spoken:
            self._raise_failed_claims()
        self._note(self.spec.game.apply(self._state, moves))

    def _say(self, spoken: _Spoken) -> Any:
        """Note the claim of an action that is about to be recorded, as the rules have it if they can."""
        claim: GameClaim | None = spoken.claim
        if not isinstance(spoken.action, Exception):
            claim = self.spec.game.claim_of(spoken.action)
        if claim is not None:
            self._claims.append(Claim(decision=len(self._seats), claim=claim))
        return spoken.action

    def _raise_failed_claims(self) -> None:
        """Fail now if the rules failed on a claim, by seat and not by arrival."""
        spoken = [self._spoken[seat].action for seat in sorted(self._spoken)]
        self._spoken.clear()
        for action in spoken:
            if isinstance(action, Exception):
                raise action

    def _note(self, events: Sequence[Any]) -> None:
        game, pieces = self.spec.game, self._pieces
        if not isinstance(game, NoPrivateEvents):
            for at, audience in enumerate(map(game.audience, events), len(pieces)):
                if audience is not None:
                    self._private.append((at, audience))
        pieces += map(game.event_bytes, events)

    def _position(self, seat: int) -> int:
        """Index in the record of the first decision that a stand-in may answer if a seat fails now.

        A simultaneous decision is recorded by seat, so that no order of arrival is kept.
        """
        played = len(self._seats)
        if seat in self._answers:  # its answer is in already and stands
            return played + len(self._actions)
        return played + sum(other < seat for other in self._actions)

    def _charge(self, seat: int, now: int, since: int) -> int:
        """Take the time of a decision off the bank; the time, as it is recorded."""
        sent = self._open.pop(seat).sent_us
        spent = now - (sent if sent > since else since)
        if spent <= 0:
            return 0
        self._bank[seat] = max(0, self._bank[seat] - spent)
        return min(spent, _MOST_US)

    def _stand_in(self, seat: int) -> int:
        """Index of a uniformly random legal action, from a chance stream of the seat's own."""
        if seat not in self._stand_ins:
            self._stand_ins[seat] = Chance(stand_in_seed(self.spec.seed, seat))
        return self._stand_ins[seat].below(len(self._actions[seat]))

    def _settle_faults(self) -> None:
        """Say for each fault the decision that a stand-in answered first because of it, and forget those
        that changed none. A bot that fails between two decisions may be noticed before or after others
        answer, and which it was leaves no trace."""
        settled = []
        for fault in self._faults:
            decision = self._seats.find(fault.seat, fault.decision)
            if decision >= 0:
                settled.append(fault._replace(decision=decision))
            elif fault.forfeit:
                del self._forfeits[fault.seat]
        self._faults = sorted(settled, key=lambda fault: (fault.decision, fault.seat))

    def _finish(self, now: int) -> None:
        self._settle_faults()
        outcome = self.spec.game.outcome(self._state)
        ranks = final_ranks(outcome.ranks, frozenset(self._forfeits))
        MatchRecord(scores=outcome.scores, ranks=ranks)  # what no record can hold, the rules got wrong
        self._outcome, self.ranks = outcome, ranks
        self.verdict = Verdict.VERDICT_BOT_FAULT if self._forfeits else Verdict.VERDICT_PLAYED
        self._end_us = now

    def _void(self, error: Exception, now: int) -> list[Ask]:
        """Our own rules failed: nobody is to blame, and the record up to here reproduces it."""
        self._settle_faults()
        self._open.clear()
        self.verdict = Verdict.VERDICT_ENGINE_FAULT
        self.failure, self._outcome, self.ranks = error, None, ()
        self._end_us = now
        return []


def error_text(error: Exception | None) -> str:
    """What the rules said when they failed, as a record has it; "" if they did not."""
    return "" if error is None else as_text(f"{type(error).__name__}: {error}")[:MOST_DETAIL]
