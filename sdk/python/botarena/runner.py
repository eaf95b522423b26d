"""Run a bot: play for the arena that started it until that hangs up, or dial a server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from types import FrameType
from typing import Any

from botarena.bot import Bot, Choice, Turn
from botarena.loading import unsearched
from botarena.table import FunctionBot, NewBot, Table
from botarena.v1 import bot_pb2

PROTOCOL = 1
MAX_FRAME_BYTES = 16 << 20
FIRST_PAUSE_S = 0.02
"""How long a broken stream is left alone before it is resumed; each further try waits twice as long."""
_PLAY = "/botarena.v1.BotService/Play"
_BROKEN = ("UNAVAILABLE", "CANCELLED", "INTERNAL")  # all else is said by the arena on purpose
OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", MAX_FRAME_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),  # a new stream does not wait for an old connection's back-off
)


def run(
    bot: type[Bot] | Callable[[Turn], Choice],
    *,
    games: Sequence[str] = (),
    concurrency: int = 256,
    version: str = "",
) -> None:
    """Play for the arena at `ARENA_ADDR` with the token in `ARENA_TOKEN`, until it hangs up.

    A bot that no arena started plays on a server if one is named: `python mybot.py --server HOST:PORT`, or
    `ARENA_SERVER` in the environment. `--help` tells the rest.

    Args:
        bot: a subclass of `Bot`, of which every match gets an instance, or a function that is
            given a turn and returns its choice.
        games: names of the games that the bot plays; empty means any.
        concurrency: how many matches it plays at once.
        version: the author's own name for this version of the bot, for a server: versions are rated apart.

    Raises:
        SystemExit: with code 2 if it was not started by an arena, 1 if the arena refused it.
    """
    new_bot: NewBot = bot if isinstance(bot, type) else lambda: FunctionBot(bot)
    address, token = os.environ.get("ARENA_ADDR"), os.environ.get("ARENA_TOKEN")
    if not address or not token:
        from botarena.remote import play_remotely, server_in

        if (server := server_in(sys.argv[1:])) is not None:
            _end_on_sigterm()
            play_remotely(server, new_bot, games, concurrency, version)
            return
        print(
            "error: this bot has no arena to play in\n"
            "why: ARENA_ADDR and ARENA_TOKEN are not set; the arena sets them for the bots that it starts\n"
            f"do: arena play koffer {sys.argv[0]} house:random, or name a server: --server HOST:PORT",
            file=sys.stderr,
        )
        raise SystemExit(2)
    _end_on_sigterm()
    asyncio.run(_play(address, token, Table(new_bot), games, concurrency))


def _end_on_sigterm() -> None:
    """End within a second of SIGTERM, whatever the bot's own clean-up does, also as process 1."""

    def leave(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.8)
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, leave)


async def _play(address: str, token: str, table: Table, games: Sequence[str], concurrency: int) -> None:
    grpc = load_grpc()
    conversation = Conversation(address, token, table, games, concurrency)
    try:
        await conversation.hold()
    except grpc.aio.AioRpcError as error:
        reason = f"{error.code().name}: {error.details()}"
        print(f"error: the arena ended the conversation: {reason}", file=sys.stderr)
        raise SystemExit(1) from None


def load_grpc() -> Any:
    """Load gRPC, which costs 60 ms: whoever only uses the messages does not need it."""
    # Bots may start processes of their own; gRPC's fork hooks would only disturb them.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    with unsearched():
        import grpc
    return grpc


class Conversation:
    """With the arena, over as many streams as it takes: one that breaks is resumed."""

    def __init__(
        self, address: str, token: str, table: Table, games: Sequence[str], concurrency: int
    ) -> None:
        from botarena import __version__

        self._address = address
        self._token = token
        self._table = table
        self._hello = bot_pb2.Hello(
            protocol=PROTOCOL,
            sdk="botarena-python",
            sdk_version=__version__,
            games=games,
            concurrency=concurrency,
        )
        self._grace_s = 0.0
        self._bot = ""
        self._welcomed = False

    async def hold(self) -> None:
        """Play until the arena hangs up.

        Raises:
            grpc.aio.AioRpcError: the arena refused the bot, or is gone.
        """
        until, pause = 0.0, FIRST_PAUSE_S
        while (error := await self._stream()) is not None:
            if self._welcomed:  # then it is this stream that broke
                until, pause = monotonic() + self._grace_s, FIRST_PAUSE_S
            if error.code().name not in _BROKEN or monotonic() + pause > until or not self._is_there():
                raise error
            await asyncio.sleep(pause)
            pause *= 2

    async def _stream(self) -> Any:
        """Play on one stream until it ends: an AioRpcError, or None if the arena had no more to say."""
        import grpc

        self._welcomed = False
        metadata = (("authorization", f"Bearer {self._token}"),)
        async with self._channel() as channel:
            # Frames come as bytes: the table takes them apart.
            play: Any = channel.stream_stream(_PLAY, request_serializer=bot_pb2.FromBot.SerializeToString)
            call = play(metadata=metadata)
            # Its status says how it ended, also where that showed first as a failure to write.
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._converse(call)
            code, trailing = await call.code(), await call.trailing_metadata()
            if code is grpc.StatusCode.OK:
                return None
            return grpc.aio.AioRpcError(code, trailing, trailing, await call.details())

    def _channel(self) -> Any:
        import grpc

        return grpc.aio.insecure_channel(self._address, options=OPTIONS)

    async def _converse(self, call: Any) -> None:
        await call.write(bot_pb2.FromBot(hello=self._hello))
        while isinstance(frame := await call.read(), bytes):
            if not self._welcomed:
                self._note(frame)
            for answer in self._table.handle(frame):
                await call.write(answer)
            self._handled()

    def _handled(self) -> None:
        """A frame was answered."""

    def _is_there(self) -> bool:
        """Whether anybody listens where the arena did; of an arena on another machine it is assumed."""
        if not self._address.startswith("unix:"):
            return True
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self._address.removeprefix("unix:")) == 0

    def _note(self, frame: bytes) -> None:
        """The arena's welcome: how to resume if the stream breaks."""
        welcome = bot_pb2.FromArena.FromString(frame).welcome
        self._welcomed = True
        self._hello.session = welcome.session
        self._grace_s = welcome.grace_ms / 1000
        self._bot = welcome.bot
