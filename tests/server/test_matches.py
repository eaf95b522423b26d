from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random
from typing import Any

import grpc
import pytest
from botarena.v1 import api_leaderboards_pb2 as boards_api
from botarena.v1 import api_matches_pb2 as api
from botarena.v1.api_common_pb2 import PageRequest
from botarena.v1.api_leaderboards_pb2_grpc import LeaderboardServiceStub
from botarena.v1.api_matches_pb2_grpc import MatchServiceStub
from botarena.v1.record_pb2 import Evidence

from arena.match.record import seal, unseal
from arena.server.boards import BoardPart
from arena.server.guard import Guard
from arena.server.matches import MatchPart
from arena.server.part import Part
from arena.store.accounts import Accounts
from arena.store.store import Store
from arena.store.stored import StoredMatch, StoredTournament
from tests.server.serving import channel_to, metadata, served
from tests.tournament.made import made_block, made_tournament

OWNERS = ("ann", "bob", None)


@pytest.fixture
def cup(server_store: Store) -> StoredTournament:
    """A tournament that is being played: one block is whole, of another a match is missing; bots failed."""
    made = made_tournament("cup", [("a", "1"), ("b", "1"), ("c", "1")], deals=4)
    bots = tuple(replace(bot, owner=owner) for bot, owner in zip(made.bots, OWNERS, strict=True))
    of = server_store.create(replace(made, bots=bots))
    for block, count in ((0, 3), (1, 2)):
        matches = [_failing(match) for match in made_block(of, block, Random(block + 7))]
        server_store.add(of.id, matches[:count])
    return of


def _failing(match: StoredMatch) -> StoredMatch:
    record = unseal(match.record)
    del record.faults[:]
    for seat in range(3):
        record.faults.add(seat=seat, kind=1, decision=seat)
        record.circumstances.fault_details.append(f"secret of {record.bots[seat].name}")
        record.circumstances.evidence.append(Evidence(stderr=f"words of {record.bots[seat].name}"))
    return replace(match, record=seal(record))


@pytest.fixture
async def channel(server_store: Store, cup: StoredTournament) -> AsyncIterator[Any]:
    guard = Guard(Accounts(server_store))
    parts: list[Part] = [MatchPart(server_store, "server.db"), BoardPart(server_store)]
    async with served(guard, parts) as address, channel_to(address) as opened:
        yield opened


def _token(accounts: Accounts, name: str, *scopes: str) -> Any:
    secret, _ = accounts.create_token(accounts.add_user(name).id, "test", scopes or ("bot:play",))
    return metadata(secret)


@pytest.mark.parametrize(
    ("who", "scopes", "told"),
    [(None, (), ""), ("ann", (), "a"), ("bob", (), "b"), ("eve", (), ""), ("root", ("admin",), "abc")],
)
async def test_why_a_bot_failed_is_for_its_owner_alone(
    channel: Any, accounts: Accounts, who: str | None, scopes: tuple[str, ...], told: str
) -> None:
    shown = () if who is None else _token(accounts, who, *scopes)
    stub = MatchServiceStub(channel)
    answer = await stub.GetMatch(api.GetMatchRequest(match="cup/m0000"), metadata=shown)
    assert sorted(fault.bot for fault in answer.faults) == sorted(told)
    for name in "abc":
        whole = answer.SerializeToString()
        assert (f"secret of {name}".encode() in whole) == (name in told)
        assert (f"words of {name}".encode() in whole) == (name in told)
    if who is not None and told:
        logs = await stub.GetMatchLogs(api.GetMatchLogsRequest(match="cup/m0000"), metadata=shown)
        assert sorted(fault.bot for fault in logs.faults) == sorted(told)


@pytest.mark.parametrize(
    ("who", "bot", "code"),
    [
        (None, "", grpc.StatusCode.UNAUTHENTICATED),
        ("eve", "", grpc.StatusCode.PERMISSION_DENIED),
        ("ann", "b", grpc.StatusCode.PERMISSION_DENIED),
        ("ann", "nobody", grpc.StatusCode.PERMISSION_DENIED),
    ],
)
async def test_logs_of_others_are_refused(
    channel: Any, accounts: Accounts, who: str | None, bot: str, code: grpc.StatusCode
) -> None:
    shown = () if who is None else _token(accounts, who)
    request = api.GetMatchLogsRequest(match="cup/m0000", bot=bot)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await MatchServiceStub(channel).GetMatchLogs(request, metadata=shown)
    assert refused.value.code() is code


async def test_a_deal_that_is_still_played_is_told_to_nobody(
    channel: Any, accounts: Accounts, server_store: Store, cup: StoredTournament
) -> None:
    stub = MatchServiceStub(channel)
    shown = _token(accounts, "root", "admin")
    whole = await stub.GetMatch(api.GetMatchRequest(match="m0001"), metadata=shown)
    half = await stub.GetMatch(api.GetMatchRequest(match="m0003"), metadata=shown)
    assert b"secret" not in whole.public_record
    assert unseal(whole.public_record).deal == 0
    assert not half.HasField("public_record")
    assert half.match.ranks
    request = api.DownloadRecordsRequest(filter=boards_api.MatchFilter(tournaments=["cup"]))
    found = [each.match async for each in stub.DownloadRecords(request, metadata=shown)]
    assert found == ["m0000", "m0001", "m0002"]
    server_store.finish(cup.id)
    found = [each.match async for each in stub.DownloadRecords(request)]
    assert found == ["m0000", "m0001", "m0002", "m0003", "m0004"]


async def test_the_seed_is_told_at_the_end(channel: Any, server_store: Store, cup: StoredTournament) -> None:
    stub = LeaderboardServiceStub(channel)
    before = await stub.GetResult(boards_api.GetResultRequest(tournament="cup"))
    assert cup.seed.hex() not in str(before)
    assert before.tournament.commitment
    assert not before.repeat
    server_store.finish(cup.id)
    after = await stub.GetResult(boards_api.GetResultRequest(tournament="cup"))
    assert after.tournament.seed == cup.seed.hex()
    assert f"--seed {cup.seed.hex()}" in after.repeat


async def test_matches_come_in_pages(channel: Any) -> None:
    stub, token, found = MatchServiceStub(channel), "", []
    while True:
        page = PageRequest(size=2, token=token)
        answer = await stub.ListMatches(api.ListMatchesRequest(tournament="cup", page=page))
        found += [match.match for match in answer.matches]
        token = answer.page.next
        if not token:
            break
    assert found == ["m0000", "m0001", "m0002", "m0003", "m0004"]


async def test_who_watches_is_told_what_is_new(server_store: Store, cup: StoredTournament) -> None:
    part = BoardPart(server_store, look_every_s=0.01)
    async with served(Guard(Accounts(server_store)), [part]) as address, channel_to(address) as opened:
        await part.start()
        watching = LeaderboardServiceStub(opened).WatchLeaderboard(
            boards_api.WatchLeaderboardRequest(tournament="cup")
        )
        first = await watching.read()
        assert first.board.matches == 5
        server_store.add(cup.id, made_block(cup, 2, Random(3)))
        second = await watching.read()
        assert second.board.matches == 8
        watching.cancel()
        await part.stop()
