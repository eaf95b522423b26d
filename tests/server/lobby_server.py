"""A server with a lobby and nothing else, and bots that dial it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
from botarena import Bot, Turn
from botarena.remote import Server, Visit
from botarena.table import Table
from botarena.v1.bot_pb2 import FromArena, FromBot, Hello
from botarena.v1.bot_pb2_grpc import BotServiceStub
from botarena.v1.record_pb2 import MatchRecord

from arena.bots.reference import BotSpec, resolve
from arena.match.record import identity
from arena.rights import BOT_PLAY, BOT_SUBMIT
from arena.runs.definition import Definition, bots_of
from arena.server.catalog import remote_spec
from arena.server.guard import Guard
from arena.server.lobby import Lobby
from arena.store.accounts import Accounts
from arena.store.roster import REMOTE, NewVersion, Roster, RosterVersion
from arena.store.store import Store
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.runner import Run
from tests.server.serving import channel_to, metadata, served


class Dice(Bot):
    """Plays by the seed of its seat alone, so that it repeats itself."""

    def choose(self, turn: Turn) -> int:
        return turn.random.randrange(len(turn.actions))


class Site:
    """The database of a server, and what runs on it."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.accounts = Accounts(store)
        self.roster = Roster(store)
        self.db = str(folder / "arena.db")
        self.token_ids: dict[str, int] = {}

    def user(self, name: str, scopes: Iterable[str] = (BOT_PLAY, BOT_SUBMIT)) -> str:
        """A token of a user, who is made if need be."""
        try:
            number = self.accounts.user(name).id
        except Exception:
            number = self.accounts.add_user(name).id
        secret, token = self.accounts.create_token(number, "test", tuple(scopes))
        self.token_ids[secret] = token.id
        return secret

    def bot(self, owner: str, name: str, text: str = "remote") -> RosterVersion:
        """A version of a remote bot."""
        new = NewVersion(REMOTE, spec=remote_spec(name, text, ()).to_json())
        return self.roster.submit(self.accounts.user(owner).id, name, new)[0]

    def lobby(self, **settings: float) -> Lobby:
        return Lobby(self.db, self.accounts, self.roster, **settings)

    def cup(
        self, *bots: RosterVersion | str, deals: int = 4, name: str = "cup", **more: Any
    ) -> StoredTournament:
        """A tournament of bots: versions of remote ones, and references of others."""
        names = ["house:first", "house:random", "house:greedy", "house:search"][: len(bots)]
        clock = {key: more.pop(key) for key in ("move_us", "start_us") if key in more}
        more = {"seats": len(bots), "seed": "1", **more}
        made = Definition("koffer", names, deals=deals, name=name, **more).build()
        return self.store.create(replace(made, bots=tuple(map(_stored, bots)), **clock))


def _stored(bot: RosterVersion | str) -> StoredBot:
    if isinstance(bot, str):
        spec = resolve(bot)
        return StoredBot(spec.name, spec.version, spec.to_json())
    spec = replace(BotSpec.from_json(bot.spec), name=bot.reference)
    return StoredBot(bot.reference, spec.version, spec.to_json(), owner=bot.owner, entry=bot.id)


@asynccontextmanager
async def open_lobby(site: Site, lobby: Lobby | None = None) -> AsyncIterator[tuple[Lobby, str]]:
    """A lobby that serves, and its address."""
    lobby = lobby or site.lobby()
    await lobby.start()
    async with served(Guard(site.accounts), [lobby]) as address:
        try:
            yield lobby, address
        finally:
            await lobby.stop()


class Guests:
    """SDK bots as tasks, ended at the end."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def dial(
        self, address: str, token: str, name: str = "", bot: type[Bot] = Dice, at_once: int = 64
    ) -> None:
        """Let a bot dial a server on this machine."""
        self.visit(Server(address, token, name), bot, at_once)

    def visit(self, server: Server, bot: type[Bot] = Dice, at_once: int = 64) -> None:
        """Let a bot dial a server."""
        visit = Visit(server, lambda: Table(bot), (), at_once, tell=self.said.append)
        self.tasks.append(asyncio.create_task(visit.go_on()))

    async def leave(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@asynccontextmanager
async def guests() -> AsyncIterator[Guests]:
    made = Guests()
    try:
        yield made
    finally:
        await made.leave()


async def arrived(lobby: Lobby, *versions: RosterVersion) -> None:
    """Wait until these are connected, and nobody else."""
    present = lobby.present()
    async with asyncio.timeout(30):
        while present != {version.id for version in versions}:
            present = await lobby.wait_for_change(present)


async def play(site: Site, lobby: Lobby, tournament: StoredTournament) -> list[MatchRecord]:
    """Play a tournament to its end."""
    run, records = Run(site.store, tournament), []
    async for some in run.play(lobby.executor(tournament, bots_of(tournament))):
        records += some
    assert not run.failures
    return sorted(records, key=lambda record: (record.deal, record.seating))


def identities(site: Site, cup: str) -> list[bytes]:
    """What the matches of a tournament were, in order."""
    stored = site.store.matches(site.store.tournament(cup).id)
    return [
        identity(match.record) for match in sorted(stored, key=lambda match: (match.block, match.seating))
    ]


class Caller:
    """A bot that is written frame by frame."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def hello(self, **fields: Any) -> FromArena | None:
        with suppress(grpc.aio.AioRpcError):  # it may be refused before
            await self.call.write(FromBot(hello=Hello(**{"protocol": 1, "concurrency": 8, **fields})))
        return await self.read()

    async def read(self) -> FromArena | None:
        """The next frame; None: the stream is over."""
        try:
            frame = await self.call.read()
        except grpc.aio.AioRpcError:
            return None
        return frame if isinstance(frame, FromArena) else None

    async def status(self) -> str:
        """How the stream ended."""
        while await self.read() is not None:
            pass
        return str((await self.call.code()).name)


@asynccontextmanager
async def caller(address: str, token: str | None) -> AsyncIterator[Caller]:
    async with channel_to(address) as channel:
        call: Any = BotServiceStub(channel).Play(metadata=metadata(token))
        yield Caller(call)
        call.cancel()
