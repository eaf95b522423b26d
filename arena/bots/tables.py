"""Seats bots at tables: the one place where bots that are started, bots that dial in, and the host meet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from arena.bots.gateway import Gateway
from arena.bots.launcher import Launcher, LaunchError
from arena.bots.players import Places, Player, StartedPlayer
from arena.bots.process import Processes, log_name
from arena.bots.reference import BotSpec
from arena.match.host import AbandonedError, Absent, Lane, OverloadError, TableHost
from arena.match.match import Match
from arena.match.spec import MatchSpec
from arena.match.verdicts import MAX_OVERLOADS, MAX_TROUBLES

_TROUBLE_S = 1.0  # seconds after which a bot that the machine could not start is tried again
_RECOVER_S = 10.0  # seconds after which as many matches are in play again as before an overload


class Tables:
    """Plays matches with bots that it starts when they are first needed, and with those that dial in.

    Use it as an asynchronous context manager; at its end no bot that it started is left.

    Args:
        bots: all bots that may be seated, with names of their own.
        logs: folder for their output.
        start_us: how long a bot may take to greet, in microseconds.
        worker: number of this worker.
        in_flight: matches in play at once; what comes beyond them waits.
        launcher: starts the bots.
        host: plays the matches; None: one of its own.
        guests: the remote ones among the bots, by name.
    """

    def __init__(
        self,
        bots: Sequence[BotSpec],
        logs: Path,
        start_us: int,
        worker: int = 0,
        in_flight: int = 64,
        launcher: Launcher | None = None,
        host: TableHost | None = None,
        guests: Mapping[str, Player] | None = None,
    ) -> None:
        launcher = launcher or Processes()
        self._host = host or TableHost(worker)
        self._flow = Flow(in_flight)
        self._gateway = Gateway(self._host)
        self._early: list[asyncio.Task[Lane | Absent]] = []
        self._players: dict[str, Player] = {
            bot.name: StartedPlayer(
                bot, self._host, self._gateway, launcher, logs / log_name(bot.name, worker), start_us
            )
            for bot in bots
            if not bot.is_remote
        }
        self._players |= guests or {}

    async def __aenter__(self) -> Tables:
        return self

    async def __aexit__(self, *_: object) -> None:
        for starting in self._early:
            starting.cancel()
        await asyncio.gather(*self._early, return_exceptions=True)
        self._host.send_all()  # bots are told how their last matches ended
        await asyncio.gather(*(player.stop() for player in self._players.values()))
        await self._gateway.stop()

    def start_all(self) -> None:
        """Start every bot now, since all will be needed, and not only when a match needs it."""
        self._early = [asyncio.create_task(player.lane()) for player in self._players.values()]

    async def play(self, spec: MatchSpec) -> bytes:
        """Play a match to its record, again from the start as often as it is abandoned.

        It waits until fewer matches than the limit are in play. A bot that is killed in it may have been
        killed by the machine (see `Ending.is_doubtful`): once for each bot the match is given up and nobody
        blamed; if the same bot is killed in it again, it crashed.

        Raises:
            OverloadError: the arena was too busy to judge a timeout, each time that it was tried.
            LaunchError: the machine could not start a bot, each time that it was tried.
        """
        players = [self._players[name] for name, _ in spec.bots]
        alone: set[str] = set()
        pardoned: set[str] = set()
        overloads = troubles = 0
        while True:
            async with self._flow:
                try:
                    return await self._play_once(spec, players, alone, pardoned)
                except AbandonedError as abandoned:
                    alone.add(abandoned.bot)
                    if self._players[abandoned.bot].was_killed:
                        pardoned.add(abandoned.bot)
                except OverloadError:
                    overloads += 1
                    self._flow.back_off()
                    if overloads == MAX_OVERLOADS:
                        raise
                except LaunchError:
                    troubles += 1
                    if troubles == MAX_TROUBLES:
                        raise
                    await asyncio.sleep(_TROUBLE_S)

    async def _play_once(
        self, spec: MatchSpec, players: Sequence[Player], alone: set[str], pardoned: set[str]
    ) -> bytes:
        held: list[_Held] = []
        try:
            while (lanes := await _seat(spec, players, alone, held)) is None:
                _release(held)
            for player in players:
                # One that was pardoned plays this match alone, and nothing else that this could hold for.
                player.on_probation = player.name in pardoned
            match = Match(spec)
            record = await self._host.play(match, lanes)
        finally:
            _release(held)
        for seat, player in enumerate(players):
            if match.forfeit_of(seat) is None:
                player.played()
        return record


_Held: TypeAlias = "tuple[Player, Places | None, int]"
"""A bot, and how many of which places of it are taken."""


async def _seat(
    spec: MatchSpec, players: Sequence[Player], alone: set[str], held: list[_Held]
) -> list[Lane | Absent] | None:
    """Wait until all bots are there and have a place; None: one of them is not the one any more that it was.

    Args:
        alone: names of those that play nothing else meanwhile.
        held: what is taken is added to it.
    """
    if missing := [player for player in players if not player.ready]:
        await asyncio.gather(*(player.lane() for player in missing))
    # Always in one order, so that no two matches wait for each other's bots.
    for player in sorted(players, key=lambda player: player.name):
        places = player.places
        held.append((player, places, await places.take(player.name in alone) if places is not None else 0))
    lanes = [await player.lane_for(spec.game.name) for player in players]
    same = all(player.places is places for player, places, _ in held)
    return lanes if same else None


def _release(held: list[_Held]) -> None:
    for _, places, count in held:
        if places is not None:
            places.release(count)
    held.clear()


class Flow:
    """How many matches are in play at once: fewer for a while after the arena was too busy.

    Args:
        most: how many if nothing is amiss.
    """

    def __init__(self, most: int) -> None:
        self._limit = most
        self._playing = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._playing < self._limit:  # nobody waits while there is room
            self._playing += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was admitted and never came
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._playing -= 1
        self._admit()

    def back_off(self) -> None:
        """Halve the limit, and raise it again step by step."""
        less = self._limit // 2
        self._limit -= less
        for step in range(less):
            asyncio.get_running_loop().call_later(_RECOVER_S * (step + 1) / less, self._recover)

    def _recover(self) -> None:
        self._limit += 1
        self._admit()

    def _admit(self) -> None:
        while self._queue and self._playing < self._limit:
            turn = self._queue.popleft()
            if not turn.cancelled():
                self._playing += 1
                turn.set_result(None)
