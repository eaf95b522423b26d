"""The port of a server: TLS, health and reflection."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from arena.errors import StateError
from arena.server.guard import server_options
from arena.server.settings import ServerSettings
from arena.server.tls import credentials

_FAREWELL_S = 2.0
"""Seconds that calls may still take when everything has ended."""


class Door:
    """A gRPC server on a port that is nobody else's, with health and perhaps reflection.

    Args:
        settings: where.
        interceptors: what every call goes through, outermost first.
    """

    def __init__(
        self, settings: ServerSettings, interceptors: Sequence[grpc.aio.ServerInterceptor] = ()
    ) -> None:
        self._settings = settings
        self.server = grpc.aio.server(interceptors=list(interceptors), options=server_options())
        self._health = health.aio.HealthServicer()
        self._services: list[str] = []
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)

    def bind(self, port: int) -> int:
        """Take the port before anything else happens; the port, which is another one if it was 0.

        Raises:
            StateError: it is taken, or not ours to have.
            UsageError: the files of TLS are not there, or mean nothing.
        """
        address = self.address(port)
        shown = _credentials(self._settings)
        try:
            if shown is None:
                return self.server.add_insecure_port(address)
            return self.server.add_secure_port(address, shown)
        except RuntimeError:
            raise StateError(
                f"{address} cannot be listened on",
                "somebody else does, or it is no address of this machine",
                "choose another --port or --host, or end who has it",
            ) from None

    def address(self, port: int) -> str:
        """Where it is, as people write it."""
        return f"{_bracketed(self._settings.host)}:{port}"

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


def _credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return credentials(settings.tls_cert, settings.tls_key, settings.tls_client_ca)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
