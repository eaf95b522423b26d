"""Replay a record from its seed, and verify that it is what the rules, the faults and the stand-ins give.

A record of a match in which our own rules failed is a reproducer: what it holds makes them fail again.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botarena.v1.game_pb2 import GameClaim
from botarena.v1.record_pb2 import MatchRecord, Verdict

from arena.games.chance import Chance, stand_in_seed
from arena.games.game import AnyGame, GameError
from arena.match.match import Match, error_text
from arena.match.spec import MatchSpec, spec_of
from arena.match.verdicts import final_ranks


class VerificationError(ValueError):
    """A record does not replay; the message says what differs first."""


class RulesFailedError(VerificationError):
    """Our own rules failed on a record.

    Attributes:
        failure: how.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"the rules failed: {failure}")
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Failure:
    """How our own rules failed.

    Attributes:
        error: what they said, as a record has it.
        file: where it was raised.
        line: in the file.
    """

    error: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.error} ({self.file}, line {self.line})"


@dataclass(slots=True)
class Step:
    """A moment of a replay.

    Attributes:
        decision: index in the record of the first decision taken here; number of decisions at the end.
        state: the game's state before the moves; do not change it.
        events: what happened since the step before.
        moves: by seat the action that is taken now; empty at the end.
    """

    decision: int
    state: Any
    events: list[Any]
    moves: Mapping[int, Any]


def replay(record: MatchRecord) -> Iterator[Step]:
    """Deal again and play the recorded actions: a step before each decision and one at the end.

    Raises:
        VerificationError: the record's actions are not possible in this match.
        RulesFailedError: our own rules fail, which is the end of a match that is void because of it.
        GameError: its game or options are not known here.
    """
    spec = spec_of(record)
    if record.game_version != spec.game.version:
        raise VerificationError(
            f"it was played by version {record.game_version} of the rules, and this is {spec.game.version}"
        )
    with rules_at_work(record):
        yield from _steps(spec, record)


@contextmanager
def rules_at_work(record: MatchRecord) -> Iterator[None]:
    """Run rules on what a record holds: an error of theirs leaves the block as one of a record.

    Raises:
        VerificationError: the rules refuse what is in the record.
        RulesFailedError: the rules failed.
    """
    try:
        yield
    except VerificationError:
        raise
    except Exception as error:
        # In a void match there is nothing but what the rules took: refusing it is how they fail.
        if isinstance(error, GameError) and record.verdict != Verdict.VERDICT_ENGINE_FAULT:
            raise VerificationError(f"the rules refuse it: {error}") from error
        raise RulesFailedError(_failure(error, spec_of(record).game)) from error


def failure_of(record: MatchRecord) -> Failure | None:
    """How the rules fail in a match like the one that a record tells of; None if they do not.

    Args:
        record: it replays, at least up to where the rules fail.

    Raises:
        GameError: its game or options are not known here.
    """
    match = Match(spec_of(record))
    asks, claims, stand_ins = match.start(0), _claims(record), _stand_in_draws(record)
    played = 0
    while asks and played < len(record.actions):
        following = []
        for position, ask in enumerate(asks, played):
            if position not in stand_ins:
                match.turn_bytes(ask.seat)
            if not match.void:
                following += match.reply(ask.seat, record.actions[position], 0, claim=claims.get(position))
        played, asks = played + len(asks), following
    for seat in range(len(record.bots)):
        if not match.void:
            match.turn_bytes(seat)
    return None if match.failure is None else _failure(match.failure, match.spec.game)


def _failure(error: Exception, game: AnyGame) -> Failure:
    """What to tell of an error: its place is the last one in the game's own folder, if there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    folder = Path(inspect.getfile(type(game))).parent
    own = [frame for frame in frames if folder in Path(frame.filename).parents]
    place = (own or frames)[-1]
    return Failure(error_text(error), place.filename, place.lineno or 0)


def _steps(spec: MatchSpec, record: MatchRecord) -> Iterator[Step]:
    game, seats = spec.game, len(spec.bots)
    chance = Chance(spec.seed)
    deal = game.deal(seats, spec.options, chance)
    state, happened = game.start(seats, spec.options, deal, chance)
    claims = _claims(record)
    events, position = list(happened), 0
    while movers := game.to_move(state):
        if position == len(record.seats) and record.verdict == Verdict.VERDICT_ENGINE_FAULT:
            break
        moves = {
            seat: _recorded(spec, record, claims, state, position + i, seat)
            for i, seat in enumerate(sorted(movers))
        }
        yield Step(position, state, events, moves)
        events = list(game.apply(state, moves))
        position += len(moves)
    yield Step(position, state, events, {})


def _claims(record: MatchRecord) -> dict[int, GameClaim]:
    """The claim of each decision that has one."""
    decisions = [claim.decision for claim in record.claims]
    if decisions != sorted(set(decisions)) or (decisions and decisions[-1] >= len(record.seats)):
        raise VerificationError(f"its claims are at decisions {decisions}, out of order or after its end")
    return {claim.decision: claim.claim for claim in record.claims}


def _recorded(
    spec: MatchSpec,
    record: MatchRecord,
    claims: Mapping[int, GameClaim],
    state: Any,
    position: int,
    seat: int,
) -> Any:
    """The action that the record has for a seat that is to move."""
    if position >= len(record.seats) or position >= len(record.actions):
        raise VerificationError(f"it ends at decision {position}, and the match does not")
    if record.seats[position] != seat:
        raise VerificationError(
            f"decision {position} is by seat {record.seats[position]}, and seat {seat} was to move"
        )
    actions = spec.game.actions(state, seat)
    index = record.actions[position]
    if index >= len(actions):
        raise VerificationError(f"decision {position} is action {index} of {len(actions)}")
    if position not in claims:
        return actions[index]
    action = spec.game.with_claim(state, seat, actions[index], claims[position])
    if spec.game.claim_of(action) != claims[position]:
        raise VerificationError(f"the claim of decision {position} is not in the form that is recorded")
    return action


def verify(record: MatchRecord) -> None:
    """Prove a record: its actions replay, its stand-ins drew as they must, its result is the rules'.

    If the match is void because our own rules failed, they must fail again.

    Raises:
        VerificationError: what differs first.
        GameError: its game or options are not known here.
    """
    if record.verdict == Verdict.VERDICT_ENGINE_FAULT:
        _verify_failure(record)
        return
    stand_ins = _StandIns(record)
    last = None
    for last in replay(record):
        stand_ins.check(last)
    assert last is not None  # a replay has an end, whatever happens before it
    if last.decision != len(record.seats) or len(record.seats) != len(record.actions):
        raise VerificationError(f"the match ends after decision {last.decision}, and the record does not")
    _check_result(record, last.state)


def _verify_failure(record: MatchRecord) -> None:
    stand_ins = _StandIns(record)
    try:
        for step in replay(record):
            stand_ins.check(step)
    except RulesFailedError:
        pass  # which failure it is, is asked below
    if record.scores or record.ranks:
        raise VerificationError("it has a result, and is void")
    failure = failure_of(record)
    if failure is None:
        raise VerificationError(f"the rules do not fail any more: it has {record.engine_error}")
    if failure.error != record.engine_error:
        raise VerificationError(f"the rules fail with {failure}: it has {record.engine_error}")


def _check_result(record: MatchRecord, state: Any) -> None:
    outcome = spec_of(record).game.outcome(state)
    forfeited = frozenset(fault.seat for fault in record.faults if fault.forfeit)
    verdict = Verdict.VERDICT_BOT_FAULT if forfeited else Verdict.VERDICT_PLAYED
    found = (tuple(record.scores), tuple(record.ranks), record.verdict)
    right = (outcome.scores, final_ranks(outcome.ranks, forfeited), verdict)
    for name, is_, ought in zip(("scores", "ranks", "verdict"), found, right, strict=True):
        if is_ != ought:
            raise VerificationError(f"its {name} are {is_}, and the rules give {ought}")


class _StandIns:
    """The stand-ins of a match: each must draw what its own chance stream gives."""

    def __init__(self, record: MatchRecord) -> None:
        self._game = spec_of(record).game
        self._seed = record.seed
        self._draws = _stand_in_draws(record)
        self._streams: dict[int, Chance] = {}

    def check(self, step: Step) -> None:
        """Check the moves of a step that stand-ins made."""
        for position, (seat, action) in enumerate(step.moves.items(), step.decision):
            if position not in self._draws:
                continue
            if seat not in self._streams:
                self._streams[seat] = Chance(stand_in_seed(self._seed, seat))
            actions = self._game.actions(step.state, seat)
            if actions[self._streams[seat].below(len(actions))] != action:
                raise VerificationError(f"decision {position} is not what seat {seat}'s stand-in draws")


def _stand_in_draws(record: MatchRecord) -> set[int]:
    """Positions of the decisions that stand-ins answered; also checks that the faults are in order."""
    draws: set[int] = set()
    counts: dict[int, int] = {}
    gone: set[int] = set()
    for fault in record.faults:
        counts[fault.seat] = counts.get(fault.seat, 0) + 1
        if fault.seat in gone or fault.seat >= len(record.bots):
            raise VerificationError(f"seat {fault.seat} has a fault after its forfeit, or is no seat")
        if fault.forfeit:
            gone.add(fault.seat)
            later = range(fault.decision, len(record.seats))
            draws.update(at for at in later if record.seats[at] == fault.seat)
        elif counts[fault.seat] > record.faults_allowed:
            raise VerificationError(f"seat {fault.seat} committed more faults than were allowed")
        else:
            draws.add(fault.decision)
    return draws
