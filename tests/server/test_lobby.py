"""The lobby: real SDK bots and scripted ones dial in over TCP, and play what they are seated for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from botarena.remote import NotWantedError, Server
from botarena.v1.bot_pb2 import FromBot, Reply
from botarena.v1.record_pb2 import MatchRecord, Verdict

from arena.bots import conversation
from arena.errors import UsageError
from arena.match.replay import verify
from arena.match.verdicts import fault_name
from arena.rights import BOT_PLAY, BOT_SUBMIT
from arena.runs.definition import bots_of
from arena.server.guard import Guard
from arena.store.roster import IMAGE, NewVersion
from arena.store.store import Store
from tests.bots.streams import port_line, until
from tests.server.lobby_server import Dice, Site, arrived, caller, guests, identities, open_lobby, play


@pytest.fixture
def site(server_store: Store, tmp_path: Path) -> Site:
    return Site(server_store, tmp_path)


@pytest.fixture(autouse=True)
def quick_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_REFUSAL_S", 0)


def kinds(records: list[MatchRecord]) -> list[str]:
    """Each record's faults."""
    return [fault_name(fault.kind) for record in records for fault in record.faults]


async def test_bots_that_dial_in_play_like_any_others_and_a_broken_line_changes_nothing(site: Site) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    found = []
    for cuts in (0, 5):
        async with open_lobby(site) as (lobby, address), guests() as all_bots:
            async with port_line(int(address.rpartition(":")[2])) as (line, through):
                all_bots.dial(through, ann)
                all_bots.dial(address, bob, "his")
                await until(lambda: len(all_bots.said) == 2)  # before its welcome it knows no session
                playing = asyncio.create_task(
                    play(site, lobby, site.cup(hers, his, deals=20, name=f"cup-{cuts}"))
                )
                for number in range(cuts):
                    line.cut()
                    await until(lambda: sum("lost" in line for line in all_bots.said) > number)  # noqa: B023
                    await until(lambda: sum("back" in line for line in all_bots.said) > number)  # noqa: B023
                records = await playing
                assert line.connections > cuts
            assert "connected as hers@1, waiting for matches" in all_bots.said
            assert ("back as hers@1, waiting for matches" in all_bots.said) == bool(cuts)
            assert {tuple(sorted(bot.name for bot in record.bots)) for record in records} == {
                ("hers@1", "his@1")
            }
        for record in records:
            verify(record)
        assert {record.verdict for record in records} == {Verdict.VERDICT_PLAYED}
        found.append([record.actions for record in records])
    assert found[0] == found[1]


async def test_a_bot_plays_in_several_tournaments_at_once_and_never_more_matches_than_it_said(
    site: Site,
) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    most = 0

    class Counting(Dice):
        running = 0

        def start(self, match: object) -> None:
            nonlocal most
            Counting.running += 1
            most = max(most, Counting.running)

        def end(self, result: object) -> None:
            Counting.running -= 1

    async with open_lobby(site) as (lobby, address), guests() as all_bots:
        all_bots.dial(address, ann, bot=Counting, at_once=3)
        all_bots.dial(address, bob)
        await arrived(lobby, hers, his)
        cups = [site.cup(hers, his, name=name, seed=name) for name in ("1", "2")]
        done = await asyncio.gather(*(play(site, lobby, cup) for cup in cups))
    assert [len(records) for records in done] == [8, 8]
    assert 1 < most <= 3


async def test_a_bot_that_comes_while_it_is_waited_for_plays_and_one_that_does_not_is_forfeited(
    site: Site,
) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    async with open_lobby(site) as (lobby, address), guests() as all_bots:
        all_bots.dial(address, bob)
        await arrived(lobby, his)
        absent = await play(site, lobby, site.cup(hers, his, deals=1, start_us=50_000))
        assert kinds(absent) == ["START_FAILED"] * 2
        assert "not connected" in absent[0].circumstances.fault_details[0]
        playing = asyncio.create_task(play(site, lobby, site.cup(hers, his, deals=1, name="late")))
        await asyncio.sleep(0.02)
        all_bots.dial(address, ann)
        assert kinds(await playing) == []


async def test_a_bot_plays_beside_bots_that_the_server_starts(site: Site) -> None:
    ann = site.user("ann")
    hers = site.bot("ann", "hers")
    async with open_lobby(site) as (lobby, address), guests() as all_bots:
        all_bots.dial(address, ann)
        records = await play(site, lobby, site.cup(hers, "house:first", deals=3))
    assert kinds(records) == []
    assert len(records) == 6


async def test_when_the_server_is_there_again_so_is_the_bot_and_what_was_cut_off_is_played(
    site: Site,
) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    cup = site.cup(hers, his, deals=15)
    async with guests() as all_bots, port_line(0) as (line, through):
        for lives in range(2):
            async with open_lobby(site) as (lobby, address):
                line.to(int(address.rpartition(":")[2]))
                if not lives:
                    all_bots.dial(through, ann)
                    all_bots.dial(through, bob)
                await arrived(lobby, hers, his)
                playing = asyncio.create_task(play(site, lobby, cup))
                if not lives:
                    await until(lambda: len(list(site.store.done(cup.id))) > 2)
                    playing.cancel()
                    await asyncio.gather(playing, return_exceptions=True)
                else:
                    await playing
    stored = list(site.store.done(cup.id))
    assert len(stored) == len(set(stored)) == 30
    assert any("CLOSED" in line for line in all_bots.said)


STRANGERS: list[tuple[str | None, dict[str, Any], str]] = [
    (None, {}, "UNAUTHENTICATED"),
    ("arena_" + "x" * 43, {}, "UNAUTHENTICATED"),
    ("no scope", {"bot": "hers"}, "PERMISSION_DENIED"),
    ("play only", {"bot": "unheard-of"}, "NOT_FOUND"),
    ("bob", {"bot": "hers"}, "PERMISSION_DENIED"),
    ("bob", {}, "INVALID_ARGUMENT"),
    ("ann", {"bot": "coded"}, "FAILED_PRECONDITION"),
    ("ann", {"bot": "off"}, "PERMISSION_DENIED"),
    ("ann", {"bot": "hers", "bot_version": "x" * 81}, "INVALID_ARGUMENT"),
    ("ann", {"bot": "hers", "session": "guessed"}, "FAILED_PRECONDITION"),
    ("ann", {"bot": "hers", "protocol": 2}, "INVALID_ARGUMENT"),
    ("ann", {"bot": "house"}, "ALREADY_EXISTS"),
]


async def test_whoever_may_not_play_is_refused_with_a_status_that_says_why(site: Site) -> None:
    tokens: dict[str | None, str | None] = {
        None: None,
        "ann": site.user("ann"),
        "bob": site.user("bob"),
        "no scope": site.user("ann", [BOT_SUBMIT]),
        "play only": site.user("ann", [BOT_PLAY]),
    }
    site.bot("ann", "hers")
    site.bot("ann", "off")
    site.roster.update_bot("off", disabled=True)
    site.roster.submit(site.accounts.user("ann").id, "coded", NewVersion(IMAGE, digest="0" * 64))
    async with open_lobby(site) as (lobby, address):
        for who, hello, status in STRANGERS:
            async with caller(address, tokens.get(who, who)) as stream:
                assert await stream.hello(**hello) is None, (who, hello)
                assert await stream.status() == status, (who, hello)
        assert lobby.present() == frozenset()


async def test_a_second_stream_is_refused_and_disturbs_nothing_and_another_version_takes_its_turn(
    site: Site,
) -> None:
    ann = site.user("ann")
    site.bot("ann", "hers")
    async with open_lobby(site) as (lobby, address), caller(address, ann) as first:
        welcome = await first.hello(bot="hers")
        assert welcome is not None
        assert welcome.welcome.bot == "hers@1"
        for text in ("", "second"):
            async with caller(address, ann) as second:
                assert await second.hello(bot="hers", bot_version=text) is None
                assert await second.status() == "ALREADY_EXISTS"
        assert lobby.present() == {1}
        async with caller(address, ann) as resumed:
            assert await resumed.hello(bot="hers", session=welcome.welcome.session)
            assert await first.status() == "ABORTED"
        await until(lambda: not lobby.present())
        async with caller(address, ann) as newer:  # within the grace time, without its session
            frame = await newer.hello(bot="hers", bot_version="second")
            assert frame is not None
            assert frame.welcome.bot == "hers@2"
            assert lobby.present() == {2}
        await until(lambda: not lobby.present())
        async with caller(address, ann) as older:
            frame = await older.hello(bot="hers", bot_version="remote")
            assert frame is not None
            assert frame.welcome.bot == "hers@1"
    assert site.roster.bot("hers").active == 1


async def test_a_token_that_is_revoked_ends_the_stream_and_the_matches_are_lost(site: Site) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    async with open_lobby(site) as (lobby, address), guests() as all_bots, caller(address, ann) as silent:
        all_bots.dial(address, bob)
        assert await silent.hello(bot="hers")
        await arrived(lobby, hers, his)
        playing = asyncio.create_task(play(site, lobby, site.cup(hers, his, deals=1)))
        assert await silent.read()
        site.accounts.revoke(site.token_ids[ann])
        await lobby.recheck()
        assert await silent.status() == "UNAUTHENTICATED"
        records = await playing
    assert kinds(records) == ["DISCONNECTED"] * 2
    assert "revoked" in records[0].circumstances.fault_details[0]


async def test_a_bot_that_never_answers_loses_by_time_and_is_sent_away_at_last(site: Site) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    async with open_lobby(site) as (lobby, address), guests() as all_bots, caller(address, ann) as silent:
        all_bots.dial(address, bob)
        assert await silent.hello(bot="hers")
        await arrived(lobby, hers, his)
        cup = site.cup(hers, his, deals=3, move_us=300_000, start_us=60_000)
        records = await play(site, lobby, cup)
        assert await silent.status() == "ABORTED"
    assert sorted(set(kinds(records))) == ["TIMEOUT"]
    assert len(kinds(records)) == 6


@pytest.mark.parametrize(
    ("frame", "kind", "status"),
    [
        (FromBot(replies=[Reply(decision=1 << 60)] * 5000), "OUTPUT_EXCEEDED", "RESOURCE_EXHAUSTED"),
        (FromBot(hello={"protocol": 1}), "MALFORMED_MESSAGE", "INVALID_ARGUMENT"),  # type: ignore[arg-type]
    ],
)
async def test_a_flood_or_nonsense_costs_the_bot_all_that_it_plays_and_others_nothing(
    site: Site, frame: FromBot, kind: str, status: str
) -> None:
    ann, bob, eve = site.user("ann"), site.user("bob"), site.user("eve")
    hers, his, evil = site.bot("ann", "hers"), site.bot("bob", "his"), site.bot("eve", "evil")
    async with open_lobby(site) as (lobby, address), guests() as all_bots:
        all_bots.dial(address, ann)
        all_bots.dial(address, bob)
        await arrived(lobby, hers, his)
        await play(site, lobby, site.cup(hers, his, name="alone"))
        async with caller(address, eve) as flood:
            assert await flood.hello(bot="evil")
            await arrived(lobby, hers, his, evil)
            beside = asyncio.create_task(play(site, lobby, site.cup(hers, his, name="beside")))
            bad = asyncio.create_task(play(site, lobby, site.cup(evil, his, deals=1, name="bad")))
            await flood.read()
            await flood.call.write(frame)
            assert await flood.status() == status
            assert kinds(await bad) == [kind] * 2
            assert kinds(await beside) == []
    assert identities(site, "beside") == identities(site, "alone")


async def test_whoever_says_nothing_is_refused_after_a_while_and_only_a_few_may_try(site: Site) -> None:
    ann = site.user("ann")
    async with open_lobby(site, site.lobby(hello_s=0.05)) as (_, address), caller(address, ann) as silent:
        assert await silent.status() == "DEADLINE_EXCEEDED"


async def test_a_bot_whose_line_stays_dead_is_disconnected_when_its_grace_is_over(site: Site) -> None:
    ann, bob = site.user("ann"), site.user("bob")
    hers, his = site.bot("ann", "hers"), site.bot("bob", "his")
    async with open_lobby(site, site.lobby(grace_s=0.1)) as (lobby, address), guests() as all_bots:
        all_bots.dial(address, bob)
        async with caller(address, ann) as leaving:
            assert await leaving.hello(bot="hers")
            await arrived(lobby, hers, his)
            playing = asyncio.create_task(play(site, lobby, site.cup(hers, his, deals=2, start_us=50_000)))
            assert await leaving.read()
        records = await playing
    assert kinds(records) == ["DISCONNECTED"] * 4  # all at once, and none of them is dealt again


async def test_no_more_bots_of_a_user_are_connected_than_he_may_have(site: Site) -> None:
    ann = site.user("ann")
    site.accounts.set_quotas(site.accounts.user("ann").id, {"remote_bots": 1})
    site.bot("ann", "one")
    async with open_lobby(site) as (_, address), caller(address, ann) as one, caller(address, ann) as two:
        assert await one.hello(bot="one")
        assert await two.hello(bot="two") is None
        assert await two.status() == "RESOURCE_EXHAUSTED"


async def test_a_remote_bot_is_not_seated_twice_at_a_table(site: Site) -> None:
    site.user("ann")
    hers = site.bot("ann", "hers")
    cup = site.cup(hers, hers)
    async with open_lobby(site) as (lobby, _):
        with pytest.raises(UsageError, match="several seats"):
            lobby.executor(cup, bots_of(cup))


async def test_a_bot_that_is_refused_does_not_try_again(site: Site) -> None:
    async with open_lobby(site) as (_, address), guests() as all_bots:
        all_bots.dial(address, "arena_" + "x" * 43)
        with pytest.raises(NotWantedError) as refused:
            await all_bots.tasks[0]
    assert refused.value.what.endswith("does not let this bot play (UNAUTHENTICATED)")
    assert refused.value.do.startswith("log in")


async def test_a_bot_plays_over_tls_and_trusts_no_other_certificate(site: Site) -> None:
    ann = site.user("ann")
    hers = site.bot("ann", "hers")
    good, other = trustme.CA(), trustme.CA()
    issued = good.issue_cert("localhost")
    chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    server = grpc.aio.server(interceptors=[Guard(site.accounts)])
    lobby = site.lobby()
    lobby.register(server)
    credentials = grpc.ssl_server_credentials([(issued.private_key_pem.bytes(), chain)])
    port = server.add_secure_port("localhost:0", credentials)
    await lobby.start()
    await server.start()
    async with guests() as all_bots:
        for authority in (other, good):
            roots = authority.cert_pem.bytes()
            all_bots.visit(Server(f"localhost:{port}", ann, tls=True, roots=roots))
            await until(lambda: all_bots.said)
            assert all_bots.said.pop().startswith("lost" if authority is other else "connected as hers@1")
            if authority is other:
                await all_bots.leave()
        await arrived(lobby, hers)
    await lobby.stop()
    await server.stop(None)
