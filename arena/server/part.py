"""What a server is made of."""

from __future__ import annotations

from typing import Protocol

import grpc


class Part(Protocol):
    """One room of a server, with the services that it offers."""

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its services."""
        ...

    async def start(self) -> None:
        """Begin what goes on by itself; all that was interrupted goes on."""
        ...

    async def stop(self) -> None:
        """End it in order: what is in hand is finished or handed back, and nothing new begins."""
        ...
