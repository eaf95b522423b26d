"""The bot's side of the protocol by hand, to say what no SDK would say."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import grpc
from botarena.v1 import bot_pb2

Answer = Callable[[bot_pb2.Decision], bot_pb2.Reply | list[bot_pb2.Reply]]


class Raw:
    """One stream to the arena that started this process."""

    def __init__(
        self,
        address: str | None = None,
        token: str | None = None,
        options: Sequence[tuple[str, Any]] = (),
        compression: grpc.Compression = grpc.Compression.NoCompression,
    ) -> None:
        self._channel = grpc.insecure_channel(address or os.environ["ARENA_ADDR"], options, compression)
        token = os.environ["ARENA_TOKEN"] if token is None else token
        self._metadata: Sequence[tuple[str, str]] = (("authorization", f"Bearer {token}"),)
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._call: Any = None

    def open(self, metadata: Sequence[tuple[str, str]] | None = None) -> None:
        """Open the stream, with other metadata than its token if need be."""
        play: Any = self._channel.stream_stream("/botarena.v1.BotService/Play")
        self._call = play(self._sent(), metadata=self._metadata if metadata is None else metadata)

    def _sent(self) -> Iterator[bytes]:
        while (data := self._out.get()) is not None:
            yield data

    def greet(self, protocol: int = 1, read: bool = True, concurrency: int = 64, session: str = "") -> str:
        """Say hello, and wait for the welcome; the session that it names."""
        if self._call is None:
            self.open()
        hello = bot_pb2.Hello(protocol=protocol, concurrency=concurrency, session=session)
        self.send(bot_pb2.FromBot(hello=hello))
        if not read:
            return ""
        frame = self.read()
        assert frame.HasField("welcome")
        return frame.welcome.session

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

    def play(self, answer: Answer, before: Callable[[], object] | None = None) -> None:
        """Answer every decision until the arena hangs up.

        Args:
            answer: the reply, or the replies, to a decision.
            before: called once, before the first is answered.
        """

        def frame(decision: bot_pb2.Decision) -> bytes:
            nonlocal before
            if before is not None:
                before()
                before = None
            answers = answer(decision)
            replies = answers if isinstance(answers, list) else [answers]
            return bot_pb2.FromBot(replies=replies).SerializeToString()

        self.play_frames(frame)

    def play_frames(self, answer: Callable[[bot_pb2.Decision], bytes]) -> None:
        """Answer every decision with bytes of one's own until the arena hangs up."""
        for data in self._call:
            frame = bot_pb2.FromArena.FromString(data)
            for answered in [answer(decision) for decision in frame.decisions]:
                self.send_bytes(answered)

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
