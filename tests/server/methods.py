"""Every method of every service in the protocol, with handlers and calls that fit it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import botarena.v1
import grpc
from google.protobuf.descriptor import FileDescriptor


@dataclass(frozen=True, slots=True)
class Method:
    """A method.

    Attributes:
        name: its full name, such as "/botarena.v1.AccountService/WhoAmI".
        asks: whether the caller sends a stream.
        tells: whether the server does.
    """

    name: str
    asks: bool
    tells: bool

    async def call(self, channel: Any, metadata: tuple[tuple[str, str], ...], request: bytes = b"") -> str:
        """Call it with a request, or with nothing; the name of the code that comes of it."""
        kind = f"{'stream' if self.asks else 'unary'}_{'stream' if self.tells else 'unary'}"
        call = getattr(channel, kind)(self.name)(_one(request) if self.asks else request, metadata=metadata)
        try:
            if self.tells:
                async for _ in call:
                    pass
            else:
                await call
        except grpc.aio.AioRpcError as refused:
            return refused.code().name
        return "OK"


async def _one(request: bytes) -> AsyncIterator[bytes]:
    yield request


def all_methods() -> list[Method]:
    """The methods of all services whose stubs there are."""
    names = [found.name for found in pkgutil.iter_modules(botarena.v1.__path__)]
    files = [importlib.import_module(f"botarena.v1.{name}") for name in names if name.endswith("_pb2")]
    return [method for file in files for method in _methods(file.DESCRIPTOR)]


def _methods(file: FileDescriptor) -> list[Method]:
    return [
        Method(
            f"/{service.full_name}/{method.name}",
            bool(method.client_streaming),
            bool(method.server_streaming),
        )
        for service in file.services_by_name.values()
        for method in service.methods
    ]


def answering_ok(server: grpc.aio.Server) -> None:
    """Have every method answer nothing, and that all is well."""
    by_service: dict[str, dict[str, Any]] = {}
    for method in all_methods():
        service, name = method.name.strip("/").split("/")
        by_service.setdefault(service, {})[name] = _handler(method)
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(service, its) for service, its in by_service.items()]
    )


def _handler(method: Method) -> Any:
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[method.asks, method.tells]
    return make(_tell_nothing if method.tells else partial(_answer))


async def _answer(request: Any, context: Any) -> bytes:
    return b""


async def _tell_nothing(request: Any, context: Any) -> AsyncIterator[bytes]:
    yield b""
