"""A client of the API: calls one method after the other, as fast as it gets answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import grpc
from botarena.v1.api_accounts_pb2 import (
    CreateTokenRequest,
    ListTokensRequest,
    ListUsersRequest,
    WhoAmIRequest,
)
from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
from botarena.v1.api_bots_pb2 import GetBotRequest, ListBotsRequest
from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub
from botarena.v1.api_server_pb2 import GetStatusRequest
from botarena.v1.api_server_pb2_grpc import ServerServiceStub

from tests.load.calls import Calls

_PAUSE_S = 0.1
"""So long a client thinks between two calls."""


async def call_on(number: int, address: str, token: str, calls: Calls, over: asyncio.Event) -> None:
    """Call until it is over.

    Args:
        number: of the client.
        address: of the server.
        token: its own.
        calls: takes what comes of it.
        over: set at the end.
    """
    chance = random.Random(number)
    async with grpc.aio.insecure_channel(address, options=_OPTIONS) as channel:
        accounts, bots = AccountServiceStub(channel), BotCatalogServiceStub(channel)
        status = ServerServiceStub(channel)

        async def make_token() -> None:
            label = f"{number}-{chance.getrandbits(64):x}"
            request = CreateTokenRequest(label=label, scopes=["bot:play"])
            if await calls.call("CreateToken", accounts.CreateToken, request, token) is not None:
                calls.made.add(label)

        kinds: list[tuple[int, Callable[[], Awaitable[object]]]] = [
            (4, lambda: calls.call("GetStatus", status.GetStatus, GetStatusRequest(), token)),
            (4, lambda: calls.call("ListBots", bots.ListBots, ListBotsRequest(), token)),
            (4, lambda: calls.call("GetBot", bots.GetBot, GetBotRequest(bot="bot-0"), token)),
            (2, lambda: calls.call("ListTokens", accounts.ListTokens, ListTokensRequest(), token)),
            (2, lambda: calls.call("WhoAmI", accounts.WhoAmI, WhoAmIRequest(), token)),
            (2, make_token),
            (1, lambda: calls.call("no such bot", bots.GetBot, GetBotRequest(bot="nobody"), token)),
            (1, lambda: calls.call("not allowed", accounts.ListUsers, ListUsersRequest(), token)),
            (1, lambda: calls.call("bad token", accounts.WhoAmI, WhoAmIRequest(), f"{token[:-1]}!")),
        ]
        while not over.is_set():
            ((_, act),) = chance.choices(kinds, [weight for weight, _ in kinds])
            await act()
            await asyncio.sleep(_PAUSE_S * 2 * chance.random())


_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
