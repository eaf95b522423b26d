"""The service of bots, as a client sees it: behind the guard, over gRPC, with tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from botarena.v1 import api_bots_pb2 as api
from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub
from botarena.v1.api_common_pb2 import PageRequest

from arena.rights import ADMIN, BOT_SUBMIT
from arena.runs.trial import Trial
from arena.server import checking
from arena.store import roster as states
from arena.store.accounts import Accounts
from arena.store.roster import Roster
from arena.store.store import Store, sqlite_url
from tests.server.catalog_server import serving
from tests.server.submitted import archive, code

GOOD = archive(code(toml='games = ["koffer"]\nversion = "1.0"'))
OTHER = archive(code("return 1", toml='games = ["koffer"]'))


@dataclass
class Client:
    """Somebody who calls."""

    stub: Any
    token: str

    def _metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {self.token}")] if self.token else []

    async def call(self, method: str, request: Any) -> Any:
        return await getattr(self.stub, method)(request, metadata=self._metadata())

    async def submit(self, data: bytes, bot: str = "mybot", **head: Any) -> Any:
        requests = [api.SubmitBotRequest(head=api.SubmissionHead(bot=bot, **head))]
        requests += [api.SubmitBotRequest(chunk=data[at : at + 100]) for at in range(0, len(data), 100)]
        return await self.send("SubmitBot", requests)

    async def send(self, method: str, requests: Iterable[Any]) -> Any:
        return await getattr(self.stub, method)(iter(requests), metadata=self._metadata())

    async def any(self, method: str, request: Any) -> Any:
        if method == "WatchVersion":
            return await self.follow(request.reference)
        send = self.send if isinstance(request, list) else self.call
        return await send(method, request)

    async def follow(self, reference: str) -> list[Any]:
        call = self.stub.WatchVersion(api.WatchVersionRequest(reference=reference), metadata=self._metadata())
        return [news async for news in call]


@dataclass
class World:
    """A server, and who calls it."""

    roster: Roster
    data: Path
    ada: Client
    bob: Client
    admin: Client
    nobody: Client


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(sqlite_url(tmp_path / "arena.db"))
    yield opened
    opened.close()


@pytest.fixture
async def world(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async def passes(bot: object, *_: object) -> Trial:
        return Trial(1, 1, log=["1/1 matches"])

    monkeypatch.setattr(checking, "play_trial", passes)
    accounts, roster = Accounts(store), Roster(store)
    async with (
        serving(store, tmp_path / "data") as address,
        grpc.aio.insecure_channel(address) as channel,
    ):
        stub = BotCatalogServiceStub(channel)

        def client(name: str, scope: str) -> Client:
            return Client(stub, accounts.create_token(accounts.add_user(name).id, "", [scope])[0])

        yield World(
            roster,
            tmp_path / "data",
            client("ada", BOT_SUBMIT),
            client("bob", BOT_SUBMIT),
            client("root2", ADMIN),
            Client(stub, ""),
        )


async def test_a_bot_is_submitted_followed_and_listed(world: World) -> None:
    answer = await world.ada.submit(GOOD, notes="the first")
    assert (answer.version.reference, answer.again) == ("mybot@1", False)
    news = await world.ada.follow("mybot")
    assert news[-1].version.state == api.VERSION_STATE_ACTIVE
    listed = await world.nobody.call("ListBots", api.ListBotsRequest(game="koffer"))
    assert [(bot.name, bot.owner, bot.state, bot.active) for bot in listed.bots] == [
        ("mybot", "ada", "active", 1)
    ]
    got = await world.nobody.call("GetBot", api.GetBotRequest(bot="mybot"))
    assert got.active == got.newest
    assert (got.active.version[:4], got.active.games, got.active.notes) == ("1.0+", ["koffer"], "the first")
    told = await world.ada.call("GetVersion", api.GetVersionRequest(reference="mybot"))
    assert told.check_log == "1/1 matches\n"


async def test_the_same_content_once_more_is_the_same_submission(world: World) -> None:
    first = await world.ada.submit(GOOD)
    again = await world.ada.submit(GOOD)
    assert (again.version.reference, again.again) == (first.version.reference, True)
    with pytest.raises(grpc.aio.AioRpcError) as broken:
        await world.ada.send("SubmitBot", [api.SubmitBotRequest(head=api.SubmissionHead(bot="x"))])
    assert broken.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert [bot.name for bot in world.roster.bots()] == ["mybot"]


async def test_versions_are_had_back_disabled_and_barred(world: World) -> None:
    for data in (GOOD, OTHER):
        await world.ada.submit(data)
        await world.ada.follow("mybot")
    back = await world.ada.call("ActivateVersion", api.ActivateVersionRequest(reference="mybot"))
    assert back.version.reference == "mybot@1"
    await world.ada.call("DisableVersion", api.DisableVersionRequest(reference="mybot@1", reason="slow"))
    assert world.roster.bot("mybot").active is None
    enabled = await world.ada.call("EnableVersion", api.EnableVersionRequest(reference="mybot@1"))
    assert enabled.version.state == api.VERSION_STATE_SUPERSEDED
    await world.admin.call("DisableVersion", api.DisableVersionRequest(reference="mybot@2"))
    assert world.roster.version("mybot", 2).state == states.BARRED
    with pytest.raises(grpc.aio.AioRpcError, match="barred"):
        await world.ada.call("EnableVersion", api.EnableVersionRequest(reference="mybot@2"))
    listed = await world.ada.call(
        "ListVersions", api.ListVersionsRequest(bot="mybot", page=PageRequest(size=1))
    )
    rest = await world.ada.call(
        "ListVersions", api.ListVersionsRequest(bot="mybot", page=PageRequest(token=listed.page.next))
    )
    assert [version.number for version in (*listed.versions, *rest.versions)] == [2, 1]
    assert rest.page.next == ""


async def test_a_bot_that_dials_in(world: World) -> None:
    request = api.RegisterRemoteBotRequest(bot="far", version="v1", games=["kotki"], mixed=True)
    first = await world.ada.call("RegisterRemoteBot", request)
    assert (first.version.kind, first.version.state) == (api.VERSION_KIND_REMOTE, api.VERSION_STATE_ACTIVE)
    again = await world.ada.call("RegisterRemoteBot", request)
    request.version = "v2"
    second = await world.ada.call("RegisterRemoteBot", request)
    assert [again.version.number, second.version.number] == [1, 2]
    assert world.roster.bot("far").mixed
    updated = await world.ada.call("UpdateBot", api.UpdateBotRequest(bot="far", disabled=True, mixed=False))
    assert (updated.bot.state, updated.bot.mixed) == ("disabled", False)
    with pytest.raises(grpc.aio.AioRpcError, match="dials in by itself"):
        await world.ada.submit(GOOD, "far")


CODES = grpc.StatusCode


@pytest.mark.parametrize(
    ("bot", "data", "head", "code", "why"),
    [
        ("no name", GOOD, {}, CODES.INVALID_ARGUMENT, "ASCII"),
        ("b\u043et", GOOD, {}, CODES.INVALID_ARGUMENT, "ASCII"),
        ("greedy", GOOD, {}, CODES.ALREADY_EXISTS, "belongs to the arena"),
        ("gr33dy", b"", {"notes": "a\nb"}, CODES.INVALID_ARGUMENT, ""),
        ("bobs", GOOD, {}, CODES.PERMISSION_DENIED, "its owner"),
        ("B0BS", GOOD, {}, CODES.ALREADY_EXISTS, "looks like it"),
        ("mine", GOOD, {"notes": "x" * 1001}, CODES.INVALID_ARGUMENT, "1000 characters"),
        ("mine", GOOD, {"size": 1 << 31}, CODES.INVALID_ARGUMENT, "larger than"),
        ("mine", b"x" * 200_000, {}, CODES.INVALID_ARGUMENT, "no archive"),
        ("mine", GOOD[:200], {}, CODES.INVALID_ARGUMENT, "cut off"),
    ],
)
async def test_what_is_refused_leaves_nothing(
    world: World, bot: str, data: bytes, head: dict[str, Any], code: grpc.StatusCode, why: str
) -> None:
    await world.bob.submit(OTHER, "bobs")
    await world.bob.follow("bobs")
    before = sorted(world.data.rglob("*"))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.ada.submit(data, bot, **head)
    assert refused.value.code() == code
    assert why in (refused.value.details() or "")
    assert [each.name for each in world.roster.bots()] == ["bobs"]
    assert sorted(world.data.rglob("*")) == before


FOREIGN = {
    "SubmitBot": [api.SubmitBotRequest(head=api.SubmissionHead(bot="mybot"))],
    "SubmitImage": [api.SubmitImageRequest(head=api.ImageHead(submission=api.SubmissionHead(bot="mybot")))],
    "RegisterRemoteBot": api.RegisterRemoteBotRequest(bot="mybot"),
    "UpdateBot": api.UpdateBotRequest(bot="mybot", disabled=True),
    "ActivateVersion": api.ActivateVersionRequest(reference="mybot@1"),
    "DisableVersion": api.DisableVersionRequest(reference="mybot@1"),
    "EnableVersion": api.EnableVersionRequest(reference="mybot@1"),
    "WatchVersion": api.WatchVersionRequest(reference="mybot@1"),
}


async def test_nobody_changes_or_follows_what_is_anothers(world: World) -> None:
    await world.ada.submit(GOOD)
    await world.ada.follow("mybot")
    for method, request in FOREIGN.items():
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await world.bob.any(method, request)
        assert refused.value.code() == CODES.PERMISSION_DENIED, method
    told = await world.bob.call("GetVersion", api.GetVersionRequest(reference="mybot@1"))
    assert not told.HasField("check_log")
    told = await world.admin.call("GetVersion", api.GetVersionRequest(reference="mybot@1"))
    assert told.HasField("check_log")


async def test_why_a_version_failed_is_its_owners_to_know(world: World) -> None:
    await world.ada.submit(archive(code(toml='image = "x"')))
    await world.ada.follow("mybot")
    for client, knows in ((world.ada, True), (world.admin, True), (world.bob, False), (world.nobody, False)):
        told = await client.call("GetVersion", api.GetVersionRequest(reference="mybot@1"))
        assert told.version.state == api.VERSION_STATE_FAILED
        assert bool(told.version.reason) == told.HasField("build_log") == knows


async def test_an_image_is_taken_from_the_engine_for_organisers_alone(world: World) -> None:
    head = api.ImageHead(submission=api.SubmissionHead(bot="mine"), image="botarena/python:trixie")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.ada.send("SubmitImage", [api.SubmitImageRequest(head=head)])
    assert refused.value.code() == CODES.PERMISSION_DENIED
    assert "send the image itself" in (refused.value.details() or "")


async def test_few_may_be_sent_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.server.submissions._EACH_AT_ONCE", 0)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.ada.submit(GOOD)
    assert refused.value.code() == CODES.RESOURCE_EXHAUSTED


async def test_whoever_sends_nothing_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.server.submissions._PATIENCE_S", 0.01)
    call = world.ada.stub.SubmitBot(metadata=world.ada._metadata())
    await call.write(api.SubmitBotRequest(head=api.SubmissionHead(bot="mine")))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    assert refused.value.code() == CODES.RESOURCE_EXHAUSTED


async def test_whoever_breaks_off_leaves_nothing_and_may_send_it_again(world: World) -> None:
    for _ in range(3):
        call = world.ada.stub.SubmitBot(metadata=world.ada._metadata())
        await call.write(api.SubmitBotRequest(head=api.SubmissionHead(bot="mybot")))
        await call.write(api.SubmitBotRequest(chunk=GOOD[:100]))
        call.cancel()
    assert world.roster.bots() == []
    sent = None
    while sent is None:  # until the server has noticed
        with suppress(grpc.aio.AioRpcError):
            sent = await world.ada.submit(GOOD)
    assert sent.version.reference == "mybot@1"
