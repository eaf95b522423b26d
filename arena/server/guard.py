"""The door of the public server: who calls, whether they may, how often, and how errors are told.

One interceptor does it for every method. What it learns of a call it tells its observers; metadata, where the
tokens are, it tells nobody.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import logging
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import isasyncgenfunction
from typing import Any

import grpc
from sqlalchemy.exc import DataError

from arena.errors import ArenaError, NotAllowedError, TooMuchError, UnknownCallerError, UsageError
from arena.rights import Caller
from arena.runs.explained import explained
from arena.server.access import BY_ITSELF, MESSAGE_BYTES, PUBLIC, SIGNED_IN, access_to
from arena.server.background import apart
from arena.server.caller import CALLER
from arena.server.rates import Buckets, Rate
from arena.server.statuses import status_of
from arena.store.accounts import Accounts
from arena.store.store import StoreError

_Context = Any  # grpc.aio.ServicerContext of any method
_Behaviour = Callable[..., Any]

_KNOWN = 10_000


def server_options() -> list[tuple[str, int]]:
    """What one connection to the public server may do, as options of a gRPC server."""
    return [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.max_send_message_length", 16 * MESSAGE_BYTES),
        ("grpc.so_reuseport", 0),
        ("grpc.max_concurrent_streams", 128),
        ("grpc.max_allowed_incoming_connections", 4096),
        ("grpc.server_handshake_timeout_ms", 10_000),
        ("grpc.max_metadata_size", 8 << 10),
        ("grpc.absolute_max_metadata_size", 16 << 10),
        # A peer that is gone without a word is found out; one that pings all the time is cut off.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 15_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 2),
        ("grpc.max_connection_idle_ms", 900_000),
    ]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much callers may call.

    Attributes:
        token: calls with one token.
        peer: calls from one address, of all tokens and of none.
        failures: tokens from one address that are not accepted.
        openings: streams of bots from one address.
        open_calls: calls at once with one token, or from one address without any.
    """

    token: Rate = field(default=Rate(50, 200))
    peer: Rate = field(default=Rate(200, 1000))
    failures: Rate = field(default=Rate(1, 100))
    openings: Rate = field(default=Rate(20, 500))
    open_calls: int = 100


def ignore(method: str, code: str, seconds: float) -> None:
    """Observe nothing."""


def log_failure(reference: str, method: str, error: Exception) -> None:
    """Write an error of our own to the log of the process."""
    logging.getLogger("arena.server").error("%s failed (%s)", method, reference, exc_info=error)


class Guard(grpc.aio.ServerInterceptor):  # type: ignore[misc,unused-ignore]
    """Stands before every method.

    Args:
        accounts: knows whose a token is.
        limits: how much callers may call.
        observe: is told each call when it is over: method, name of its code, how long it took in seconds. It
            may ask who called (`CALLER`).
        failed: is told each error that callers are told no more of than a reference: that, method, error.
    """

    def __init__(
        self,
        accounts: Accounts,
        limits: Limits | None = None,
        observe: Callable[[str, str, float], None] = ignore,
        failed: Callable[[str, str, Exception], None] = log_failure,
    ) -> None:
        self._accounts = accounts
        self._limits = limits or Limits()
        self._observe = observe
        self._failed = failed
        self._tokens = Buckets(self._limits.token)
        self._peers = Buckets(self._limits.peer)
        self._failures = Buckets(self._limits.failures)
        self._openings = Buckets(self._limits.openings)
        self._open: Counter[Hashable] = Counter()
        self._known: OrderedDict[bytes, None] = OrderedDict()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of a method, behind the guard; None if there is no such method."""
        handler = await continuation(handler_call_details)
        return None if handler is None else self._guarded(handler_call_details.method, handler)

    def _guarded(self, method: str, handler: Any) -> Any:
        """A handler of the same streaming kind."""
        kind = _KINDS[handler.request_streaming, handler.response_streaming]
        call = _plain(getattr(handler, kind))
        return handler._replace(**{kind: partial(_as_coroutine, partial(self._call, method, call))})

    async def _call(self, method: str, call: _Behaviour, request: Any, context: _Context) -> Any:
        began, left = time.monotonic(), False
        try:
            key = await self._admit(method, context)
            with self._counted(key):
                return await call(request, context)
        except grpc.aio.AbortError:
            raise
        except asyncio.CancelledError:
            left = True
            raise
        except grpc.aio.UsageError as error:
            if not (left := context.cancelled() or context.done()):
                await self._refuse(method, error, context)
            return None  # whoever called is gone, and a write found out first
        except Exception as error:
            await self._refuse(method, error, context)
        finally:
            code = "CANCELLED" if left else _code_name(context.code())
            self._observe(method, code, time.monotonic() - began)

    async def _refuse(self, method: str, error: Exception, context: _Context) -> None:
        await context.abort_with_status(status_of(self._told(method, error)))

    def _told(self, method: str, error: Exception) -> ArenaError:
        """An error as the caller may know it."""
        if isinstance(error, ArenaError) and not isinstance(error, StoreError):
            return error
        if isinstance(error, ValueError) and (known := explained(error)) is not None:
            return known
        if isinstance(error, DataError):
            return UsageError(
                "the call means nothing",
                "a text or a number in it is none that can be kept",
                "send texts without NUL characters, and numbers within their bounds",
            )
        reference = secrets.token_hex(6)
        self._failed(reference, method, error)
        return ArenaError(
            "the server failed",
            f"that is no fault of the call; its log says more under {reference}",
            f"try again later, and tell the operator the reference {reference}",
        )

    # admission

    async def _admit(self, method: str, context: _Context) -> Hashable:
        """Let a call in, or raise; under which key it is counted while it lasts, None for not at all."""
        peer = address_of(context.peer())
        _hold_back(self._peers.take(peer), "this address calls too often")
        access = access_to(method)
        if access == BY_ITSELF:
            _hold_back(self._openings.take(peer), "this address opens streams too often")
            return None
        secret = _shown(context.invocation_metadata())
        if secret is None and access == PUBLIC:
            return peer
        found = await self._checked(secret, peer)
        _hold_back(self._tokens.take(found.token), "this token calls too often")
        if access not in (PUBLIC, SIGNED_IN) and not found.may(access):
            raise NotAllowedError(
                "the token does not allow this",
                f"it needs the scope {access}, and the token has {', '.join(sorted(found.scopes))}",
                f"use another token: arena token create --scope {access}",
            )
        CALLER.set(found)
        return found.token

    async def _checked(self, secret: str | None, peer: str) -> Caller:
        if secret is None:
            raise UnknownCallerError(
                "this needs a token", "the call carried none", "log in: arena login --server HOST:PORT"
            )
        # Who has just shown a good token is not held back for what others do from the same address.
        digest = hashlib.sha256(secret.encode()).digest()
        if is_new := digest not in self._known:
            _hold_back(self._failures.take(peer), "this address has shown too many wrong tokens")
        try:
            found = await apart(self._accounts.check, secret)
        except UnknownCallerError:
            self._known.pop(digest, None)
            raise
        if is_new:
            self._failures.give_back(peer)
        self._remember(digest)
        return found

    def _remember(self, digest: bytes) -> None:
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    @contextmanager
    def _counted(self, key: Hashable) -> Iterator[None]:
        """Count a call while it lasts."""
        if key is None:
            yield
            return
        if self._open[key] >= self._limits.open_calls:
            raise TooMuchError(
                "there are too many calls at once",
                f"{self._limits.open_calls} with this token, or from this address without one, are open",
                "end one of them, or wait until one is over",
            )
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


_KINDS = {
    (False, False): "unary_unary",
    (False, True): "unary_stream",
    (True, False): "stream_unary",
    (True, True): "stream_stream",
}


async def _as_coroutine(call: _Behaviour, request: Any, context: _Context) -> Any:
    return await call(request, context)


def _plain(behaviour: _Behaviour) -> _Behaviour:
    """A method that writes what it answers, also if it was written as one that yields it."""
    return partial(_write_all, behaviour) if isasyncgenfunction(behaviour) else behaviour


async def _write_all(behaviour: _Behaviour, request: Any, context: _Context) -> None:
    async with aclosing(behaviour(request, context)) as answers:
        async for answer in answers:
            await context.write(answer)


def _shown(metadata: Iterable[tuple[str, str | bytes]] | None) -> str | None:
    """The token among a call's metadata; None if there is none."""
    shown = [value for key, value in metadata or () if key == "authorization"]
    if not shown:
        return None
    scheme, _, secret = str(shown[0]).partition(" ")
    if len(shown) > 1 or scheme.lower() != "bearer":
        raise UnknownCallerError(
            "the token cannot be read",
            "the metadata key authorization must be there once, as: Bearer TOKEN",
            "mend the program that calls",
        )
    return secret.strip()


def address_of(peer: str) -> str:
    """The address of a peer as gRPC names it, without its port; of IPv6 the network of a customer."""
    kind, _, rest = peer.partition(":")
    host = rest.rpartition(":")[0].replace("%5B", "[").replace("%5D", "]").strip("[]").partition("%")[0]
    if kind != "ipv6":
        return host or kind
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    return str(address.ipv4_mapped or ipaddress.IPv6Network((int(address), 64), strict=False))


def _hold_back(wait_s: float, what: str) -> None:
    if wait_s > 0:
        raise TooMuchError(
            what, "a server has a limit of rate for each", f"wait {max(wait_s, 0.1):.1f} s and call again"
        )


_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}


def _code_name(code: Any) -> str:
    return code.name if isinstance(code, grpc.StatusCode) else _NAMES.get(code or 0, "UNKNOWN")
