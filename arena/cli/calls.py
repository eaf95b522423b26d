"""Calls to a server: with a token, in bounded time, tried again where that does no harm, with our errors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

# Talk of the library about connections that fail would stand beside what we tell of them.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from arena.cli.remote import Address
from arena.errors import ArenaError, TooMuchError
from arena.server.access import ACCESS, MESSAGE_BYTES
from arena.server.statuses import error_of
from arena.server.tls import check_pair, is_loopback, read_pem

CALL_S = 60.0
"""How long a call may take that has one answer and one question, in seconds."""
_CONNECT_MS = 4000
_HARMLESS = ("Get", "List", "WhoAmI", "Check")
_SYSTEM_ROOTS = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


def open_channel(
    address: Address, token: str | None, ca: Path | None, client: tuple[Path, Path] | None
) -> grpc.Channel:
    """A channel to a server; it connects when it is used.

    Args:
        address: where it is.
        token: shown with each call; None: none.
        ca: whom to trust instead of the system's roots, PEM.
        client: files of the certificate and the key that this side shows.

    Raises:
        UsageError: a file cannot be used.
    """
    options = _options()
    tls = address.tls
    if tls is None:
        tls = ca is not None or client is not None or not is_loopback(address.host)
    if tls:
        channel = grpc.secure_channel(address.target, _credentials(ca, client), options)
    else:
        channel = grpc.insecure_channel(address.target, options)
    return _Channel(channel, address.target, token)


def _options() -> list[tuple[str, Any]]:
    return [
        ("grpc.service_config", _service_config()),
        ("grpc.max_receive_message_length", 16 * MESSAGE_BYTES),
        ("grpc.initial_reconnect_backoff_ms", 500),
        ("grpc.min_reconnect_backoff_ms", _CONNECT_MS),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 15_000),
        ("grpc.enable_http_proxy", 0),
    ]


def _service_config() -> str:
    """Has calls that change nothing tried again when the server was not there."""
    names = [method.strip("/").split("/") for method in ACCESS]
    harmless = [
        {"service": service, "method": method} for service, method in names if method.startswith(_HARMLESS)
    ]
    retry = {
        "maxAttempts": 4,
        "initialBackoff": "0.2s",
        "maxBackoff": "2s",
        "backoffMultiplier": 3,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    return json.dumps({"methodConfig": [{"name": harmless, "retryPolicy": retry}]})


def _credentials(ca: Path | None, client: tuple[Path, Path] | None) -> grpc.ChannelCredentials:
    roots = read_pem(ca) if ca else _system_roots()
    if client is None:
        return grpc.ssl_channel_credentials(roots)
    cert, key = client
    check_pair(cert, key)
    return grpc.ssl_channel_credentials(roots, read_pem(key), read_pem(cert))


def _system_roots() -> bytes | None:
    """Whom this machine trusts; None: whom gRPC does."""
    found = [path for path in map(Path, _SYSTEM_ROOTS) if path.is_file()]
    return found[0].read_bytes() if found else None


class _Channel(grpc.Channel):
    """A channel whose calls carry a token and raise our errors."""

    def __init__(self, channel: grpc.Channel, target: str, token: str | None) -> None:
        self._channel = channel
        self._target = target
        self._metadata = [("authorization", f"Bearer {token}")] if token else []

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        return partial(self._answered, self._channel.unary_unary(*args, **kwargs), CALL_S)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        # How long it takes depends on how much there is to say.
        return partial(self._answered, self._channel.stream_unary(*args, **kwargs), None)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        return partial(self._streamed, self._channel.unary_stream(*args, **kwargs))

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        return partial(self._streamed, self._channel.stream_stream(*args, **kwargs))

    def subscribe(self, callback: Any, try_to_connect: bool = False) -> None:
        self._channel.subscribe(callback, try_to_connect)

    def unsubscribe(self, callback: Any) -> None:
        self._channel.unsubscribe(callback)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> _Channel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answered(
        self, call: Callable[..., Any], usual_s: float | None, request: Any, timeout: float | None = None
    ) -> Any:
        try:
            return call(request, timeout=timeout or usual_s, metadata=self._metadata)
        except grpc.RpcError as refused:
            _tell(refused, self._target)

    def _streamed(self, call: Callable[..., Any], request: Any, timeout: float | None = None) -> _Answers:
        return _Answers(call(request, timeout=timeout, metadata=self._metadata), self._target)


class _Answers:
    """The answers of a stream, with our errors. It may be cancelled."""

    def __init__(self, call: Any, target: str) -> None:
        self._call = call
        self._target = target

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._call)
        except grpc.RpcError as refused:
            _tell(refused, self._target)

    def cancel(self) -> None:
        """Want no more of them."""
        self._call.cancel()


def _tell(refused: grpc.RpcError, target: str) -> NoReturn:
    """Raise the error that a refusal or a failure of a call stands for."""
    raise (error_of(refused) or _failure(refused, target)) from None


def _failure(refused: Any, target: str) -> ArenaError:
    """A call that failed without having been refused by the server's own rules."""
    code, reason = refused.code(), (refused.details() or refused.code().name).splitlines()[0][:400]
    if code == grpc.StatusCode.UNAVAILABLE:
        trust = "SSL" in reason.upper() or "certificate" in reason.lower()
        return ArenaError(
            f"the server {target} cannot be reached",
            reason,
            "name whom to trust: --tls-ca FILE" if trust else "see that it runs and that --server is right",
        )
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return ArenaError(
            f"the server {target} did not answer in time", reason, "try again later, or ask its operator"
        )
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        return TooMuchError(f"the server {target} refuses so much", reason, "ask for less at once")
    if code == grpc.StatusCode.UNIMPLEMENTED:
        return ArenaError(
            f"the server {target} does not know this", reason, "use the release of the arena that it runs"
        )
    return ArenaError(
        f"the server {target} failed", f"{code.name}: {reason}", "try again, or ask its operator"
    )
