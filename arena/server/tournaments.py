"""The service of tournaments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_tournaments_pb2_grpc import (
    TournamentServiceServicer,
    add_TournamentServiceServicer_to_server,
)

from arena.errors import UsageError
from arena.rights import Caller
from arena.runs.definition import Definition
from arena.server.background import apart
from arena.server.caller import caller
from arena.server.conducting import Conducting
from arena.server.hosts import LEAGUE, Hosts, Which, definition
from arena.server.terms import terms_of
from arena.store.accounts import Accounts
from arena.store.hosting import OVER, Hosted
from arena.tournament.formats import DEFAULT_FORMAT

EVERY_S = 0.5
"""Those who watch are told something every so many seconds at most."""

_KINDS = ("tournament", "play")
_OWN = ("rounds", "until", "confidence", "tolerance", "gain")
_NOT_OF_PLAY = ("seats", "deals", "format", *_OWN)
_Context = grpc.aio.ServicerContext[Any, Any]


class Tournaments:
    """The part of a server that takes tournaments and tells how they go.

    Args:
        conductor: plays them.
        accounts: knows what their owners may have.
        every_s: how often those who watch are told something at most, in seconds.
    """

    def __init__(self, conductor: Conducting, accounts: Accounts, every_s: float = EVERY_S) -> None:
        self._service = TournamentService(Hosts(conductor, accounts), every_s)

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_TournamentServiceServicer_to_server(self._service, server)

    async def start(self) -> None:
        """Nothing goes on by itself here."""

    async def stop(self) -> None:
        """Nothing goes on by itself here."""


class TournamentService(TournamentServiceServicer):
    """Tournaments, and what leagues have in common with them."""

    def __init__(self, hosts: Hosts, every_s: float) -> None:
        self._hosts = hosts
        self._conductor = hosts.conductor
        self._every_s = every_s

    async def CreateTournament(
        self, request: api.CreateTournamentRequest, context: _Context
    ) -> api.CreateTournamentResponse:
        """A new tournament."""
        hosted = await apart(self._create, caller(), request)
        self._conductor.wake()
        return api.CreateTournamentResponse(tournament=await apart(self._hosts.message, hosted))

    def _create(self, who: Caller, request: api.CreateTournamentRequest) -> Hosted:
        terms = terms_of(request.terms, who, is_league=False, has_seed=bool(request.seed))
        return self._hosts.create(who, _definition(request), terms)

    async def ListTournaments(
        self, request: api.ListTournamentsRequest, context: _Context
    ) -> api.ListTournamentsResponse:
        """Tournaments, in pages."""
        which = Which(request.game, request.states, request.owner, request.kinds or _KINDS)
        found, page = await apart(self._hosts.page, request.page, which)
        return api.ListTournamentsResponse(tournaments=found, page=page)

    async def GetTournament(
        self, request: api.GetTournamentRequest, context: _Context
    ) -> api.GetTournamentResponse:
        """One of them, or a league."""
        hosted = await apart(self._hosts.hosting.hosted, request.name)
        return api.GetTournamentResponse(tournament=await apart(self._hosts.message, hosted))

    async def PauseTournament(
        self, request: api.PauseTournamentRequest, context: _Context
    ) -> api.PauseTournamentResponse:
        """It plays nothing more for now."""
        name = await self._own(request.name)
        return api.PauseTournamentResponse(progress=await self._progress(await self._conductor.pause(name)))

    async def ResumeTournament(
        self, request: api.ResumeTournamentRequest, context: _Context
    ) -> api.ResumeTournamentResponse:
        """It goes on."""
        name = await self._own(request.name)
        return api.ResumeTournamentResponse(progress=await self._progress(await self._conductor.resume(name)))

    async def CancelTournament(
        self, request: api.CancelTournamentRequest, context: _Context
    ) -> api.CancelTournamentResponse:
        """It ends for good."""
        name = await self._own(request.name)
        return api.CancelTournamentResponse(progress=await self._progress(await self._conductor.cancel(name)))

    async def WatchTournament(
        self, request: api.WatchTournamentRequest, context: _Context
    ) -> AsyncIterator[api.WatchTournamentResponse]:
        """How far it is, again and again."""
        hosted = await apart(self._hosts.hosting.hosted, request.name)
        with self._conductor.news.listen(hosted.name) as news:
            # What it was before one listened may be over by now, and nothing would be heard of it.
            hosted = await apart(self._hosts.hosting.hosted, hosted.name)
            yield api.WatchTournamentResponse(progress=await self._progress(hosted))
            while hosted.state not in OVER:
                if await anext(news, None) is None:
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "the server stops; watch it again later")
                hosted = await apart(self._hosts.hosting.hosted, hosted.name)
                yield api.WatchTournamentResponse(progress=await self._progress(hosted))
                await asyncio.sleep(self._every_s)

    async def _own(self, name: str) -> str:
        return (await apart(self._hosts.own, caller(), name)).name

    async def _progress(self, hosted: Hosted) -> api.HostedProgress:
        return await apart(self._hosts.progress, hosted)


def _definition(request: api.CreateTournamentRequest) -> Definition:
    kind = request.kind or _KINDS[0]
    if kind not in _KINDS:
        other = "create a league for that" if kind == LEAGUE else f"use {' or '.join(_KINDS)}"
        raise UsageError("there is no such kind of tournament", "it is none that is played", other)
    asked: dict[str, Any] = {field.name: value for field, value in request.ListFields()}
    if kind == "play" and (beyond := [name for name in _NOT_OF_PLAY if name in asked]):
        raise UsageError(
            f"one table has no {beyond[0]} to choose",
            "all bots sit at it, for as many matches as are asked for",
            "leave that out, or create a tournament",
        )
    own: dict[str, Any] = {name: asked.get(name) for name in _OWN}
    return replace(
        definition(request, kind, request.name, request.format or DEFAULT_FORMAT),
        matches=asked.get("matches"),
        rotate=asked.get("is_rotated", True),
        **own,
    )
