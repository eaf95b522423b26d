"""The bot's side of the protocol by hand, to say what no SDK would say."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from botarena.v1 import bot_pb2

Answer = Callable[[bot_pb2.Decision], bot_pb2.Reply | list[bot_pb2.Reply]]


class Raw:
    """One stream to the arena that started this process."""

    def __init__(self, address: str | None = None, token: str | None = None) -> None:
        self._channel = grpc.insecure_channel(address or os.environ["ARENA_ADDR"])
        self._token = token or os.environ["ARENA_TOKEN"]
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._call: Any = None

    def open(self) -> None:
        """Open the stream."""
        play: Any = self._channel.stream_stream("/botarena.v1.BotService/Play")
        self._call = play(self._sent(), metadata=(("authorization", f"Bearer {self._token}"),))

    def _sent(self) -> Iterator[bytes]:
        while (data := self._out.get()) is not None:
            yield data

    def greet(self, protocol: int = 1, read: bool = True, concurrency: int = 64) -> None:
        """Say hello, and wait for the welcome."""
        if self._call is None:
            self.open()
        self.send(bot_pb2.FromBot(hello=bot_pb2.Hello(protocol=protocol, concurrency=concurrency)))
        if read:
            assert self.read().HasField("welcome")

    def send(self, frame: bot_pb2.FromBot) -> None:
        """Send a frame."""
        self.send_bytes(frame.SerializeToString())

    def send_bytes(self, data: bytes) -> None:
        """Send any bytes as a frame."""
        self._out.put(data)

    def read(self) -> bot_pb2.FromArena:
        """The next frame."""
        return bot_pb2.FromArena.FromString(next(self._call))

    def read_decision(self) -> bot_pb2.Decision:
        """Read until something is asked."""
        while not (frame := self.read()).decisions:
            pass
        return frame.decisions[0]

    def play(self, answer: Answer) -> None:
        """Answer every decision until the arena hangs up."""
        for data in self._call:
            frame = bot_pb2.FromArena.FromString(data)
            replies = bot_pb2.FromBot()
            for decision in frame.decisions:
                answers = answer(decision)
                replies.replies.extend(answers if isinstance(answers, list) else [answers])
            if replies.replies:
                self.send(replies)

    def read_until_the_end(self) -> str:
        """Read until the stream ends; its status."""
        try:
            for _ in self._call:
                pass
        except grpc.RpcError:
            pass
        return str(self._call.code().name)

    def close(self) -> None:
        """Hang up."""
        self._call.cancel()
        self._channel.close()
