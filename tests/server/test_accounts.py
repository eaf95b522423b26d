"""The service of users and tokens: who may do what to whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
from botarena.v1 import api_accounts_pb2 as api
from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub

from arena.server.accounts import AccountPart
from arena.server.caller import BOT_PLAY
from arena.server.guard import Guard
from arena.store.accounts import Accounts
from tests.server.serving import channel_to, metadata, served

if TYPE_CHECKING:
    from botarena.v1.api_accounts_pb2_grpc import AccountServiceAsyncStub


@pytest.fixture
async def stub(accounts: Accounts) -> AsyncIterator[AccountServiceAsyncStub]:
    async with served(Guard(accounts), [AccountPart(accounts)]) as address, channel_to(address) as channel:
        yield AccountServiceStub(channel)


def token_of(accounts: Accounts, name: str, *scopes: str, expires_us: int | None = None) -> str:
    if name not in {user.name for user in accounts.users()}:
        accounts.add_user(name)
    return accounts.create_token(accounts.user(name).id, "test", scopes, expires_us)[0]


async def test_a_caller_is_told_who_it_is(stub: AccountServiceAsyncStub, accounts: Accounts) -> None:
    secret = token_of(accounts, "ann", BOT_PLAY)
    told = await stub.WhoAmI(api.WhoAmIRequest(), metadata=metadata(secret))
    assert (told.user.name, list(told.token.scopes)) == ("ann", [BOT_PLAY])
    assert told.user.quotas["bots"] == 10
    assert not told.user.HasField("disabled_us")
    assert not told.token.HasField("expires_us")
    assert secret not in str(told)
