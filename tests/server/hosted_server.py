"""What hosts tournaments and leagues, with bots that may take part, but nothing that plays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from botarena.v1.api_tournaments_pb2_grpc import LeagueServiceStub, TournamentServiceStub

from arena.rights import BOT_SUBMIT, TOURNAMENT_RUN
from arena.runs.custody import Custody
from arena.server.catalog import Catalog, remote_spec
from arena.server.conducting import Conducting
from arena.server.conductor import Conductor, ConductorLimits
from arena.server.guard import Guard
from arena.server.leagues import Leagues
from arena.server.lobby import Lobby
from arena.server.part import Part
from arena.server.shelf import Shelf
from arena.server.tournaments import Tournaments
from arena.store.accounts import Accounts
from arena.store.hosting import Hosting
from arena.store.roster import ARCHIVE, BUILDING, CHECKING, REMOTE, UPLOADED, NewVersion, Roster
from arena.store.store import Store
from tests.server.serving import PLENTY, channel_to, metadata, served
from tests.server.submitted import code, packed


class Standstill(Conductor):
    """A conductor that was not started: it plays nothing, and counts how often it was woken."""

    def __init__(self, store: Store, data: Path) -> None:
        roster = Roster(store)
        catalog = Catalog(roster, Shelf(roster, data), Custody("none"))
        lobby = Lobby(str(data), Accounts(store), roster)
        super().__init__(store, Hosting(store), catalog, lobby, str(data), ConductorLimits(slots=0))
        self.wakes = 0

    def wake(self) -> None:
        self.wakes += 1


def parts(conductor: Conducting, accounts: Accounts) -> list[Part]:
    """Both services; whoever watches is told everything at once."""
    return [Tournaments(conductor, accounts, every_s=0), Leagues(conductor, accounts)]


def submit(roster: Roster, owner: int, name: str) -> None:
    """Another version of a bot that is started here."""
    kept = packed(code(f"return {len(roster.versions(name)) if _is_there(roster, name) else 0}"))
    new = NewVersion(ARCHIVE, kept.digest, kept.data, len(kept.data))
    version = roster.submit(owner, name, new)[0]
    spec = remote_spec(name, f"{version.number}.0", ("koffer",)).to_json() | {
        "reference": "./here",
        "command": ["python3"],
    }
    roster.set_state(version.id, UPLOADED, BUILDING)
    roster.set_state(version.id, BUILDING, CHECKING, spec=spec)
    roster.finish(version.id, "")


def _is_there(roster: Roster, name: str) -> bool:
    return any(bot.name == name for bot in roster.bots())


class Stage:
    """Ann, bob and an admin, who call, and their bots: `near` ones are started here, `far` ones dial in."""

    def __init__(self, store: Store, data: Path) -> None:
        self.accounts = Accounts(store)
        self.roster = Roster(store)
        self.conductor = Standstill(store, data)
        self.hosting = self.conductor.hosting
        admin = self.accounts.ensure_admin()
        assert admin is not None
        self._tokens = {("admin", ""): admin}
        for name in ("ann", "bob"):
            user = self.accounts.add_user(name).id
            submit(self.roster, user, f"{name}-near")
            for far, mixed in ((f"{name}-far", False), (f"{name}-mixed", True)):
                self.roster.add_bot(user, far, mixed=mixed)
                self.roster.add_version(far, NewVersion(REMOTE, spec=remote_spec(far, "v1", ()).to_json()))
        self._stubs: dict[str, Any] = {}

    def user(self, name: str) -> int:
        return self.accounts.user(name).id

    def _token(self, who: str, scopes: Iterable[str]) -> str:
        if who == "admin":
            return self._tokens[who, ""]
        key = (who, " ".join(sorted(scopes)))
        if key not in self._tokens:
            self._tokens[key] = self.accounts.create_token(self.user(who), "", list(scopes))[0]
        return self._tokens[key]

    def begin(self, who: str, method: str, request: Any, scopes: Iterable[str]) -> Any:
        """A call that goes on."""
        stub = next(stub for stub in self._stubs.values() if hasattr(stub, method))
        return getattr(stub, method)(request, metadata=metadata(self._token(who, scopes)))

    async def call(
        self, who: str, method: str, request: Any, scopes: Iterable[str] = (BOT_SUBMIT, TOURNAMENT_RUN)
    ) -> Any:
        """What somebody is answered."""
        return await self.begin(who, method, request, scopes)

    async def refusal(
        self, who: str, method: str, request: Any, scopes: Iterable[str] = (BOT_SUBMIT, TOURNAMENT_RUN)
    ) -> tuple[str, str]:
        """Name of the code that somebody is refused with, and what he is told; OK if he is not."""
        try:
            await self.begin(who, method, request, scopes)
        except grpc.aio.AioRpcError as refused:
            return refused.code().name, refused.details() or ""
        return "OK", ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Stage]:
        """Served, until the end of the block."""
        guard = Guard(self.accounts, PLENTY)
        async with (
            served(guard, parts(self.conductor, self.accounts)) as address,
            channel_to(address) as channel,
        ):
            self._stubs = {"t": TournamentServiceStub(channel), "l": LeagueServiceStub(channel)}
            yield self
