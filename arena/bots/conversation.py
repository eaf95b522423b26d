"""A bot's conversation with the arena, over as many streams as it takes.

A stream comes in, is admitted or refused, and then carries frames between the bot and the table host until
it ends. What is to be ruled then depends on how it ended: the bot broke the protocol, it sent more than it
was asked for, or it hung up and may be back. The states are those of bot.proto.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from botarena.v1.bot_pb2 import FromArena, FromBot, Goodbye, Hello, Welcome
from botarena.v1.record_pb2 import FaultKind
from google.protobuf.message import DecodeError

from arena import __version__
from arena.bots.flood import RESUMED, Allowance, Refusals
from arena.match.host import Absent, Lane, TableHost
from arena.match.verdicts import Kind

PROTOCOL = 1
MAX_FRAME_BYTES = 1 << 20
MAX_HELLO_BYTES = 16 << 10
MAX_CONCURRENCY = 1024

GRACE_S = 3.0
"""How long after a break a bot's conversation may be resumed. Local bots lose no stream unless they or we
do something wrong, so it is short; longer than `LAST_WORDS_S`, so that a deadline in it is still ruled."""

LAST_WORDS_S = 2.0
"""In so many seconds a bot's stream and its process are expected to end together."""

MAX_UNREAD_BYTES = 32 << 20
"""So much may wait for a bot to read it: what a thousand matches ask, and a bot that does not read is asked
no more than that. Only one that answers what it has not read gets beyond it."""

MAX_SILENT = 4
"""Streams of one bot that have not said hello."""

_REFUSAL_S = 0.5
"""A refusal takes its time, so that whoever only opens streams cannot open many."""

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


log = logging.getLogger(__name__)


class ProtocolError(Exception):
    """A bot sent what the protocol does not allow.

    Attributes:
        kind: the fault that it is.
    """

    kind: Kind = FaultKind.FAULT_KIND_MALFORMED_MESSAGE


class FloodError(ProtocolError):
    """A bot sent, or let wait, more than it was asked for."""

    kind = FaultKind.FAULT_KIND_OUTPUT_EXCEEDED


class RefusedError(Exception):
    """A stream is not let in, and nothing else changes.

    Attributes:
        status: what its opener is told.
    """

    def __init__(self, status: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.status = status


class Silence:
    """Streams at one door that have not said hello.

    Attributes:
        streams: how many there are.
    """

    def __init__(self) -> None:
        self.streams = 0

    async def first_frame(self, context: Context, within_s: float | None = None) -> bytes | None:
        """The first frame of a stream; None: it hung up before.

        Args:
            context: the stream.
            within_s: seconds until it is refused; None: something else bounds it.

        Raises:
            RefusedError: there are enough of its kind, or it said nothing for so long.
        """
        if self.streams >= MAX_SILENT:
            raise RefusedError(
                grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self.streams} streams have not said hello yet"
            )
        self.streams += 1
        try:
            if within_s is None:
                return await _read(context)
            reading = asyncio.ensure_future(_read(context))  # cancelled, the stream ends without a word
            if not (await asyncio.wait((reading,), timeout=within_s))[0]:
                raise RefusedError(grpc.StatusCode.DEADLINE_EXCEEDED, f"it said nothing for {within_s:g} s")
            return reading.result()
        finally:
            self.streams -= 1


@dataclass(slots=True, eq=False)
class Guest:
    """A bot that is expected to dial in.

    Attributes:
        name: its name.
        folder: holds its socket; its alone. An empty path: it dials in at a door that it shares.
        lost: called once when its conversation is over by its own doing, with the fault; or with None when
            the arena failed on what it sent, and nobody is to blame.
        stuck: called when the host gave it up.
        token: what it has to show.
        session: what it has to name when it resumes.
        greeted: done with its hello and its lane.
        lane: its decisions, from its hello on.
        concurrency: how many matches it plays at once.
        stream: the one that is open.
        may_return: whether it may resume; not any more once its process has ended.
        over: its token is good for nothing any more.
        grace_s: how long after a break its conversation may be resumed, in seconds.
        hold_s: how long after a break no deadline is ruled, in seconds.
        entry: what a server calls it in tournaments; empty: the arena started it.
        dismissal: why the arena ends it, as its stream is told; None: nothing is wrong with it.
    """

    name: str
    folder: Path
    lost: Callable[[Absent | None], None]
    stuck: Callable[[], None]
    greeted: asyncio.Future[tuple[Hello, Lane]]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)
    lane: Lane | None = None
    concurrency: int = 1
    stream: Stream | None = None
    may_return: bool = True
    over: bool = False
    grace_s: float = GRACE_S
    hold_s: float = LAST_WORDS_S
    entry: str = ""
    dismissal: RefusedError | None = None
    allowance: Allowance = field(default_factory=Allowance)
    refusals: Refusals = field(default_factory=Refusals)
    silence: Silence = field(default_factory=Silence)
    grace: asyncio.TimerHandle | None = None


class _Nowhere:
    """Where frames go while a bot has no stream: when it is back, it is told all that still counts."""

    def send(self, frame: bytes) -> None:
        """Drop it."""


_NOWHERE = _Nowhere()


class Stream:
    """The sending side of one stream: what waits is merged into as few frames as there are writes.

    Args:
        first: the frame that goes out alone, before all others.

    Attributes:
        choked: done when more waits than a bot has to have read.
    """

    def __init__(self, first: bytes) -> None:
        self._first = first
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self._closing = False
        self.choked: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, frame: bytes) -> None:
        """Send a FromArena, together with what could not be written yet: one after the other they are one."""
        self._bytes += len(frame)
        if self._bytes <= MAX_UNREAD_BYTES:
            self._waiting.append(frame)
        elif not self.choked.done():
            self.choked.set_result(None)
        self._wake.set()

    def close(self) -> None:
        """Write what waits, then end the stream."""
        self._closing = True
        self._wake.set()

    async def pump(self, context: Context) -> None:
        """Write until closed."""
        await context.write(self._first)
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                frame = b"".join(self._waiting)
                self._waiting.clear()
                self._bytes = 0
                await context.write(frame)
            if self._closing:
                return


class Conversations:
    """All conversations of the bots of one host."""

    def __init__(self, host: TableHost) -> None:
        self._host = host

    # what the arena does

    def part(self, guest: Guest) -> None:
        """End it: the guest's token is good for nothing from now on, and nothing is ruled any more."""
        guest.over = True
        self._stop_waiting(guest)
        if guest.stream is not None:
            guest.stream.close()

    def say_goodbye(self, guest: Guest, reason: str) -> None:
        """Tell it why it is about to be parted from."""
        if guest.stream is not None:
            guest.stream.send(FromArena(goodbye=Goodbye(reason=reason)).SerializeToString())

    def expect_no_return(self, guest: Guest) -> None:
        """Its process has ended: once its stream is over as well, nothing is waited for."""
        guest.may_return = False
        if guest.grace is not None:
            self._give_up(guest)

    def dismiss(self, guest: Guest, why: RefusedError, fault: Absent) -> None:
        """End it by the arena's decision.

        Args:
            guest: whose it is.
            why: what its stream is told.
            fault: what its matches are told.
        """
        if not guest.over:
            guest.dismissal = why
            self.rule(guest, fault)

    # what comes in

    async def play(self, guest: Guest, context: Context) -> None:
        """One stream on a guest's own socket, from its opening to its end."""
        await self.attend(guest.name, guest.refusals, partial(self._let_in, guest), context)

    async def attend(
        self,
        name: str,
        refusals: Refusals,
        let_in: Callable[[Context], Awaitable[tuple[Guest, Stream] | None]],
        context: Context,
    ) -> None:
        """One stream at any door, from its opening to its end.

        Args:
            name: of the door.
            refusals: counts those at it.
            let_in: finds out who it is: the guest and its stream's sending side once it has said hello; None
                if it ended before. It raises RefusedError for one that is not let in, and ProtocolError for
                one whose conversation is over by it, when that was ruled.
            context: the stream.
        """
        try:
            admitted = await let_in(context)
        except RefusedError as refused:
            refusals.note(name, str(refused))
            await asyncio.sleep(_REFUSAL_S)
            await context.abort(refused.status, str(refused))
        except ProtocolError as error:
            await _abort_for(error, context)
        else:
            if admitted is not None:
                await self._carry(*admitted, context)

    async def _let_in(self, guest: Guest, context: Context) -> tuple[Guest, Stream] | None:
        _check_token(guest, context)
        data = await guest.silence.first_frame(context)
        if guest.over:
            return None
        if data is None:
            if guest.lane is None:  # else it disturbs nothing
                self.rule(guest, Absent(FaultKind.FAULT_KIND_DISCONNECTED, "it closed its stream"))
            return None
        try:
            return guest, self.enter(guest, first_hello(data))
        except ProtocolError as error:
            if guest.lane is not None and not isinstance(error, FloodError):
                raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from None
            self.rule(guest, Absent(error.kind, str(error)))
            raise

    def enter(self, guest: Guest, hello: Hello) -> Stream:
        """Greet a bot, or go on with one that was greeted before.

        Returns:
            The sending side of its stream.

        Raises:
            RefusedError: it is not let in, and disturbs nothing.
            FloodError: its conversation is over by it.
        """
        return self._welcome(guest, hello) if guest.lane is None else self._resume(guest, guest.lane, hello)

    def _welcome(self, guest: Guest, hello: Hello) -> Stream:
        """Greet a bot for the first time."""
        hello.concurrency = min(max(hello.concurrency, 1), MAX_CONCURRENCY)
        guest.stream = stream = Stream(_welcome_of(guest, hello.concurrency))
        guest.lane = lane = Lane(guest.name, stream, guest.stuck)
        guest.concurrency = hello.concurrency
        guest.greeted.set_result((hello, lane))
        return stream

    def _resume(self, guest: Guest, lane: Lane, hello: Hello) -> Stream:
        """Go on with a bot that was greeted before."""
        _check_session(guest, hello)
        if not guest.allowance.take(lane.asked, RESUMED):
            raise FloodError("it resumed again and again, and answered little in between")
        self._stop_waiting(guest)
        if guest.stream is not None:  # half dead, or else the bot would not be here
            guest.stream.close()
        guest.stream = stream = Stream(_welcome_of(guest, guest.concurrency))
        lane.port = _NOWHERE
        state = self._host.resume(lane)
        lane.port = stream
        if state:
            stream.send(state)
        return stream

    async def _carry(self, guest: Guest, stream: Stream, context: Context) -> None:
        """Carry frames both ways until one side has enough."""
        assert guest.lane is not None
        pump = asyncio.create_task(stream.pump(context))
        reader = asyncio.create_task(self._converse(guest, guest.lane, context))
        error: Exception | None = None
        try:
            # Whoever ends first ends the conversation: the bot by hanging up, we by closing.
            await asyncio.wait((pump, reader, stream.choked), return_when=asyncio.FIRST_COMPLETED)
            error = _error_of(reader, stream)
        finally:
            for task in (pump, reader):
                task.cancel()
            # Before anything is awaited: when a bot hangs up, gRPC cancels us too, at any moment.
            current = self._leave(guest, stream, error)
            await asyncio.gather(pump, reader, return_exceptions=True)
        if guest.dismissal is not None:
            await context.abort(guest.dismissal.status, str(guest.dismissal))
        if not current and not guest.over:
            await context.abort(grpc.StatusCode.ABORTED, "the conversation goes on in another stream")
        if error is not None:
            await _abort_for(error, context)

    async def _converse(self, guest: Guest, lane: Lane, context: Context) -> None:
        """Read until the bot hangs up or breaks the protocol."""
        allowance, receive = guest.allowance, self._host.receive
        while (data := await _read(context)) is not None:
            frame = _frame_in(data)
            if frame.HasField("hello"):
                raise ProtocolError("it sent hello twice: only the first frame carries it")
            units = 1 + len(frame.replies) + len(frame.errors) + (len(data) >> 10)
            if not allowance.take(lane.asked, units):
                raise FloodError("it sent much more than it was asked for")
            receive(lane, frame)

    # how it ends

    def _leave(self, guest: Guest, stream: Stream, error: Exception | None) -> bool:
        """A stream has ended; whether it was the one that counts."""
        if guest.stream is not stream:
            return False
        guest.stream = None
        if guest.over:
            return True
        assert guest.lane is not None
        guest.lane.port = _NOWHERE
        if error is not None:
            self.rule(guest, Absent(error.kind, str(error)) if isinstance(error, ProtocolError) else None)
        elif guest.may_return:
            self._host.pause(guest.lane, round(guest.hold_s * 1e6))
            guest.grace = asyncio.get_running_loop().call_later(guest.grace_s, self._give_up, guest)
        else:
            self._give_up(guest)
        return True

    def _give_up(self, guest: Guest) -> None:
        """It has not come back."""
        text = "it closed its stream"
        if guest.may_return:
            text += f" and was not back within {guest.grace_s:g} s"
        self.rule(guest, Absent(FaultKind.FAULT_KIND_DISCONNECTED, text))

    def rule(self, guest: Guest, fault: Absent | None) -> None:
        """Its conversation is over by its own doing; None: by ours."""
        if not guest.over:
            self.part(guest)
            guest.lost(fault)

    def _stop_waiting(self, guest: Guest) -> None:
        if guest.grace is not None:
            guest.grace.cancel()
            guest.grace = None


def _check_token(guest: Guest, context: Context) -> None:
    """Let the expected bot in, and nobody else."""
    token = shown_token(context)
    if token is not None and hmac.compare_digest(token.encode(), guest.token.encode()):
        if guest.over:
            raise RefusedError(grpc.StatusCode.UNAUTHENTICATED, "this bot's conversation is over")
    else:
        raise RefusedError(
            grpc.StatusCode.UNAUTHENTICATED,
            "unknown token: send the ARENA_TOKEN of this process as 'authorization: Bearer TOKEN'",
        )


def shown_token(context: Context) -> str | None:
    """The token that a stream shows; None: none in the form of one."""
    metadata = {str(key): value for key, value in context.invocation_metadata() or ()}
    scheme, _, token = str(metadata.get("authorization", "")).partition(" ")
    return token if scheme == "Bearer" and token else None


def _check_session(guest: Guest, hello: Hello) -> None:
    """Let only that conversation go on which there was."""
    if hmac.compare_digest(hello.session.encode(), guest.session.encode()):
        return
    if hello.session:
        raise RefusedError(grpc.StatusCode.PERMISSION_DENIED, "this bot has no such session")
    if guest.stream is not None:
        raise RefusedError(
            grpc.StatusCode.ALREADY_EXISTS, "this bot has a stream already: open one stream for all matches"
        )
    raise RefusedError(
        grpc.StatusCode.FAILED_PRECONDITION,
        "this bot was greeted before: go on with that conversation by naming its session in hello",
    )


def _welcome_of(guest: Guest, concurrency: int) -> bytes:
    welcome = Welcome(
        protocol=PROTOCOL,
        arena_version=__version__,
        max_frame_bytes=MAX_FRAME_BYTES,
        concurrency=concurrency,
        session=guest.session,
        grace_ms=round(guest.grace_s * 1000),
        bot=guest.entry,
    )
    return FromArena(welcome=welcome).SerializeToString()


def first_hello(data: bytes) -> Hello:
    """The hello in the first frame of a stream.

    Raises:
        ProtocolError: it is none that this arena understands.
    """
    if len(data) > MAX_HELLO_BYTES:
        raise ProtocolError(f"its first frame has {len(data)} bytes; at most {MAX_HELLO_BYTES} are allowed")
    frame = _frame_in(data)
    if not frame.HasField("hello"):
        raise ProtocolError("its first frame carried no hello")
    if frame.replies or frame.errors:
        raise ProtocolError("its first frame carried more than hello")
    hello = frame.hello
    if hello.protocol != PROTOCOL:
        raise ProtocolError(f"it speaks protocol {hello.protocol}, and this arena speaks {PROTOCOL}")
    return hello


def _frame_in(data: bytes) -> FromBot:
    if len(data) > MAX_FRAME_BYTES:
        raise ProtocolError(f"it sent a frame of {len(data)} bytes; at most {MAX_FRAME_BYTES} are allowed")
    try:
        return FromBot.FromString(data)
    except DecodeError:
        raise ProtocolError("it sent bytes that are no FromBot message") from None


async def _read(context: Context) -> bytes | None:
    """The next frame; None if the bot hung up, in whichever way gRPC tells it."""
    try:
        data = await context.read()
    except Exception:
        return None
    return data if isinstance(data, bytes) else None


def _error_of(reader: asyncio.Task[None], stream: Stream) -> Exception | None:
    """Why the conversation cannot go on, if it did not just end."""
    if not reader.done():
        if stream.choked.done():
            return FloodError("it does not read what it is sent, and answers it")
        return None
    error = None if reader.cancelled() else reader.exception()
    if isinstance(error, Exception) and not isinstance(error, ProtocolError):
        # Nothing that a bot sends may bring us here. It costs that bot's matches and nobody else's.
        log.error("the arena failed on a frame", exc_info=error)
    return error if isinstance(error, Exception) else None


async def _abort_for(error: Exception, context: Context) -> None:
    """End a stream with the status that says why."""
    if isinstance(error, FloodError):
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
    elif isinstance(error, ProtocolError):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
    await context.abort(grpc.StatusCode.UNKNOWN, "the arena failed")  # INTERNAL is what breaks say


def play_handlers(play: Callable[..., Any]) -> grpc.GenericRpcHandler:
    """The service with frames as bytes: a conversation decides what to do with those that are none."""
    return grpc.method_handlers_generic_handler(
        "botarena.v1.BotService", {"Play": grpc.stream_stream_rpc_method_handler(play)}
    )
