"""Run a bot: dial the arena that started it and play until the arena hangs up."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from botarena.bot import Bot, Choice, Turn
from botarena.loading import unsearched
from botarena.table import FunctionBot, NewBot, Table

PROTOCOL = 1
MAX_FRAME_BYTES = 16 << 20
_PLAY = "/botarena.v1.BotService/Play"


def run(
    bot: type[Bot] | Callable[[Turn], Choice], *, games: Sequence[str] = (), concurrency: int = 256
) -> None:
    """Play for the arena at `ARENA_ADDR` with the token in `ARENA_TOKEN`, until it hangs up.

    Args:
        bot: a subclass of `Bot`, of which every match gets an instance, or a function that is
            given a turn and returns its choice.
        games: names of the games that the bot plays; empty means any.
        concurrency: how many matches it plays at once.

    Raises:
        SystemExit: with code 2 if it was not started by an arena, 1 if the arena refused it.
    """
    address, token = os.environ.get("ARENA_ADDR"), os.environ.get("ARENA_TOKEN")
    if not address or not token:
        print(
            "error: this bot has no arena to play in\n"
            "why: ARENA_ADDR and ARENA_TOKEN are not set; the arena sets them for the bots that it starts\n"
            f"do: arena play koffer {sys.argv[0]} house:random",
            file=sys.stderr,
        )
        raise SystemExit(2)
    _end_on_sigterm()
    new_bot: NewBot = bot if isinstance(bot, type) else lambda: FunctionBot(bot)
    asyncio.run(_play(address, token, Table(new_bot), games, concurrency))


def _end_on_sigterm() -> None:
    """End within a second of SIGTERM, whatever the bot's own clean-up does, also as process 1."""

    def leave(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0.8)
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, leave)


async def _play(address: str, token: str, table: Table, games: Sequence[str], concurrency: int) -> None:
    # Bots may start processes of their own; gRPC's fork hooks would only disturb them.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    with unsearched():
        import grpc  # costs 60 ms, and whoever only uses the messages does not need it

    from botarena import __version__
    from botarena.v1 import bot_pb2

    limits = [("grpc.max_receive_message_length", MAX_FRAME_BYTES), ("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(address, options=limits) as channel:
        # Frames come as bytes: the table takes them apart.
        play: Any = channel.stream_stream(_PLAY, request_serializer=bot_pb2.FromBot.SerializeToString)
        call = play(metadata=(("authorization", f"Bearer {token}"),))
        hello = bot_pb2.Hello(
            protocol=PROTOCOL,
            sdk="botarena-python",
            sdk_version=__version__,
            games=games,
            concurrency=concurrency,
        )
        try:
            await call.write(bot_pb2.FromBot(hello=hello))
            while isinstance(frame := await call.read(), bytes):
                for answer in table.handle(frame):
                    await call.write(answer)
        except grpc.aio.AioRpcError as error:
            reason = f"{error.code().name}: {error.details()}"
            print(f"error: the arena ended the conversation: {reason}", file=sys.stderr)
            raise SystemExit(1) from None
        except asyncio.InvalidStateError:
            return  # the arena hung up while we wrote
