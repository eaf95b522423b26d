"""Kamozza as people read it."""

from __future__ import annotations

from arena.games import find_game
from arena.games.kamozza import rules
from arena.games.kamozza.rules import CAT_SHIP, TYPHOON, Options
from tests.games.kamozza.positions import load, play_cargo, play_ports, play_round, said, started

KAMOZZA = find_game("kamozza")


def lines(state: rules.State, seat: int | None) -> list[str]:
    return KAMOZZA.table_text(KAMOZZA.view(state, seat)).splitlines()


def test_a_table() -> None:
    state = started(4, Options(table_talk=True))
    play_round(state, "20B 5A 3A 20B")
    rules.apply(state, {1: load("1+20", said("7+10B"))})
    rules.apply(state, {2: load("15")})
    assert lines(state, 2) == [
        "round 2 of 4; port A: 11; port B: 32; cargo is chosen, seat 1 begins",
        "  seat 0: 0 points; hand 1 3 5 7 10 15; lost 20",
        "  seat 1: 5 points; hand 1 3 7 10 15 20; loaded 5; committed 2 cards; "
        'says "7 10 to port B"; boarded last in round 1',
        "  seat 2: 3 points; hand 1 5 7 10 15 20; loaded 3; committed 15; boarded last in round 1",
        "> seat 3: 0 points; hand 1 3 5 7 10 15; lost 20",
        "to come in any order, port A: 14, 17, 20, 21, 23; port B: 35, 37, 40, 42, 45",
        "round 1: port A (8): seat 1 5 loaded, seat 2 3 loaded; port B (30): seat 0 20 sunk, seat 3 20 sunk",
    ]
    assert "seat 2: 3 points; hand 1 5 7 10 15 20; loaded 3; committed 1 card;" in lines(state, None)[3]
    private = [KAMOZZA.private_text(KAMOZZA.view(state, seat)) for seat in range(4)]
    assert private == ["", "committed 1 20", "committed 15", ""]
    for seat in (3, 0):
        rules.apply(state, {seat: load("1")})
    assert lines(state, None)[0] == "round 2 of 4; port A: 11; port B: 32; ports are chosen"
    assert [line[0] for line in lines(state, None)[1:5]] == [">"] * 4
    play_ports(state, "A A A A")
    assert lines(state, 0)[-1].startswith('round 2: seat 1 said "7 10 to port B"; port A (11): ')


def test_bonus_ships_and_rats_that_ate_gold() -> None:
    options = Options("variant", typhoon=True, cat_ship=True)
    state = started(4, options, a=(45, TYPHOON, 30, 30, 30), b=(CAT_SHIP, 40, TYPHOON, 40, 40))
    play_round(state, "1A 20A 1B 5B")
    assert lines(state, None) == [
        "round 2 of 5; port A: typhoon; port B: 40; cargo is chosen, seat 1 begins",
        "> seat 0: 21 points; hand 3 5 7 10 15 20; loaded 1; boarded last in round 1",
        "> seat 1: 0 points; hand 1 3 5 7 10 15; lost 20",
        "> seat 2: 0 points; hand 3 5 7 10 15 20; lost 1",
        "> seat 3: 5 points; hand 1 3 7 10 15 20; loaded 5; boarded last in round 1",
        "to come in any order, port A: 30, 30, 30; port B: 40, 40, typhoon",
        "round 1: port A (45): seat 0 1 loaded for 21, seat 1 20 eaten; "
        "port B (cat ship 30): seat 2 1 turned away, seat 3 5 loaded",
    ]


def test_claims_of_one_thing_only_and_one_port() -> None:
    state = started(3, Options("variant", table_talk=True))
    rules.apply(state, {0: load("1", said("A")), 1: load("3", said("20")), 2: load("5")})
    assert lines(state, 1)[-1] == (
        'round 1: seat 0 said "to port A"; seat 1 said "20"; '
        "port A (8): seat 0 1 left behind, seat 1 3 loaded, seat 2 5 loaded"
    )
    assert lines(state, 1)[0] == "round 2 of 5; port A: 11; cargo is chosen, seat 1 begins"


def test_a_match_that_is_over() -> None:
    state = started(3)
    for plays in ("1+3A 1+3A 1+3B", "5+7A 5+7B 5+7A", "10+15B 10+15A 10+15A"):
        play_round(state, plays)
    play_cargo(state, "20 20 20")
    play_ports(state, "B A A")
    text = lines(state, 0)
    assert text[0] == "round 5 of 6; over"
    assert text[1].startswith("  seat 0: ")
    assert all(line.endswith("eliminated in round 5") for line in text[1:4])
    assert rules.outcome(state).details[0].endswith("eliminated in round 5")


def test_what_an_outcome_is_made_of() -> None:
    state = started(4)
    for plays in ("20B 5A 3A 20B", "7+3A 20+1B 15+10B 10A", "15A 10A 20B 15B", "10+5B 15+7B 7+5A 7+5A"):
        play_round(state, plays)
    assert rules.outcome(state).details == (
        "loaded 5, 10; lost 3, 7, 15, 20; kept 1; boarded last in round 4",
        "loaded 1, 5, 7, 15; lost 10, 20; kept 3; boarded last in round 4",
        "loaded 3, 10, 15, 20; lost 5, 7; kept 1; boarded last in round 3",
        "loaded 15; lost 5, 7, 10, 20; kept 1, 3; boarded last in round 3",
    )


def test_actions() -> None:
    assert KAMOZZA.action_text(load("3+20")) == "load 3 and 20"
    assert KAMOZZA.action_text(load("1", said("15+20A"))) == 'load 1, saying "15, 20 to port A"'
    assert KAMOZZA.action_text(load("1", said("B"))) == 'load 1, saying "to port B"'
    assert KAMOZZA.action_text(load("1", said("5"))) == 'load 1, saying "5"'
    assert KAMOZZA.action_text(rules.Dock(rules.PORT_B)) == "port B"


def test_every_action_reads_differently() -> None:
    assert len({KAMOZZA.action_text(action) for action in rules.ALL_ACTIONS}) == 28 + 2
