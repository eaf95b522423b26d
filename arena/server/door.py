"""The port of a server: TLS, bounds, health and reflection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from arena.bots.conversation import MAX_FRAME_BYTES
from arena.errors import StateError, UsageError
from arena.server.settings import ServerSettings

_FAREWELL_S = 2.0
"""Seconds that calls may still take when everything has ended."""


class Door:
    """A gRPC server on a port that is nobody else's, with health and perhaps reflection.

    Args:
        settings: where, and with which bounds.
        interceptors: what every call goes through, outermost first.
    """

    def __init__(
        self, settings: ServerSettings, interceptors: Sequence[grpc.aio.ServerInterceptor] = ()
    ) -> None:
        self._settings = settings
        self.server = grpc.aio.server(interceptors=list(interceptors), options=_options(settings))
        self._health = health.aio.HealthServicer()
        self._services: list[str] = []
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)

    def bind(self, port: int) -> int:
        """Take the port before anything else happens; the port, which is another one if it was 0.

        Raises:
            StateError: it is taken, or not ours to have.
            UsageError: the files of TLS are not there, or mean nothing.
        """
        address = f"{_bracketed(self._settings.host)}:{port}"
        credentials = _credentials(self._settings)
        try:
            if credentials is None:
                return self.server.add_insecure_port(address)
            return self.server.add_secure_port(address, credentials)
        except RuntimeError:
            raise StateError(
                f"{address} cannot be listened on",
                "somebody else does, or it is no address of this machine",
                "choose another --port or --host, or end who has it",
            ) from None

    async def open(self, services: Sequence[str]) -> None:
        """Begin to answer; nothing is said to be served yet.

        Args:
            services: full names of those that were added.
        """
        self._services = ["", *services]
        await self.serving(False)
        if self._settings.reflects:
            names = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self.server)
        await self.server.start()

    async def serving(self, whether: bool) -> None:
        """Say whether everything is served, over all and of each service."""
        states = health_pb2.HealthCheckResponse
        for service in self._services:
            await self._health.set(service, states.SERVING if whether else states.NOT_SERVING)

    async def close(self) -> None:
        """Take no more calls, and end those that there are."""
        await self.server.stop(_FAREWELL_S)


def _options(settings: ServerSettings) -> list[tuple[str, Any]]:
    return [
        ("grpc.so_reuseport", 0),
        # Frames of bots travel here too, and one that is too long must hear why.
        ("grpc.max_receive_message_length", max(settings.message, 4 * MAX_FRAME_BYTES)),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", 128),
        ("grpc.max_metadata_size", 8 << 10),
        ("grpc.absolute_max_metadata_size", 16 << 10),
        # A peer whose machine is gone is found out by our asking; one that asks too often is sent away.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 2),
    ]


def _credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    pair = (_read(settings.tls_key), _read(settings.tls_cert))
    ca = None if settings.tls_client_ca is None else _read(settings.tls_client_ca)
    return grpc.ssl_server_credentials([pair], root_certificates=ca, require_client_auth=ca is not None)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read", str(error.strerror), "name a file in PEM that this user may read"
        ) from None
    if b"-----BEGIN " not in data:
        raise UsageError(f"{path} is no file of TLS", "there is nothing in PEM in it", "write it in PEM")
    return data


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
