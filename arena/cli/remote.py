"""A server that commands talk to: which one, how to reach it, and what its refusals mean."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from arena.cli.output import OUT
from arena.errors import ArenaError, UsageError

if TYPE_CHECKING:  # loading gRPC takes longer than most commands
    import grpc

S = TypeVar("S")
T = TypeVar("T")

DEFAULT_PORT = 50051
AGAIN_S = 1.0
"""Seconds between two tries to reach a server that is away."""
_PATIENCE_S = 120.0
_PLAIN, _TLS = "http://", "https://"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is.

    Attributes:
        host: name or number, IPv6 without brackets.
        port: of TCP.
        tls: whether it is spoken to in TLS; None: off the loopback, or if a certificate says whom to trust.
    """

    host: str
    port: int
    tls: bool | None = None

    @property
    def target(self) -> str:
        """HOST:PORT, by which its token is kept."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """An address as people write it: HOST, HOST:PORT, or with http:// (no TLS) or https:// before it.

    Raises:
        UsageError: it is none.
    """
    from urllib.parse import urlsplit

    scheme = next((scheme for scheme in (_PLAIN, _TLS) if text.startswith(scheme)), "")
    try:
        parts = urlsplit(text if scheme else f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"{text!r} is no server", "it is not like HOST:PORT", "write it as 127.0.0.1:50051")
    return Address(host, port or DEFAULT_PORT, {_PLAIN: False, _TLS: True}.get(scheme))


class _Chosen:
    """What the global options say."""

    server: str | None = None
    tls_ca: Path | None = None


def choose(server: str | None, tls_ca: Path | None) -> None:
    """Take the global options."""
    _Chosen.server, _Chosen.tls_ca = server or None, tls_ca


def server_address() -> str | None:
    """The server that commands are for, as it was named; None: they work here."""
    return _Chosen.server


def needed_address() -> Address:
    """The server that a command is for which makes no sense without one.

    Raises:
        UsageError: none was named.
    """
    if (named := server_address()) is None:
        raise UsageError(
            "this needs a server", "none was named", "add --server HOST:PORT, or set ARENA_SERVER"
        )
    return parse_address(named)


class Remote:
    """A server that is being talked to."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel

    def stub(self, make: Callable[[grpc.Channel], S]) -> S:
        """A stub of a service, whose calls raise the errors of `arena.errors`.

        Args:
            make: its generated class.
        """
        return make(self._channel)


@contextmanager
def connected(token: str | None = None, login: bool = True) -> Iterator[Remote]:
    """The server that the command is for, until the end of the block.

    Args:
        token: to be shown instead of the one that is known.
        login: whether one that is known is shown.

    Raises:
        UsageError: no server was named, or a file for TLS cannot be used.
    """
    from arena.cli.calls import open_channel
    from arena.cli.logins import token_for

    address = needed_address()
    if token is None and login:
        token = token_for(address.target)
    channel = open_channel(address, token, _Chosen.tls_ca, _client_pair())
    try:
        yield Remote(channel)
    finally:
        channel.close()


def _client_pair() -> tuple[Path, Path] | None:
    """Files of the certificate and the key that this side shows; None: it shows none."""
    cert, key = (os.environ.get(name) for name in ("ARENA_TLS_CERT", "ARENA_TLS_KEY"))
    if bool(cert) != bool(key):
        raise UsageError(
            "half a client certificate was named",
            "a certificate is of no use without its key",
            "set both ARENA_TLS_CERT and ARENA_TLS_KEY, or none of them",
        )
    return (Path(cert), Path(key)) if cert and key else None


def pages(read: Callable[[Any], Any]) -> Iterator[Any]:
    """The answers to a request for a list, page by page.

    Args:
        read: asks for a page, given a PageRequest.
    """
    from botarena.v1.api_common_pb2 import PageRequest

    token = ""
    while True:
        answer = read(PageRequest(token=token))
        yield answer
        token = answer.page.next
        if not token:
            return


def unbroken(call: Callable[[], T]) -> T:
    """What a call gives, tried again while the server is away: for calls that may be made twice."""
    away_since: float | None = None
    while True:
        tried = time.monotonic()
        try:
            return call()
        except ArenaError as error:
            failed = time.monotonic()
            if away_since is None or failed - tried > _PATIENCE_S:  # it was there for all that time
                away_since = failed
            # Refusals have types of their own.
            if type(error) is not ArenaError or failed - away_since > _PATIENCE_S:
                raise
            OUT.say(f"{error.what} ({error.why}); trying again")
            time.sleep(AGAIN_S)
