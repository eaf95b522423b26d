"""The service of leagues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import grpc
from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_tournaments_pb2_grpc import LeagueServiceServicer, add_LeagueServiceServicer_to_server

from arena.bots.reference import BotSpec
from arena.errors import NotAllowedError, NotFoundError, StateError, TooMuchError, UsageError
from arena.rights import BOT_SUBMIT, TOURNAMENT_RUN, Caller
from arena.runs.leagues import active, base, entrant, seat
from arena.server.background import apart
from arena.server.caller import caller
from arena.server.catalog import split_reference
from arena.server.conducting import Conducting
from arena.server.hosts import LEAGUE, Hosts, Which, definition
from arena.server.lineup import MOST_BOTS, check_remote, too_many
from arena.server.terms import terms_of
from arena.store.accounts import Accounts
from arena.store.hosting import OVER, Hosted, NotHostedError
from arena.store.roster import RosterBot
from arena.store.stored import StoredTournament
from arena.tournament.formats import LADDER

MOST_DEALS = 100
"""Deals at each table of a round: between rounds others get their turn, and bots come and go."""

_HOUSE = "house:"
_Context = grpc.aio.ServicerContext[Any, Any]


class Leagues:
    """The part of a server that takes leagues, and bots into them.

    Args:
        conductor: plays them.
        accounts: knows what their owners may have.
    """

    def __init__(self, conductor: Conducting, accounts: Accounts) -> None:
        self._service = LeagueService(Hosts(conductor, accounts))

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_LeagueServiceServicer_to_server(self._service, server)

    async def start(self) -> None:
        """Nothing goes on by itself here."""

    async def stop(self) -> None:
        """Nothing goes on by itself here."""


class LeagueService(LeagueServiceServicer):
    """Leagues, and who takes part."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._hosting = hosts.hosting
        self._store = hosts.conductor.store
        self._catalog = hosts.conductor.catalog
        self._roster = hosts.conductor.catalog.roster
        self._changing = asyncio.Lock()  # of two who enter the same bot, one does it

    async def CreateLeague(
        self, request: api.CreateLeagueRequest, context: _Context
    ) -> api.CreateLeagueResponse:
        """A new league."""
        hosted = await apart(self._create, caller(), request)
        self._hosts.conductor.wake()
        return api.CreateLeagueResponse(league=await apart(self._hosts.message, hosted))

    def _create(self, who: Caller, request: api.CreateLeagueRequest) -> Hosted:
        terms = terms_of(request.terms, who, is_league=True, has_seed=bool(request.seed))
        asked = definition(request, LEAGUE, request.name, LADDER)
        asked = replace(asked, deals=1 if asked.deals is None else asked.deals)
        _check_begin(request, asked.deals or 0)
        members = [self._roster.bot(name) for name in _submitted(request.bots)]
        for bot in members:
            _check_own(who, bot)
        return self._hosts.create(who, asked, terms, [bot.id for bot in members])

    async def EnterLeague(
        self, request: api.EnterLeagueRequest, context: _Context
    ) -> api.EnterLeagueResponse:
        """A bot takes part."""
        async with self._changing:
            message = await apart(self._enter, caller(), request.league, request.bot)
        self._hosts.conductor.wake()
        return api.EnterLeagueResponse(message=message)

    def _enter(self, who: Caller, league: str, reference: str) -> str:
        hosted = self._league(league)
        if hosted.state in OVER:
            raise StateError(
                f"nobody enters {hosted.name} any more", f"it is {hosted.state}", "choose another"
            )
        if reference.startswith(_HOUSE):
            _check_organiser(who, hosted)
            return self._enter_house(self._store.tournament(hosted.name), reference)
        bot = self._roster.bot(_name_of(reference))
        _check_may_enter(who, hosted, bot)
        version = self._catalog.entrant(bot.name, hosted.game)
        check_remote(version, hosted.terms, self._roster)
        members = self._hosting.members(hosted.tournament)
        if bot.name not in members and len(members) >= MOST_BOTS:
            raise too_many()
        self._hosting.enter(hosted.tournament, bot.id)
        return f"{bot.name} plays from the next round on"

    def _enter_house(self, league: StoredTournament, reference: str) -> str:
        spec = BotSpec.from_json(self._catalog.entrant(reference, league.game).spec)
        playing = [league.bots[index] for index in active(league)]
        if len(playing) >= MOST_BOTS:
            raise too_many()
        if not any(base(bot.name) == spec.name and bot.version == spec.version for bot in playing):
            seat(self._store, league, entrant(league, spec))
        return f"{spec.name} plays from the next round on"

    async def LeaveLeague(
        self, request: api.LeaveLeagueRequest, context: _Context
    ) -> api.LeaveLeagueResponse:
        """A bot takes part no longer."""
        async with self._changing:
            message = await apart(self._leave, caller(), request.league, request.bot)
        self._hosts.conductor.wake()
        return api.LeaveLeagueResponse(message=message)

    def _leave(self, who: Caller, league: str, reference: str) -> str:
        hosted = self._league(league)
        stored = self._store.tournament(hosted.name)
        if reference.startswith(_HOUSE):
            _check_organiser(who, hosted)
            name = reference.removeprefix(_HOUSE)
            self._leave_house(stored, name)
        else:
            bot = self._roster.bot(split_reference(reference)[0])
            _check_may_leave(who, hosted, bot)
            name = bot.name
            # Whoever asks again, since the answer was lost, is answered the same.
            was_there = any(base(had.name) == name and had.entry is not None for had in stored.bots)
            if not self._hosting.leave(hosted.tournament, bot.id) and not was_there:
                raise self._not_there(stored, name)
        return f"{name} retires; its games stay"

    def _leave_house(self, league: StoredTournament, name: str) -> None:
        found = [
            index
            for index, bot in enumerate(league.bots)
            if bot.entry is None and name in (bot.name, base(bot.name))
        ]
        if not found:
            raise self._not_there(league, name)
        for index in found:
            self._store.retire_bot(league.id, index)

    def _not_there(self, league: StoredTournament, name: str) -> NotFoundError:
        return NotFoundError(
            f"{name} does not play in {league.name}",
            "it has not entered it",
            f"see who does: arena league status {league.name}",
        )

    async def GetLeague(self, request: api.GetLeagueRequest, context: _Context) -> api.GetLeagueResponse:
        """One of them."""
        return await apart(self._get, request.name)

    def _get(self, name: str) -> api.GetLeagueResponse:
        hosted = self._league(name)
        members = self._hosting.members(hosted.tournament)
        return api.GetLeagueResponse(league=self._hosts.message(hosted), members=members)

    async def ListLeagues(
        self, request: api.ListLeaguesRequest, context: _Context
    ) -> api.ListLeaguesResponse:
        """Leagues, in pages."""
        which = Which(request.game, request.states, request.owner, [LEAGUE])
        found, page = await apart(self._hosts.page, request.page, which)
        return api.ListLeaguesResponse(leagues=found, page=page)

    def _league(self, name: str) -> Hosted:
        hosted = self._hosting.hosted(name)
        if hosted.kind != LEAGUE:
            raise NotHostedError(
                f"{hosted.name} is no league",
                f"it is a {hosted.kind}",
                "see what there is: arena tournament list",
            )
        return hosted


def _check_begin(request: api.CreateLeagueRequest, deals: int) -> None:
    """Whether a league can begin with what is asked for."""
    if not request.name:
        raise UsageError("the league has no name", "it is entered by it", "give it one")
    if deals > MOST_DEALS:
        raise TooMuchError(
            f"{deals} deals at a table are too many", f"a round may have {MOST_DEALS}", "ask for fewer"
        )
    if len(set(request.bots)) < len(request.bots):
        raise UsageError("a bot is named twice", "a league has each once", "name it once")
    if request.seats > len(request.bots):
        raise UsageError(
            f"{request.name} cannot begin",
            f"{len(request.bots)} bots are too few for {request.seats} seats",
            "name more, such as house:random",
        )


def _submitted(references: Sequence[str]) -> list[str]:
    """Names of those that are not house bots."""
    return [_name_of(reference) for reference in references if not reference.startswith(_HOUSE)]


def _name_of(reference: str) -> str:
    """The bot that enters a league.

    Raises:
        UsageError: it is one version, and not a bot.
    """
    name, number = split_reference(reference)
    if number is not None:
        raise UsageError(
            f"{reference} cannot enter a league",
            "bots enter, and whatever version of them is active plays",
            f"name the bot: {name}",
        )
    return name


def _check_own(who: Caller, bot: RosterBot) -> None:
    if bot.owner_id != who.user and not who.is_admin:
        raise NotAllowedError(
            f"{bot.name} is not yours",
            "its owner, or an admin, alone lets it play in a league",
            "let its owner enter it into an open league: arena league add NAME BOT",
        )


def _check_may_enter(who: Caller, league: Hosted, bot: RosterBot) -> None:
    _check_own(who, bot)
    if league.owner_id == who.user:
        _check_scope(who, TOURNAMENT_RUN, BOT_SUBMIT)
    elif league.terms.is_open or who.is_admin:
        _check_scope(who, BOT_SUBMIT)
    else:
        raise NotAllowedError(
            f"{league.name} is not open", "only its owner lets bots take part", f"ask {league.owner}"
        )


def _check_may_leave(who: Caller, league: Hosted, bot: RosterBot) -> None:
    if league.owner_id == who.user:
        _check_scope(who, TOURNAMENT_RUN, *([BOT_SUBMIT] if bot.owner_id == who.user else []))
    else:
        _check_own(who, bot)
        _check_scope(who, BOT_SUBMIT)


def _check_organiser(who: Caller, league: Hosted) -> None:
    """Whether somebody may decide about house bots in a league."""
    if league.owner_id != who.user and not who.is_admin:
        raise NotAllowedError(
            f"{league.name} is not yours", "only its owner, or an admin, decides about house bots", "ask them"
        )
    _check_scope(who, TOURNAMENT_RUN)


def _check_scope(who: Caller, *scopes: str) -> None:
    if not any(who.may(scope) for scope in scopes):
        raise NotAllowedError(
            "the token does not allow this",
            f"it needs the scope {' or '.join(scopes)}",
            f"use another token: arena token create --scope {scopes[0]}",
        )
