"""The service of users and tokens: who may do what to whom."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from botarena.v1 import api_accounts_pb2 as api
from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
from botarena.v1.api_common_pb2 import PageRequest

from arena.rights import ADMIN, BOT_PLAY, BOT_SUBMIT, SCOPES
from arena.server.accounts import AccountPart
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


HOUR_US = 3_600_000_000


async def code_of(call: Awaitable[Any]) -> str:
    try:
        await call
    except grpc.aio.AioRpcError as refused:
        return refused.code().name
    return "OK"


@pytest.mark.parametrize(
    ("mine", "wanted", "code"),
    [
        ((BOT_PLAY,), (BOT_PLAY,), "OK"),
        ((BOT_PLAY, BOT_SUBMIT), (BOT_PLAY,), "OK"),
        ((BOT_PLAY,), (BOT_PLAY, BOT_SUBMIT), "PERMISSION_DENIED"),
        ((BOT_PLAY,), (ADMIN,), "PERMISSION_DENIED"),
        ((ADMIN,), SCOPES, "OK"),
        ((ADMIN,), ("root",), "INVALID_ARGUMENT"),
        ((BOT_PLAY,), (), "INVALID_ARGUMENT"),
    ],
)
async def test_a_token_makes_others_that_allow_no_more(
    stub: AccountServiceAsyncStub,
    accounts: Accounts,
    mine: tuple[str, ...],
    wanted: tuple[str, ...],
    code: str,
) -> None:
    secret = token_of(accounts, "ann", *mine)
    request = api.CreateTokenRequest(scopes=wanted)
    assert await code_of(stub.CreateToken(request, metadata=metadata(secret))) == code
    assert len(accounts.tokens()) == (2 if code == "OK" else 1)


@pytest.mark.parametrize(
    ("scope", "mine", "wanted", "made"),
    [
        (BOT_PLAY, 2, None, 2),
        (BOT_PLAY, 2, 1, 1),
        (BOT_PLAY, 2, 3, 2),
        (BOT_PLAY, None, None, None),
        (ADMIN, 2, None, None),
        (ADMIN, 2, 3, 3),
    ],
)
async def test_a_token_makes_others_that_live_no_longer(
    stub: AccountServiceAsyncStub,
    accounts: Accounts,
    scope: str,
    mine: int | None,
    wanted: int | None,
    made: int | None,
) -> None:
    now = time.time_ns() // 1000

    def after(hours: int | None) -> int | None:
        return None if hours is None else now + hours * HOUR_US

    secret = token_of(accounts, "ann", scope, expires_us=after(mine))
    request = api.CreateTokenRequest(scopes=[BOT_PLAY], expires_us=after(wanted))
    answer = await stub.CreateToken(request, metadata=metadata(secret))
    assert accounts.token(answer.token.id).expires_us == after(made)
    assert accounts.check(answer.secret).scopes == {BOT_PLAY}


@pytest.mark.parametrize(
    ("mine", "its", "code"),
    [
        ((BOT_PLAY,), (BOT_PLAY,), "OK"),
        ((BOT_PLAY,), (BOT_SUBMIT,), "PERMISSION_DENIED"),
        ((BOT_PLAY, BOT_SUBMIT), (BOT_SUBMIT,), "OK"),
    ],
)
async def test_a_token_that_got_about_cannot_lock_its_user_out(
    stub: AccountServiceAsyncStub, accounts: Accounts, mine: tuple[str, ...], its: tuple[str, ...], code: str
) -> None:
    secret, other = token_of(accounts, "ann", *mine), token_of(accounts, "ann", *its)
    number = accounts.check(other).token
    request = api.RevokeTokenRequest(id=number)
    assert await code_of(stub.RevokeToken(request, metadata=metadata(secret))) == code
    assert (accounts.token(number).revoked_us is not None) == (code == "OK")


async def test_an_admin_does_not_lock_itself_out(stub: AccountServiceAsyncStub, accounts: Accounts) -> None:
    secret = token_of(accounts, "root", ADMIN)
    token_of(accounts, "ann", ADMIN)
    for name, code in (("root", "FAILED_PRECONDITION"), ("ann", "OK"), ("nobody", "NOT_FOUND")):
        request = api.UpdateUserRequest(name=name, disabled=True)
        assert await code_of(stub.UpdateUser(request, metadata=metadata(secret))) == code
    assert [user.disabled_us is None for user in accounts.users()] == [True, False]


async def test_lists_come_in_pages(stub: AccountServiceAsyncStub, accounts: Accounts) -> None:
    secret = token_of(accounts, "root", ADMIN)
    names = ["root", *(accounts.add_user(f"user-{letter}").name for letter in "abcd")]
    found: list[list[str]] = []
    token = ""
    while token or not found:
        request = api.ListUsersRequest(page=PageRequest(size=2, token=token))
        answer = await stub.ListUsers(request, metadata=metadata(secret))
        found.append([user.name for user in answer.users])
        token = answer.page.next
    assert found == [names[:2], names[2:4], names[4:]]
    for wrong in ("x", "-1", "9" * 30, "１"):  # noqa: RUF001 - a digit, but not one of ours
        request = api.ListUsersRequest(page=PageRequest(token=wrong))
        assert await code_of(stub.ListUsers(request, metadata=metadata(secret))) == "INVALID_ARGUMENT"
