"""The lobby: where remote bots dial in, wait and are seated from."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections import defaultdict
from collections.abc import Sequence
from functools import partial

import grpc
from botarena.v1.bot_pb2 import Hello

from arena.bots.conversation import (
    Context,
    ProtocolError,
    RefusedError,
    Silence,
    first_hello,
    play_handlers,
    shown_token,
)
from arena.bots.flood import Refusals
from arena.bots.reference import BotSpec
from arena.bots.sandbox import launcher_for, strictest
from arena.bots.tables import Tables
from arena.bots.visitors import GRACE_S, Newcomer, Visitor, Visitors
from arena.errors import (
    NotAllowedError,
    NotFoundError,
    StateError,
    TakenError,
    UnknownCallerError,
    UsageError,
)
from arena.match.host import TableHost
from arena.rights import Caller
from arena.runs.custody import check_hidden
from arena.runs.in_process import InProcess
from arena.runs.names import logs_folder
from arena.server.background import apart
from arena.server.entries import Entries, check_room
from arena.server.statuses import code_of
from arena.store.accounts import Accounts
from arena.store.roster import Roster
from arena.store.stored import StoredTournament
from arena.tournament.runner import Executor

RECHECK_S = 10.0
"""Every so many seconds it is looked whether those who are connected still may be."""
HELLO_S = 10.0
"""Whoever has said no hello for so many seconds is refused."""
IN_FLIGHT = 64
"""Most matches of a tournament in play at once in the server's own process."""

log = logging.getLogger(__name__)


class Lobby:
    """Part of a server: remote bots, and the tables that they play at.

    Args:
        db: the database, beside which the logs of bots go that are started for the same tables.
        accounts: knows whose a token is.
        roster: knows the bots.
        grace_s: how long after a break a conversation may be resumed, in seconds.
        recheck_s: how often it is looked whether tokens and bots still hold, in seconds.
        hello_s: how long a stream may say nothing, in seconds.
    """

    def __init__(
        self,
        db: str,
        accounts: Accounts,
        roster: Roster,
        grace_s: float = GRACE_S,
        recheck_s: float = RECHECK_S,
        hello_s: float = HELLO_S,
    ) -> None:
        self._db = db
        self._entries = Entries(accounts, roster)
        self._grace_s = grace_s
        self._recheck_s = recheck_s
        self._hello_s = hello_s
        self._refusals = Refusals()
        self._silence: defaultdict[int, Silence] = defaultdict(Silence)
        self._shown: dict[str, _Shown] = {}
        self._visitors: Visitors | None = None
        self._checking: asyncio.Task[None] | None = None

    # as a part

    def register(self, server: grpc.aio.Server) -> None:
        """Offer BotService."""
        server.add_generic_rpc_handlers((play_handlers(self._play),))

    async def start(self) -> None:
        """Open the tables."""
        self._visitors = Visitors(TableHost(), self._grace_s)
        self._checking = asyncio.create_task(self._check_again_and_again())

    async def stop(self) -> None:
        """Say goodbye to all bots: they come back when there is a server again."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)
        if self._visitors is not None:
            await self._visitors.close("closing")

    # for those who make tournaments

    def present(self) -> frozenset[int]:
        """Row numbers of the versions of remote bots that are connected."""
        return self._there.present()

    async def wait_for_change(self, known: frozenset[int]) -> frozenset[int]:
        """Wait until others are connected than those that are known of; who they are."""
        while (present := self.present()) == known:
            await self._there.changes.wait()
        return present

    def executor(
        self, tournament: StoredTournament, bots: Sequence[BotSpec], in_flight: int = IN_FLIGHT
    ) -> Executor:
        """What plays a tournament in this process, with remote bots on their streams and others started.

        It is to be run on the server's event loop.

        Args:
            tournament: as stored; the entries of its remote bots are the row numbers of their versions.
            bots: its bots, as they are started.
            in_flight: matches in play at once.

        Raises:
            ArenaError: a remote bot would sit at a table twice, or a bot be shown what it must not see.
        """
        remote = {bot.name for bot in bots if bot.is_remote}
        seated = [(bot.name, _entry(bot.entry, bot.name)) for bot in tournament.bots if bot.name in remote]
        if len({entry for _, entry in seated}) < len(seated):
            raise UsageError(
                f"{tournament.name} cannot be played",
                "a remote bot has one connection, and cannot sit in several seats",
                "name each remote bot once, and enough of them for the seats",
            )
        check_hidden(tournament, self._db)
        logs = logs_folder(self._db, tournament.name).resolve()
        logs.mkdir(parents=True, exist_ok=True)
        started = [bot for bot in bots if not bot.is_remote]
        launcher = launcher_for(strictest(started)) if started else launcher_for("none")
        there, start_us = self._there, tournament.start_us
        players = {name: there.player(name, entry, start_us) for name, entry in seated}
        tables = partial(Tables, started, logs, start_us, 0, in_flight, launcher, there.host, players)
        return InProcess(tables, launcher, 2 * in_flight)

    @property
    def _there(self) -> Visitors:
        if self._visitors is None:
            raise StateError("remote bots cannot play", "the server is not started", "try again")
        return self._visitors

    # what dials in

    async def _play(self, _requests: object, context: Context) -> None:
        await self._there.attend("the lobby", self._refusals, self._find, context)

    async def _find(self, context: Context) -> Newcomer | None:
        """Whose stream it is."""
        token = shown_token(context)
        if token is None:
            raise UnknownCallerError(
                "a bot needs a token",
                "the stream carried none",
                "give one: --token-file FILE, or ARENA_TOKEN",
            )
        who = await apart(self._entries.caller, token)
        hello = await self._hello(who, context)
        if hello is None:
            return None
        if hello.session:
            bot, visitor = self._resumed(who, hello.session)
            await apart(self._entries.check, token, visitor.entry)
        else:
            bot, visitor = await self._arrived(who, hello)
        shown = _Shown(visitor, who.user, token)
        return Newcomer(visitor, hello, partial(self._shown.__setitem__, bot, shown))

    def _resumed(self, who: Caller, session: str) -> tuple[str, Visitor]:
        """The bot that goes on with a conversation, whichever version is the newest by now."""
        for bot, shown in self._shown.items():
            guest = shown.visitor.guest
            if guest is None or shown.user != who.user:
                continue
            if hmac.compare_digest(guest.session.encode(), session.encode()):
                return bot, shown.visitor
        raise RefusedError(
            grpc.StatusCode.FAILED_PRECONDITION,
            "this conversation is over: begin another one by a hello without a session",
        )

    async def _arrived(self, who: Caller, hello: Hello) -> tuple[str, Visitor]:
        """The bot that begins a conversation, and its version, which may have to be made."""
        bot = await apart(self._entries.bot, who, hello)
        self._check_alone(bot)
        most = await apart(self._entries.most, who)
        others = [bot for bot, shown in self._shown.items() if shown.user == who.user and shown.is_on]
        check_room(who, sum(other != bot for other in others), most)
        version = await apart(self._entries.version, who, bot, hello)
        # From here on nothing waits until it is let in: of two streams of one bot one comes first.
        self._check_alone(bot)
        shown = self._shown.get(bot)
        if shown is not None and shown.visitor.entry != version.id:
            why = RefusedError(grpc.StatusCode.ABORTED, f"{version.reference} has come in its place")
            self._there.dismiss(shown.visitor, why, "another version of it came in its place")
        return bot, self._there.visitor(version.id, version.reference)

    async def _hello(self, who: Caller, context: Context) -> Hello | None:
        """What it says first; None: it hung up before."""
        silence = self._silence[who.user]
        try:
            data = await silence.first_frame(context, self._hello_s)
            return first_hello(data) if data is not None else None
        except ProtocolError as error:
            raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from None
        finally:
            if not silence.streams:
                self._silence.pop(who.user, None)

    def _check_alone(self, bot: str) -> None:
        shown = self._shown.get(bot)
        if shown is not None and shown.visitor.present:
            raise TakenError(
                f"{bot} is connected already",
                f"as {shown.visitor.name}, and one stream of a bot is all there can be",
                "end the other one, or give this one another name: --name NAME",
            )

    # whether they still may

    async def recheck(self) -> None:
        """Look whether those who are connected still may be: a token was revoked, or a bot disabled."""
        for name, shown in list(self._shown.items()):
            if not shown.is_on:
                if self._shown.get(name) is shown:
                    del self._shown[name]
                continue
            try:
                await apart(self._entries.check, shown.token, shown.visitor.entry)
            except (NotAllowedError, NotFoundError, StateError) as error:
                log.info("%s may play no more: %s", shown.visitor.name, error.why)
                why = RefusedError(code_of(error), str(error))
                self._there.dismiss(shown.visitor, why, f"it may play no more: {error.why}")

    async def _check_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(self._recheck_s)
            try:
                await self.recheck()
            except Exception:  # nobody is sent away since our database is
                log.exception("cannot tell whether those who are connected still may be")


class _Shown:
    """What a bot showed when it was let in. Never to be logged."""

    __slots__ = ("token", "user", "visitor")

    def __init__(self, visitor: Visitor, user: int, token: str) -> None:
        self.visitor = visitor
        self.user = user
        self.token = token

    @property
    def is_on(self) -> bool:
        """Whether it has a conversation."""
        return self.visitor.guest is not None


def _entry(entry: int | None, name: str) -> int:
    if entry is None:
        raise UsageError(f"{name} cannot play", "it is remote, and this server does not know it", "submit it")
    return entry
