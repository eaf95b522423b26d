"""Every call is logged and measured: outermost, so that it sees the status with which a call really ended."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import grpc
import structlog

from arena.server.caller import CALLER
from arena.server.metrics import Metrics

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
Next: TypeAlias = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]
_UNKNOWN = "unknown"
"""What methods are called that there are not: strangers would fill the metrics with names."""
_QUIET = ("/grpc.health.",)
_WHO: ContextVar[list[str] | None] = ContextVar("who", default=None)
"""Takes the name of whoever calls, for those outside of the caller's own context."""
_log = structlog.get_logger("arena.calls")


class Watching(grpc.aio.ServerInterceptor):
    """Logs and measures all calls; the first of the interceptors.

    Args:
        metrics: what counts them.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def intercept_service(self, continuation: Next, details: grpc.HandlerCallDetails) -> Handler:
        """Watch a call."""
        who: list[str] = []
        _WHO.set(who)
        handler = await continuation(details)
        # An unknown method has no handler, and is refused by the library.
        return handler and _wrapped(handler, _Watch(self._metrics, details.method, who))


class Naming(grpc.aio.ServerInterceptor):
    """Tells `Watching` who calls; the last of the interceptors, since those between find it out."""

    async def intercept_service(self, continuation: Next, details: grpc.HandlerCallDetails) -> Handler:
        """Note who calls."""
        note_caller()
        return await continuation(details)


def note_caller() -> None:
    """Note who calls, if it is known by now."""
    who, found = _WHO.get(), CALLER.get()
    if who is not None and found is not None:
        who[:] = [found.name]


class _Watch:
    """One call."""

    def __init__(self, metrics: Metrics, method: str, who: list[str]) -> None:
        self._metrics = metrics
        self._method = method
        self._who = who

    @contextmanager
    def over(self, context: Any) -> Iterator[None]:
        """Until the call ends."""
        began = time.monotonic()
        self._metrics.began(self._method)
        try:
            yield
        except BaseException as error:
            self._end(_code(context, error), began)
            raise
        self._end(_code(context, None), began)

    def _end(self, code: str, began: float) -> None:
        note_caller()
        seconds = time.monotonic() - began
        self._metrics.ended(self._method, code, seconds)
        if not self._method.startswith(_QUIET):
            _log.info(
                "call",
                method=self._method,
                code=code,
                ms=round(1000 * seconds, 3),
                user=self._who[0] if self._who else None,
            )


def _code(context: Any, error: BaseException | None) -> str:
    """Name of the status with which a call ended."""
    code = context.code()
    if isinstance(code, grpc.StatusCode):
        return code.name
    if code:  # the library's own numbers
        return next((known.name for known in grpc.StatusCode if known.value[0] == code), "UNKNOWN")
    if error is None:
        return "OK"
    # Only whoever calls ends a call by cancelling it.
    return "UNKNOWN" if isinstance(error, Exception) else "CANCELLED"


def _wrapped(handler: grpc.RpcMethodHandler[Any, Any], watch: _Watch) -> grpc.RpcMethodHandler[Any, Any]:
    """The handler of a call, watched; of its own kind, as the library demands."""
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[bool(handler.request_streaming), bool(handler.response_streaming)]
    kind = ("stream" if handler.request_streaming else "unary") + (
        "_stream" if handler.response_streaming else "_unary"
    )
    inner = getattr(handler, kind)
    wrap = _streaming if handler.response_streaming else _answering
    return make(wrap(inner, watch), handler.request_deserializer, handler.response_serializer)


def _answering(inner: Callable[..., Awaitable[Any]], watch: _Watch) -> Callable[..., Awaitable[Any]]:
    async def answer(request: Any, context: Any) -> Any:
        with watch.over(context):
            return await inner(request, context)

    return answer


def _streaming(inner: Callable[..., Any], watch: _Watch) -> Callable[..., AsyncIterator[Any]]:
    async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
        with watch.over(context):
            answers = inner(request, context)
            if hasattr(answers, "__aiter__"):
                async for answer in answers:
                    yield answer
            else:  # it writes by itself
                await answers

    return stream
