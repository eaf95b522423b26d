"""A remote bot without an SDK: takes the first action, and dials again whenever its line breaks."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import grpc
from botarena.v1.bot_pb2 import FromArena, FromBot, Hello, Reply

_PAUSE_S = 0.5
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


@dataclass
class Played:
    """What all bots did together.

    Attributes:
        decisions: that they answered.
        ends: matches that they were told the end of.
        welcomes: times that one was let in.
        refusals: how often one was not, by status.
    """

    decisions: int = 0
    ends: int = 0
    welcomes: int = 0
    refusals: Counter[str] = field(default_factory=Counter)


async def play_on(name: str, address: str, token: str, played: Played, over: asyncio.Event) -> None:
    """Play until it is over.

    Args:
        name: of the bot.
        address: of the server.
        token: its owner's.
        played: takes what comes of it.
        over: set at the end.
    """
    while not over.is_set():
        try:
            await _converse(name, address, token, played)
        except grpc.aio.AioRpcError as error:
            played.refusals[error.code().name] += 1
        await asyncio.sleep(_PAUSE_S)


async def _converse(name: str, address: str, token: str, played: Played) -> None:
    async with grpc.aio.insecure_channel(address, options=_OPTIONS) as channel:
        play = channel.stream_stream(
            "/botarena.v1.BotService/Play",
            request_serializer=FromBot.SerializeToString,
            response_deserializer=FromArena.FromString,
        )
        stream = play(metadata=(("authorization", f"Bearer {token}"),))
        await stream.write(FromBot(hello=Hello(protocol=1, bot=name, concurrency=16)))
        while isinstance(frame := await stream.read(), FromArena):
            played.welcomes += frame.HasField("welcome")
            played.ends += len(frame.ends)
            if frame.decisions:
                played.decisions += len(frame.decisions)
                await stream.write(
                    FromBot(replies=[Reply(decision=asked.id, action=0) for asked in frame.decisions])
                )
