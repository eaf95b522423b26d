"""The gRPC gateway: bots dial in, show their token, and are handed to the table host.

The only place of the arena that knows gRPC. It turns frames into calls of the host, and every way
in which a stream can end into one of three: the bot hung up, it broke the protocol, or we did.
"""

from __future__ import annotations

import asyncio
import fcntl
import hmac
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

# Bots are started by processes that use gRPC; its fork hooks would only get in the way.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc
from botarena.v1.bot_pb2 import FromArena, FromBot, Goodbye, Hello, Welcome
from botarena.v1.record_pb2 import FaultKind
from google.protobuf.message import DecodeError

from arena import __version__
from arena.bots.launcher import SOCKET
from arena.bots.orphans import LOCK, abandoned
from arena.match.host import Absent, Lane, TableHost

PROTOCOL = 1
MAX_FRAME_BYTES = 1 << 20
MAX_CONCURRENCY = 1024
_FAREWELL_S = 0.5

_OPTIONS = (
    # Somewhat more than the protocol allows, so that a bot which sends too much hears why.
    ("grpc.max_receive_message_length", 4 * MAX_FRAME_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 2),
)


@dataclass(slots=True, eq=False)
class Guest:
    """A bot that is expected to dial in.

    Attributes:
        name: its name.
        folder: holds its socket; its alone.
        token: what it has to show there.
        greeted: done with its hello and its lane.
        lost: called once, with the fault, when its stream ended by its own doing.
        stuck: called when the host gave it up.
        over: its token is good for nothing any more.
    """

    name: str
    folder: Path
    token: str
    greeted: asyncio.Future[tuple[Hello, Lane]]
    lost: Callable[[Absent], None]
    stuck: Callable[[], None]
    stream: Stream | None = None
    over: bool = False


class ProtocolError(Exception):
    """A bot sent what the protocol does not allow."""


class Stream:
    """The sending side of one bot's stream: what waits is merged into as few frames as there are writes."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._wake = asyncio.Event()
        self._closing = False

    def send(self, frame: bytes) -> None:
        """Send a FromArena, together with what could not be written yet: one after the other they are one."""
        self._waiting.append(frame)
        self._wake.set()

    def close(self) -> None:
        """Write what waits, then end the stream."""
        self._closing = True
        self._wake.set()

    async def pump(self, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Write until closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._waiting:
                frame = b"".join(self._waiting)
                self._waiting.clear()
                await context.write(frame)
            elif self._closing:
                return


class Gateway:
    """gRPC servers for the bots of one host: each life of a bot has a socket and a folder of its own."""

    def __init__(self, host: TableHost) -> None:
        self._host = host
        self._doors: dict[Guest, grpc.aio.Server] = {}
        self._folder = _SocketFolder()

    async def stop(self) -> None:
        """Say goodbye to everybody and close all sockets."""
        for guest in self._doors:
            if guest.stream is not None:
                goodbye = Goodbye(reason="the arena is closing")
                guest.stream.send(FromArena(goodbye=goodbye).SerializeToString())
        await asyncio.gather(*(self.dismiss(guest) for guest in list(self._doors)))
        self._folder.remove()

    async def expect(self, name: str, lost: Callable[[Absent], None], stuck: Callable[[], None]) -> Guest:
        """Open a socket, and let the bot in that shows the token of the guest that is returned."""
        future: asyncio.Future[tuple[Hello, Lane]] = asyncio.get_running_loop().create_future()
        guest = Guest(name, self._folder.make(), secrets.token_urlsafe(32), future, lost, stuck)
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers((_handlers(partial(self._play, guest)),))
        socket = guest.folder / SOCKET
        server.add_insecure_port(f"unix:{socket}")
        self._doors[guest] = server
        await server.start()
        # Bots may run as other users; what keeps strangers out is the token.
        socket.chmod(0o666)
        return guest

    async def dismiss(self, guest: Guest) -> None:
        """Its token is good for nothing from now on, and its socket is gone."""
        server = self._doors.pop(guest, None)
        if guest.stream is not None:
            guest.stream.close()
        if server is not None:
            await server.stop(_FAREWELL_S)
            shutil.rmtree(guest.folder, ignore_errors=True)

    async def _play(
        self, guest: Guest, _requests: object, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        await _admit(guest, context)
        guest.stream = stream = Stream()
        pump = asyncio.create_task(stream.pump(context))
        reader = asyncio.create_task(self._converse(guest, stream, context))
        fault: Absent | None = None
        try:
            # Whoever ends first ends the conversation: the bot by hanging up, we by closing.
            await asyncio.wait((pump, reader), return_when=asyncio.FIRST_COMPLETED)
            fault = _fault_of(reader)
        finally:
            for task in (pump, reader):
                task.cancel()
            await asyncio.gather(pump, reader, return_exceptions=True)
            if is_expected := guest in self._doors and not guest.over:
                guest.over = True
                guest.lost(fault or Absent(FaultKind.FAULT_KIND_DISCONNECTED, "it closed its stream"))
        if is_expected and fault is not None and fault.kind == FaultKind.FAULT_KIND_MALFORMED_MESSAGE:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, fault.detail)

    async def _converse(
        self, guest: Guest, stream: Stream, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        """Read until the bot hangs up or breaks the protocol."""
        lane = None
        while (data := await _read(context)) is not None:
            if len(data) > MAX_FRAME_BYTES:
                raise ProtocolError(
                    f"it sent a frame of {len(data)} bytes; at most {MAX_FRAME_BYTES} are allowed"
                )
            try:
                frame = FromBot.FromString(data)
            except DecodeError:
                raise ProtocolError("it sent bytes that are no FromBot message") from None
            if lane is None:
                lane = self._welcome(guest, stream, frame)
            elif frame.HasField("hello"):
                raise ProtocolError("it sent hello twice: only the first frame carries it")
            else:
                self._host.receive(lane, frame)

    def _welcome(self, guest: Guest, stream: Stream, frame: FromBot) -> Lane:
        if not frame.HasField("hello"):
            raise ProtocolError("its first frame carried no hello")
        hello = frame.hello
        if hello.protocol != PROTOCOL:
            raise ProtocolError(f"it speaks protocol {hello.protocol}, and this arena speaks {PROTOCOL}")
        hello.concurrency = min(max(hello.concurrency, 1), MAX_CONCURRENCY)
        welcome = Welcome(
            protocol=PROTOCOL,
            arena_version=__version__,
            max_frame_bytes=MAX_FRAME_BYTES,
            concurrency=hello.concurrency,
        )
        stream.send(FromArena(welcome=welcome).SerializeToString())
        lane = Lane(guest.name, stream, guest.stuck)
        if not guest.greeted.done():
            guest.greeted.set_result((hello, lane))
        return lane


async def _admit(guest: Guest, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    """Let the expected bot in, once, and nobody else."""
    metadata = {str(key): value for key, value in context.invocation_metadata() or ()}
    scheme, _, token = str(metadata.get("authorization", "")).partition(" ")
    if scheme != "Bearer" or guest.over or not hmac.compare_digest(token.encode(), guest.token.encode()):
        await context.abort(
            grpc.StatusCode.UNAUTHENTICATED,
            "unknown token: send the ARENA_TOKEN of this process as 'authorization: Bearer TOKEN'",
        )
    if guest.stream is not None:
        await context.abort(
            grpc.StatusCode.ALREADY_EXISTS,
            "this bot has a stream already: open one stream for all matches",
        )


async def _read(context: grpc.aio.ServicerContext[Any, Any]) -> bytes | None:
    """The next frame; None if the bot hung up, in whichever way gRPC tells it."""
    try:
        data = await context.read()
    except Exception:
        return None
    return data if isinstance(data, bytes) else None


def _fault_of(reader: asyncio.Task[None]) -> Absent | None:
    """What the bot did wrong, if the reading ended by a wrong message."""
    if not reader.done() or reader.cancelled():
        return None
    error = reader.exception()
    if isinstance(error, ProtocolError):
        return Absent(FaultKind.FAULT_KIND_MALFORMED_MESSAGE, str(error))
    if error is not None:
        # Nothing that a bot sends may raise anything else: this is our fault, and must not become its.
        failure = {"message": "the arena failed on a frame", "exception": error}
        asyncio.get_running_loop().call_exception_handler(failure)
    return None


def _handlers(play: Callable[..., Any]) -> grpc.GenericRpcHandler:
    """The service with frames as bytes: the gateway decides what to do with those that are none."""
    return grpc.method_handlers_generic_handler(
        "botarena.v1.BotService", {"Play": grpc.stream_stream_rpc_method_handler(play)}
    )


class _SocketFolder:
    """A folder for sockets, with an unguessable name, locked for as long as we live.

    Folders that nobody holds locked were left by an arena that was killed; they are removed here.
    """

    _PREFIX = "arena-sock-"

    def __init__(self) -> None:
        base = Path("/tmp")  # TMPDIR may be long, and the path of a unix socket must be short
        for old in base.glob(self._PREFIX + "*"):
            with abandoned(old) as is_orphan:
                if is_orphan:
                    shutil.rmtree(old, ignore_errors=True)
        # It gets its name once it is locked, so that nobody can take it for an orphan.
        unnamed = Path(tempfile.mkdtemp(prefix="arena-new-", dir=base))
        self._lock = os.open(unnamed / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.chmod(0o711)
        self.path = unnamed.rename(base / (self._PREFIX + secrets.token_urlsafe(12)))

    def make(self) -> Path:
        """A folder in it for one socket, which only those find who are told its name."""
        folder = self.path / secrets.token_urlsafe(6)
        folder.mkdir(mode=0o711)
        return folder

    def remove(self) -> None:
        """Remove it at the end."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
