"""The services of tournaments and leagues, as clients see them: over gRPC, with tokens."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_common_pb2 import PageRequest

from arena.rights import BOT_PLAY, BOT_SUBMIT, TOURNAMENT_RUN
from arena.server.terms import LONGEST
from arena.store.hosting import FINISHED, RUNNING
from arena.store.store import Store
from tests.server.hosted_server import Stage, submit

HOUSE = ["house:greedy", "house:first", "house:random"]
_DAY_US = 24 * 3600 * 1_000_000


@pytest.fixture
async def stage(server_store: Store, tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(server_store, tmp_path / "data").open() as opened:
        yield opened


def cup(*bots: str, terms: dict[str, Any] | None = None, **more: Any) -> api.CreateTournamentRequest:
    """A request for a tournament of koffer."""
    hosting = api.HostingTerms(**(terms or {}))
    return api.CreateTournamentRequest(**{"game": "koffer", "bots": bots or HOUSE, "terms": hosting, **more})


def ladder(*bots: str, terms: dict[str, Any] | None = None, **more: Any) -> api.CreateLeagueRequest:
    """A request for a league of koffer."""
    values = {"name": "league", "game": "koffer", "bots": bots or HOUSE, **more}
    return api.CreateLeagueRequest(terms=api.HostingTerms(**(terms or {})), **values)


async def test_a_tournament_is_what_was_asked_for(stage: Stage) -> None:
    begins_us = time.time_ns() // 1000 + _DAY_US
    request = cup(
        "ann-near",
        "bob-near@1",
        "house:greedy",
        "house:greedy",
        name="cup",
        seats=3,
        deals=8,
        is_rotated=False,
        format="swiss",
        rounds=4,
        options={"games": "1"},
        clock=api.Clock(move_us=1_000, faults_allowed=2),
        terms={"begins_us": begins_us},
    )
    made = (await stage.call("ann", "CreateTournament", request)).tournament
    assert (made.name, made.kind, made.game, made.owner) == ("cup", "tournament", "koffer", "ann")
    assert [(bot.name, bot.owner) for bot in made.bots] == [
        ("ann-near@1", "ann"),
        ("bob-near@1", "bob"),
        ("greedy", ""),
        ("greedy-2", ""),
    ]
    assert (made.seats, made.format, made.is_rotated, dict(made.options)) == (
        3,
        "swiss",
        False,
        {"games": "1"},
    )
    assert (made.clock.move_us, made.clock.bank_us, made.clock.faults_allowed) == (1_000, 60_000_000, 2)
    assert (made.terms.begins_us, made.terms.rated, made.is_at_most) == (begins_us, True, True)
    assert made.progress.state == api.HOSTED_STATE_SCHEDULED
    assert (made.matches, made.sandbox) == (4 * 8, "none")
    assert stage.conductor.wakes == 1
    assert (await stage.call("bob", "GetTournament", api.GetTournamentRequest(name="cup"))).tournament == made


async def test_the_seed_is_told_when_nothing_of_it_is_in_play_any_more(stage: Stage) -> None:
    async def told() -> Any:
        return (await stage.call("bob", "GetTournament", api.GetTournamentRequest(name="cup"))).tournament

    await stage.call("ann", "CreateTournament", cup(name="cup"))
    before = await told()
    await stage.call("ann", "CancelTournament", api.CancelTournamentRequest(name="cup"))
    cancelled = await told()
    assert cancelled.progress.state == api.HOSTED_STATE_CANCELLED
    assert not before.HasField("seed")
    assert not cancelled.HasField("seed")
    stage.hosting.close(stage.hosting.hosted("cup").tournament)
    over = await told()
    assert hashlib.sha256(bytes.fromhex(over.seed)).hexdigest() == over.commitment == before.commitment


FREE = {"rated": False, "same_owner": True}
REFUSED: dict[str, tuple[api.CreateTournamentRequest, str, str]] = {
    "no game": (cup(game="chess"), "NOT_FOUND", "arena games"),
    "no bot": (cup(*HOUSE, "carl"), "NOT_FOUND", "carl"),
    "a path": (cup(*HOUSE, "./mybot"), "INVALID_ARGUMENT", "neither like mybot"),
    "no version": (cup(*HOUSE, "ann-near@7"), "NOT_FOUND", "ann-near@7"),
    "other game": (
        cup("ann-near", "bob-near", "house:first", game="kotki"),
        "INVALID_ARGUMENT",
        "plays koffer",
    ),
    "few bots": (cup("house:greedy"), "INVALID_ARGUMENT", "too few"),
    "many bots": (cup(*HOUSE * 40), "RESOURCE_EXHAUSTED", "100 may take part"),
    "seats": (cup(seats=40), "INVALID_ARGUMENT", "40 were asked for"),
    "no deals": (cup(deals=0), "INVALID_ARGUMENT", "deal"),
    "deals": (cup(deals=1 << 63), "RESOURCE_EXHAUSTED", "100 matches"),
    "rounds": (cup(rounds=1 << 31, format="swiss"), "RESOURCE_EXHAUSTED", "100 matches"),
    "matches": (cup(deals=99), "RESOURCE_EXHAUSTED", "297 matches are too many"),
    "format": (cup(format="chaos"), "INVALID_ARGUMENT", "chaos"),
    "ladder": (cup(format="ladder"), "INVALID_ARGUMENT", "it has no end"),
    "confidence": (cup(until="winner", confidence=float("nan"), deals=9), "INVALID_ARGUMENT", "confidence"),
    "kind": (cup(kind="league"), "INVALID_ARGUMENT", "create a league"),
    "play": (cup(kind="play", deals=2), "INVALID_ARGUMENT", "no deals"),
    "option": (cup(options={"x": "1"}), "INVALID_ARGUMENT", "arena games show"),
    "options": (cup(options={"x": "1" * 5000}), "RESOURCE_EXHAUSTED", "options"),
    "name": (cup(name="../cup"), "INVALID_ARGUMENT", "no name"),
    "seed": (cup(seed="xyz", terms=FREE), "INVALID_ARGUMENT", "no seed"),
    "clock": (cup(clock=api.Clock(start_us=LONGEST.start_us + 1)), "RESOURCE_EXHAUSTED", "start_us"),
    "past": (cup(terms={"begins_us": 1}), "INVALID_ARGUMENT", "in the past"),
    "future": (cup(terms={"begins_us": 1 << 62}), "INVALID_ARGUMENT", "far future"),
    "budget": (cup(terms={"per_day": 5}), "INVALID_ARGUMENT", "no per_day"),
    "open": (cup(terms={"is_open": True}), "INVALID_ARGUMENT", "no is_open"),
    "remote": (cup(terms={"remote": 9}), "INVALID_ARGUMENT", "remote bots"),
    "rated seed": (cup(seed="7"), "PERMISSION_DENIED", "--unrated"),
    "rated friends": (cup(terms={"same_owner": True}), "PERMISSION_DENIED", "--unrated"),
    "friends": (cup("ann-near", "ann-near@1", "house:first"), "INVALID_ARGUMENT", "--allow-same-owner"),
    "friends that fill": (cup("ann-near", "bob-near", seats=3), "INVALID_ARGUMENT", "--allow-same-owner"),
    "remote bots": (cup("ann-far", "house:first", "house:greedy"), "FAILED_PRECONDITION", "--remote mixed"),
    "not mixed": (
        cup("ann-far", "bob-near", "house:first", terms={"remote": api.REMOTE_BOTS_MIXED}),
        "FAILED_PRECONDITION",
        "has not agreed",
    ),
    "remote only": (
        cup("ann-far", "bob-near", "house:first", terms={"remote": api.REMOTE_BOTS_ONLY}),
        "FAILED_PRECONDITION",
        "only bots that dial in",
    ),
    "remote twice": (
        cup("ann-far", "ann-far", "house:first", terms={"remote": api.REMOTE_BOTS_ONLY, **FREE}),
        "INVALID_ARGUMENT",
        "one connection",
    ),
}


async def test_what_cannot_be_is_refused_and_nothing_is_created(stage: Stage) -> None:
    stage.accounts.set_quotas(stage.user("ann"), {"matches": 100})
    for name, (request, code, words) in REFUSED.items():
        found, why = await stage.refusal("ann", "CreateTournament", request)
        assert (name, found, words in why) == (name, code, True), why
    assert stage.hosting.page(10) == []


ALLOWED: dict[str, tuple[str, api.CreateTournamentRequest]] = {
    "play": ("ann", cup(kind="play", matches=7)),
    "an admin's seed": ("admin", cup(seed="7")),
    "an unrated seed": ("ann", cup(seed="7", terms={"rated": False})),
    "friends": ("ann", cup("ann-near", "ann-mixed", "house:first", terms={"remote": 2, **FREE})),
    "mixed": ("ann", cup("ann-near", "bob-mixed", "house:first", terms={"remote": api.REMOTE_BOTS_MIXED})),
    "remote only": ("ann", cup("ann-far", "bob-far", "house:first", terms={"remote": api.REMOTE_BOTS_ONLY})),
    # Both versions take the same seats in turn, and never meet.
    "a comparison": ("ann", cup("ann-near@1", "ann-near@2", *HOUSE, format="compare", seats=3, deals=50)),
}


async def test_what_can_be_is_created(stage: Stage) -> None:
    stage.accounts.set_quotas(stage.user("ann"), {"tournaments": len(ALLOWED)})
    submit(stage.roster, stage.user("ann"), "ann-near")
    for who, request in ALLOWED.values():
        made = (await stage.call(who, "CreateTournament", request)).tournament
        assert stage.hosting.hosted(made.name).owner == made.owner == who


async def test_a_user_has_as_many_at_once_as_the_quota_says(stage: Stage) -> None:
    stage.accounts.set_quotas(stage.user("ann"), {"tournaments": 2})
    await stage.call("ann", "CreateTournament", cup(name="one"))
    await stage.call("ann", "CreateLeague", ladder())
    assert (await stage.refusal("ann", "CreateTournament", cup()))[0] == "RESOURCE_EXHAUSTED"
    await stage.call("ann", "CancelTournament", api.CancelTournamentRequest(name="one"))
    assert await stage.refusal("ann", "CreateTournament", cup(name="two")) == ("OK", "")
    assert (await stage.refusal("bob", "CreateTournament", cup(name="two")))[0] == "ALREADY_EXISTS"


async def test_they_are_listed_newest_first_in_pages_and_by_filters(stage: Stage) -> None:
    for name, who in (("one", "ann"), ("two", "bob"), ("three", "ann")):
        await stage.call(who, "CreateTournament", cup(name=name))
    await stage.call("ann", "CreateLeague", ladder())
    await stage.call("ann", "PauseTournament", api.PauseTournamentRequest(name="one"))

    async def names(**wanted: Any) -> list[str]:
        reply = await stage.call("bob", "ListTournaments", api.ListTournamentsRequest(**wanted))
        return [found.name for found in reply.tournaments] + [reply.page.next][: bool(reply.page.next)]

    assert await names() == ["three", "two", "one"]
    assert await names(owner="ann", states=[api.HOSTED_STATE_WAITING]) == ["three"]
    assert await names(game="kotki") == []
    assert await names(kinds=["league", "play"]) == ["league"]
    *first, token = await names(page=PageRequest(size=2))
    assert first == ["three", "two"]
    assert await names(page=PageRequest(size=2, token=token)) == ["one"]
    leagues = await stage.call("bob", "ListLeagues", api.ListLeaguesRequest())
    assert [found.name for found in leagues.leagues] == ["league"]
    for wrong in ({"states": [99]}, {"states": [0]}, {"kinds": ["cup"]}, {"page": PageRequest(token="x")}):
        request = api.ListTournamentsRequest(**wrong)
        assert (await stage.refusal("bob", "ListTournaments", request))[0] == "INVALID_ARGUMENT"


async def test_the_owner_and_an_admin_alone_change_it(stage: Stage) -> None:
    await stage.call("ann", "CreateTournament", cup(name="cup"))
    for who, expected in (("bob", "PERMISSION_DENIED"), ("ann", "OK"), ("admin", "OK")):
        for verb in ("Pause", "Resume", "Cancel") if who == "admin" else ("Pause", "Resume"):
            request = getattr(api, f"{verb}TournamentRequest")(name="cup")
            assert (await stage.refusal(who, f"{verb}Tournament", request))[0] == expected
    request = api.PauseTournamentRequest(name="cup")
    assert (await stage.refusal("ann", "PauseTournament", request))[0] == "FAILED_PRECONDITION"
    assert (await stage.refusal("ann", "PauseTournament", api.PauseTournamentRequest(name="x")))[
        0
    ] == "NOT_FOUND"


async def test_whoever_watches_is_told_the_state_now_and_every_change_until_it_is_over(stage: Stage) -> None:
    await stage.call("ann", "CreateTournament", cup(name="cup"))
    number = stage.hosting.hosted("cup").tournament
    watching = stage.begin("bob", "WatchTournament", api.WatchTournamentRequest(name="cup"), [BOT_PLAY])
    seen = [(await watching.read()).progress.state]
    for state in (RUNNING, FINISHED):
        stage.hosting.move(number, state)
        stage.conductor.news.publish("cup", "changed")
        seen.append((await watching.read()).progress.state)
    assert seen == [api.HOSTED_STATE_WAITING, api.HOSTED_STATE_RUNNING, api.HOSTED_STATE_FINISHED]
    assert await watching.read() is grpc.aio.EOF
    again = stage.begin("bob", "WatchTournament", api.WatchTournamentRequest(name="cup"), [BOT_PLAY])
    assert [told.progress.state async for told in again] == [api.HOSTED_STATE_FINISHED]
    assert not stage.conductor.news.is_heard("cup")


async def test_whoever_watches_a_server_that_stops_is_told_to_come_back(stage: Stage) -> None:
    await stage.call("ann", "CreateTournament", cup(name="cup"))
    watching = stage.begin("bob", "WatchTournament", api.WatchTournamentRequest(name="cup"), [BOT_PLAY])
    await watching.read()
    stage.conductor.news.close()
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await watching.read()
    assert ended.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_a_league_begins_with_house_bots_and_members(stage: Stage) -> None:
    request = ladder("ann-near", *HOUSE, seats=4, deals=2, terms={"per_day": 50, "is_open": True})
    made = (await stage.call("ann", "CreateLeague", request)).league
    assert (made.kind, made.format, made.seats, made.terms.per_day) == ("league", "ladder", 4, 50)
    assert not made.HasField("deals")
    assert not made.HasField("matches")
    assert made.terms.is_open
    got = await stage.call("bob", "GetLeague", api.GetLeagueRequest(name="league"))
    assert (got.league, list(got.members)) == (made, ["ann-near"])
    assert (await stage.refusal("ann", "GetLeague", api.GetLeagueRequest(name="x")))[0] == "NOT_FOUND"
    await stage.call("ann", "CreateTournament", cup(name="cup"))
    assert (await stage.refusal("ann", "GetLeague", api.GetLeagueRequest(name="cup")))[0] == "NOT_FOUND"


NO_LEAGUE = [
    (ladder(name=""), "INVALID_ARGUMENT"),
    (ladder(*HOUSE, HOUSE[0]), "INVALID_ARGUMENT"),
    (ladder(*HOUSE, "ann-near@1"), "INVALID_ARGUMENT"),
    (ladder(*HOUSE, "bob-near"), "PERMISSION_DENIED"),
    (ladder(*HOUSE, "ann-far"), "FAILED_PRECONDITION"),
    (ladder(seats=4), "INVALID_ARGUMENT"),
    (ladder(deals=101), "RESOURCE_EXHAUSTED"),
    (ladder(terms={"per_day": 0}), "INVALID_ARGUMENT"),
    (ladder(seed="1"), "PERMISSION_DENIED"),
]


async def test_what_is_no_league_is_refused(stage: Stage) -> None:
    for request, code in NO_LEAGUE:
        assert (await stage.refusal("ann", "CreateLeague", request))[0] == code, request
    assert stage.hosting.page(10) == []


ENTERING = [
    # who, with which scope, which bot, into an open league of ann's?, what comes of entering, and of leaving
    ("ann", TOURNAMENT_RUN, "ann-near", False, "OK", "OK"),
    ("ann", BOT_SUBMIT, "ann-near", False, "OK", "OK"),
    ("ann", BOT_PLAY, "ann-near", True, "PERMISSION_DENIED", "PERMISSION_DENIED"),
    ("ann", TOURNAMENT_RUN, "bob-near", True, "PERMISSION_DENIED", "NOT_FOUND"),
    ("bob", BOT_SUBMIT, "bob-near", False, "PERMISSION_DENIED", "NOT_FOUND"),
    ("bob", BOT_SUBMIT, "bob-near", True, "OK", "OK"),
    ("bob", TOURNAMENT_RUN, "bob-near", True, "PERMISSION_DENIED", "PERMISSION_DENIED"),
    ("bob", BOT_SUBMIT, "ann-near", True, "PERMISSION_DENIED", "PERMISSION_DENIED"),
    ("bob", BOT_SUBMIT, "bob-far", True, "FAILED_PRECONDITION", "NOT_FOUND"),
    ("bob", BOT_SUBMIT, "bob-near@1", True, "INVALID_ARGUMENT", "NOT_FOUND"),
    ("bob", BOT_SUBMIT, "house:search", True, "PERMISSION_DENIED", "PERMISSION_DENIED"),
    ("ann", BOT_SUBMIT, "house:search", True, "PERMISSION_DENIED", "PERMISSION_DENIED"),
    ("ann", TOURNAMENT_RUN, "house:search", True, "OK", "OK"),
    ("admin", "", "bob-near", False, "OK", "OK"),
    ("admin", "", "house:nobody", False, "NOT_FOUND", "NOT_FOUND"),
]


async def test_who_may_let_a_bot_enter_and_leave(stage: Stage) -> None:
    stage.accounts.set_quotas(stage.user("ann"), {"tournaments": len(ENTERING)})
    house = {"greedy", "first", "random"}
    for number, (who, scope, bot, is_open, entering, leaving) in enumerate(ENTERING):
        name = f"league{number}"
        await stage.call("ann", "CreateLeague", ladder(name=name, terms={"is_open": is_open}))
        enter = api.EnterLeagueRequest(league=name, bot=bot)
        for _ in range(2):  # the second time says the same and changes nothing
            assert (await stage.refusal(who, "EnterLeague", enter, [scope]))[0] == entering, ENTERING[number]
        assert _playing(stage, name) == house | ({_name(bot)} if entering == "OK" else set())
        leave = api.LeaveLeagueRequest(league=name, bot=bot)
        assert (await stage.refusal(who, "LeaveLeague", leave, [scope]))[0] == leaving, ENTERING[number]
        assert _playing(stage, name) == house


async def test_a_house_bot_that_left_comes_back_in_its_place(stage: Stage) -> None:
    await stage.call("ann", "CreateLeague", ladder())
    for method in ("LeaveLeague", "LeaveLeague", "EnterLeague"):
        request = getattr(api, f"{method}Request")(league="league", bot="house:first")
        await stage.call("ann", method, request)
    bots = stage.conductor.store.tournament("league").bots
    assert [(bot.name, bot.retired) for bot in bots] == [
        ("greedy", False),
        ("first", False),
        ("random", False),
    ]


async def test_of_two_who_enter_the_same_house_bot_one_does(stage: Stage) -> None:
    await stage.call("ann", "CreateLeague", ladder())
    request = api.EnterLeagueRequest(league="league", bot="house:search")
    await asyncio.gather(*(stage.call("ann", "EnterLeague", request) for _ in range(8)))
    assert len(stage.conductor.store.tournament("league").bots) == 4


async def test_nobody_enters_what_is_over(stage: Stage) -> None:
    await stage.call("ann", "CreateLeague", ladder())
    await stage.call("ann", "CancelTournament", api.CancelTournamentRequest(name="league"))
    request = api.EnterLeagueRequest(league="league", bot="ann-near")
    assert (await stage.refusal("ann", "EnterLeague", request))[0] == "FAILED_PRECONDITION"


def _playing(stage: Stage, name: str) -> set[str]:
    league = stage.conductor.store.tournament(name)
    house = {bot.name for bot in league.bots if not bot.retired}
    return house | set(stage.hosting.members(league.id))


def _name(reference: str) -> str:
    return reference.removeprefix("house:").partition("@")[0]
