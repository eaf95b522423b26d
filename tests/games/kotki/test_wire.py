"""Kotki as messages: what a view and an event say, field by field."""

from __future__ import annotations

from random import Random

import pytest
from botarena.v1.game_pb2 import GameTurn
from botarena.v1.kotki_pb2 import (
    KotkiAbility,
    KotkiAction,
    KotkiActionKind,
    KotkiBaitReshuffled,
    KotkiBust,
    KotkiCapturedCat,
    KotkiCat,
    KotkiDrawn,
    KotkiEnded,
    KotkiEvent,
    KotkiLured,
    KotkiNeutralCard,
    KotkiPhase,
    KotkiPillow,
    KotkiPlaced,
    KotkiPlayer,
    KotkiShifted,
    KotkiStarted,
    KotkiStopped,
    KotkiSwapped,
    KotkiTurnStarted,
    KotkiView,
    KotkiYardDiscarded,
)

from arena.games import find_game
from arena.games.chance import Chance
from arena.games.kotki import rules
from arena.games.kotki.rules import Action, Event, Options
from tests.games.kotki.positions import (
    REVEAL,
    SEED,
    bait,
    baits,
    deal_of,
    draw,
    legal,
    lure,
    place,
    play,
    position,
    swap,
    yard,
)

KOTKI = find_game("kotki")
CAT_7 = KotkiCat(number=7, cost=2, points=1, ability=KotkiAbility.KOTKI_ABILITY_SUBSTITUTE, shows=24)
CAT_28 = KotkiCat(number=28, cost=25, points=4, ability=KotkiAbility.KOTKI_ABILITY_SHIFT_RIGHT)


def test_a_view_field_by_field() -> None:
    state = position(
        "F|L+M - P",
        "-|- - -",
        "M|- - -",
        seats=2,
        start_seat=1,
        round=3,
        yard="28 0 7 0",
        cat_stack="17",
        cats={0: "5 2"},
        used="2",
        locked=(2,),
        stack="D Y F+L+M",
        rest="discard",
        options=Options(15, 50),
    )
    state.bait_discard = bytes(baits("D D"))
    state.cats, state.cat_discard = bytes((17, 9)), 1 << 3 | 1 << 8
    play(state, REVEAL)
    assert KOTKI.view(state, None) == KotkiView(
        pillows=[
            KotkiPillow(seat=0, fields=[1, 6, 0, 16]),
            KotkiPillow(fields=[0] * 4),
            KotkiPillow(seat=1, locked=True, fields=[4, 0, 0, 0]),
            KotkiPillow(fields=[0] * 4),
        ],
        players=[
            KotkiPlayer(
                pillow=0,
                points=2,
                cats=[
                    KotkiCapturedCat(
                        cat=KotkiCat(number=5, cost=16, points=1, ability=KotkiAbility.KOTKI_ABILITY_DRAW_1)
                    ),
                    KotkiCapturedCat(
                        cat=KotkiCat(number=2, cost=2, points=1, ability=KotkiAbility.KOTKI_ABILITY_YARD_2),
                        used=True,
                    ),
                ],
            ),
            KotkiPlayer(pillow=2),
        ],
        yard=[CAT_28, KotkiCat(), CAT_7, KotkiCat()],
        bait_stack=[7],
        bait_discard=[32, 32, 32],
        cat_stack=[9, 17],
        cat_discard=[3, 8],
        collected=[8],
        phase=KotkiPhase.KOTKI_PHASE_REVEALING,
        drawn_from=KotkiPhase.KOTKI_PHASE_START,
        start_seat=1,
        round=3,
        top_cat_points=2,
        target=15,
        max_rounds=50,
    )


def test_what_a_view_says_in_the_middle_of_a_turn() -> None:
    state = position("F|- - -", "L|- - -", "M|- - -", "-|- - -", cats={0: "5"}, stack="F L M Y", turn=0)
    play(state, swap(2), swap(1), REVEAL, draw(5))
    view = KOTKI.view(state, 3)
    assert (list(view.collected), list(view.drawn), list(view.swapped)) == ([1], [2], [1, 2])
    assert (view.phase, view.drawn_from) == (
        KotkiPhase.KOTKI_PHASE_DRAWN,
        KotkiPhase.KOTKI_PHASE_REVEALING,
    )
    play(state, legal(state)[0], REVEAL, Action(rules.STOP), place("F", 3))
    view = KOTKI.view(state, 3)
    assert (list(view.collected), list(view.placed)) == ([4], [3])
    assert view.phase == KotkiPhase.KOTKI_PHASE_PLACING


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (REVEAL, KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_REVEAL)),
        (
            lure(2, (0, 3), (7, 11)),
            KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_LURE, slot=2, fields=[0, 3], subs=[7, 11]),
        ),
        (
            yard(2, 1, 3),
            KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_YARD, cat=2, slots=[1, 3]),
        ),
        (swap(3), KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_SWAP, pillow=3)),
        (draw(5), KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_DRAW, cat=5)),
        (
            place("F+L", 2),
            KotkiAction(kind=KotkiActionKind.KOTKI_ACTION_KIND_PLACE, bait=3, field=2),
        ),
    ],
)
def test_actions(action: Action, message: KotkiAction) -> None:
    turn = GameTurn.FromString(KOTKI.turn_bytes(position(), 0, [action], ())).kotki
    assert list(turn.actions) == [message]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (
            rules.Started(4, 1, baits("F L M+Y P"), (0, 2, 0, 1), (1, 2, 3, 4)),
            KotkiEvent(
                started=KotkiStarted(
                    seats=4, start_seat=1, arrows=[1, 2, 12, 16], setup_dogs=[0, 2, 0, 1], yard=[1, 2, 3, 4]
                )
            ),
        ),
        (rules.TurnStarted(2, 7), KotkiEvent(turn_started=KotkiTurnStarted(seat=2, round=7))),
        (rules.Bust(baits("F M+P")), KotkiEvent(bust=KotkiBust(baits=[1, 20]))),
        (rules.Stopped(), KotkiEvent(stopped=KotkiStopped())),
        (rules.Placed(bait("L"), 3, bait("-")), KotkiEvent(placed=KotkiPlaced(bait=2, field=3))),
        (
            rules.Placed(bait("L"), 0, bait("Y")),
            KotkiEvent(placed=KotkiPlaced(bait=2, field=0, replaced=8)),
        ),
        (
            rules.Lured(1, 20, 0b1001, 1 << 7 | 1 << 11),
            KotkiEvent(lured=KotkiLured(slot=1, cat=20, fields=[0, 3], subs=[7, 11])),
        ),
        (
            rules.YardDiscarded(2, 0b101, (9, 8)),
            KotkiEvent(yard_discarded=KotkiYardDiscarded(by=2, slots=[0, 2], cats=[9, 8])),
        ),
        (
            rules.Swapped(3, bait("F"), bait("P")),
            KotkiEvent(swapped=KotkiSwapped(pillow=3, given=1, taken=16)),
        ),
        (rules.Drawn(17, baits("L P")), KotkiEvent(drawn=KotkiDrawn(by=17, baits=[2, 16]))),
        (rules.Shifted(8, (3, 0, 1, 2)), KotkiEvent(shifted=KotkiShifted(by=8, to=[3, 0, 1, 2]))),
        (
            rules.NeutralCard(1, 2, bait("Y+P")),
            KotkiEvent(neutral_card=KotkiNeutralCard(pillow=1, field=2, bait=24)),
        ),
        (rules.BaitReshuffled(40), KotkiEvent(bait_reshuffled=KotkiBaitReshuffled(size=40))),
        (rules.Ended((3, 10), (2, 1)), KotkiEvent(ended=KotkiEnded(points=[3, 10], ranks=[2, 1]))),
    ],
)
def test_events(event: Event, message: KotkiEvent) -> None:
    assert KOTKI.event_message(event) == message
    turn = GameTurn.FromString(KOTKI.turn_bytes(position(), 0, (), [KOTKI.event_bytes(event)]))
    assert list(turn.kotki.events) == [message]
    assert KOTKI.audience(event) is None


def test_every_event_of_a_match_has_a_message_of_its_own() -> None:
    chance = Chance(SEED)
    options = Options(15)
    state, events = rules.start(2, options, rules.deal(2, options, chance), chance)
    rng = Random(5)
    while rules.to_move(state):
        events += play(state, rng.choice(legal(state)))
    for event in set(events):
        message = KOTKI.event_message(event)
        name = message.WhichOneof("event")
        assert name is not None
        assert name.replace("_", "") == type(event).__name__.lower()
    assert len({bytes(KOTKI.event_bytes(event)) for event in set(events)}) == len(set(events))


def test_other_deals_change_every_stack_and_what_comes_later() -> None:
    deal = deal_of()
    state, _ = rules.start(4, Options(), deal, Chance(SEED))
    play(state, REVEAL)
    other = KOTKI.redeal(deal, state, 0, Random(1))
    assert other.bait[0] == deal.bait[0]
    assert sorted(other.bait) == sorted(deal.bait)
    assert other.bait[1:] != deal.bait[1:]
    assert other.cats[:4] == deal.cats[:4]
    assert other.cats[4:] != deal.cats[4:]
    assert (len(other.later_bait), len(other.later_cats)) == (1, 1)


def test_a_view_is_the_same_whatever_the_order_of_the_stacks() -> None:
    state = position("F|- - -", stack="D L+M", cat_stack="11 28")
    other = state.copy()
    other.bait = other.bait[::-1]
    other.cats = bytes((12, *(cat for cat in other.cats if cat != 12)))
    for seat in (None, 0, 3):
        assert KOTKI.view(other, seat) == KOTKI.view(state, seat)
