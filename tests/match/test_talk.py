"""Table talk on its way: from a bot's reply into the rules, the others' turns, the record and its proof."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from botarena import Bot, Say, Turn
from botarena.bot import Choice
from botarena.table import Table
from botarena.v1 import bot_pb2
from botarena.v1.bot_pb2 import Decision, FromArena, FromBot, Reply
from botarena.v1.game_pb2 import GameClaim, GameTurn
from botarena.v1.kamozza_pb2 import KamozzaClaim, KamozzaPort
from botarena.v1.record_pb2 import Claim, FaultKind, MatchRecord, Verdict

from arena.games import find_game
from arena.match.host import Lane, TableHost
from arena.match.match import Match
from arena.match.record import identity, seal, unseal
from arena.match.replay import VerificationError, replay, verify
from arena.match.spec import MatchSpec
from tests.match.fakes import SEED

ILLEGAL = FaultKind.FAULT_KIND_ILLEGAL_ACTION
CLAIM = KamozzaClaim(cards=[20, 1], port=KamozzaPort.KAMOZZA_PORT_B)
TALK = GameClaim(kamozza=CLAIM)
PUBLISHED = KamozzaClaim(cards=[1, 20], port=KamozzaPort.KAMOZZA_PORT_B)


def spec(talk: bool = True, mode: str = "base", faults_allowed: int = 0) -> MatchSpec:
    kamozza = find_game("kamozza")
    return MatchSpec(
        game=kamozza,
        options=kamozza.options({"mode": mode, "table_talk": "true" if talk else "false"}),
        deal=0,
        seed=SEED,
        seating=0,
        bots=(("a", "1"), ("b", "1"), ("c", "1")),
        move_us=1_000_000,
        bank_us=60_000_000,
        faults_allowed=faults_allowed,
    )


def finished(match: Match, asks: list[Any]) -> MatchRecord:
    while asks:
        asks = [ask for at in asks for ask in match.reply(at.seat, 0, 0)]
    return unseal(match.record())


def test_a_claim_reaches_the_others_the_record_and_its_proof() -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    asks = match.reply(ask.seat, 3, 0, claim=TALK)
    view = GameTurn.FromString(match.turn_bytes(asks[0].seat)).kamozza.view
    assert view.players[ask.seat].claim == PUBLISHED
    record = finished(match, asks)
    assert [(claim.decision, claim.claim.kamozza) for claim in record.claims] == [(0, PUBLISHED)]
    assert (record.actions[0], record.verdict) == (3, Verdict.VERDICT_PLAYED)
    verify(record)
    first = next(replay(record))
    assert "saying" in find_game(record.game).action_text(first.moves[ask.seat])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_claims_of_a_simultaneous_decision_are_shown_to_nobody_before_all_are_in(
    order: tuple[int, ...],
) -> None:
    silent, talking = Match(spec(mode="variant")), Match(spec(mode="variant"))
    for match in (silent, talking):
        assert len(match.start(0)) == 3
    for seat in order:
        assert silent.turn_bytes(seat) == talking.turn_bytes(seat)
        silent.reply(seat, 0, 0)
        talking.reply(seat, 0, 0, claim=TALK)
    asks = [ask for seat in order for ask in talking.reply(seat, 0, 0)]
    assert [claim.decision for claim in finished(talking, asks).claims] == [0, 1, 2]


@pytest.mark.parametrize(
    ("talk", "claim", "why"),
    [
        (False, TALK, "no table talk"),
        (True, GameClaim(kamozza=KamozzaClaim(cards=[2])), "different values"),
        (True, GameClaim(kamozza=KamozzaClaim(cards=[1, 1])), "different values"),
        (True, GameClaim(kamozza=KamozzaClaim(port=KamozzaPort.KAMOZZA_PORT_UNSPECIFIED)), "port"),
    ],
)
def test_a_claim_that_is_not_allowed_is_an_illegal_action(talk: bool, claim: GameClaim, why: str) -> None:
    match = Match(spec(talk, faults_allowed=1))
    (ask,) = match.start(0)
    record = finished(match, match.reply(ask.seat, 0, 0, claim=claim))
    assert [(fault.decision, fault.kind) for fault in record.faults] == [(0, ILLEGAL)]
    assert why in record.circumstances.fault_details[0]
    assert not record.claims
    verify(record)


def test_no_claim_is_legal_in_a_game_without_table_talk() -> None:
    koffer = find_game("koffer")
    match = Match(
        MatchSpec(
            game=koffer,
            options=koffer.options({}),
            deal=0,
            seed=SEED,
            seating=0,
            bots=(("a", "1"), ("b", "1")),
            move_us=1,
            bank_us=1,
            faults_allowed=0,
        )
    )
    (ask,) = match.start(0)
    match.reply(ask.seat, 0, 0, claim=GameClaim())
    assert match.forfeit_of(ask.seat) == ILLEGAL


LIES: dict[str, Callable[[MatchRecord], object]] = {
    "a claim not in canonical form": lambda r: r.claims[0].CopyFrom(Claim(decision=0, claim=TALK)),
    "a claim with another decision": lambda r: setattr(r.claims[0], "decision", 3),
    "a claim twice": lambda r: r.claims.append(r.claims[0]),
    "a claim after the end": lambda r: r.claims.add(decision=len(r.seats), claim=TALK),
    "a claim that says nothing": lambda r: r.claims.add(decision=1, claim=GameClaim(kamozza=KamozzaClaim())),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_record_with_impossible_claims_does_not_verify(lie: str) -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    record = finished(match, match.reply(ask.seat, 0, 0, claim=TALK))
    LIES[lie](record)
    with pytest.raises(VerificationError):
        verify(record)


def test_identity_holds_what_was_said() -> None:
    match = Match(spec())
    (ask,) = match.start(0)
    record = finished(match, match.reply(ask.seat, 0, 0, claim=TALK))
    before = identity(seal(record))
    record.claims[0].claim.kamozza.cards[0] = 3
    assert identity(seal(record)) != before


class _Silent:
    """A port that keeps what it is sent."""

    def __init__(self) -> None:
        self.frames: list[FromArena] = []

    def send(self, data: bytes) -> None:
        self.frames.append(FromArena.FromString(data))


async def test_the_host_hands_a_claim_to_the_match() -> None:
    host = TableHost()
    ports = [_Silent() for _ in range(3)]
    lanes = [Lane(name, port, lambda: None) for name, port in zip("abc", ports, strict=True)]
    playing = asyncio.ensure_future(host.play(Match(spec()), lanes))
    talked = 0
    while not playing.done():
        await asyncio.sleep(0)
        for lane, port in zip(lanes, ports, strict=True):
            frames, port.frames = port.frames, []
            for decision in (decision for frame in frames for decision in frame.decisions):
                reply = Reply(decision=decision.id, action=0)
                if decision.turn.kamozza.actions[0].HasField("load"):
                    reply.claim.CopyFrom(TALK)
                    talked += 1
                host.receive(lane, FromBot(replies=[reply]))
    record = unseal(await playing)
    assert len(record.claims) == talked > 3
    assert not record.faults
    verify(record)


# the SDK


class Talker(Bot):
    def choose(self, turn: Turn) -> Choice:
        return Say(turn.actions[1], CLAIM)


def asked(game: str, bot: Callable[[], Bot]) -> FromBot:
    decision = Decision(id=5, match=1, time_left_us=1_000_000)
    getattr(decision.turn, game).actions.add()
    getattr(decision.turn, game).actions.add().SetInParent()
    start = bot_pb2.MatchStart(match=1, game=game, names=["x", "y"], bot_seed=bytes(32))
    whole = FromBot()
    for part in Table(bot).handle(FromArena(starts=[start], decisions=[decision]).SerializeToString()):
        whole.MergeFrom(part)
    return whole


def test_a_bot_says_something_with_its_choice() -> None:
    (reply,) = asked("kamozza", Talker).replies
    assert reply.claim == TALK


def test_talk_in_a_game_that_has_none_is_the_bots_own_error() -> None:
    answer = asked("koffer", Talker)
    assert not answer.replies
    assert "koffer has none" in answer.errors[0].text


def test_a_claim_of_the_wrong_type_is_the_bots_own_error() -> None:
    class Wrong(Bot):
        def choose(self, turn: Turn) -> Choice:
            return Say(0, bot_pb2.Hello())

    assert "Hello" in asked("kamozza", Wrong).errors[0].text
