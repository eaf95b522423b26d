"""The guard: what callers are told, what they are not, and how often they may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import DataError

from arena.errors import (
    ArenaError,
    CheckFailedError,
    NotAllowedError,
    NotFoundError,
    StateError,
    TakenError,
    TooMuchError,
    UnknownCallerError,
    UsageError,
)
from arena.rights import ADMIN, BOT_PLAY, SCOPES
from arena.server.access import MESSAGE_BYTES
from arena.server.caller import caller
from arena.server.guard import Guard, Limits, address_of
from arena.server.rates import Buckets, Rate
from arena.server.statuses import error_of
from arena.store.accounts import Accounts
from arena.store.store import StoreError
from arena.tournament.schedule import ScheduleError
from tests.server.serving import PLENTY, channel_to, metadata, served

WHO = "/botarena.v1.AccountService/WhoAmI"
PLAY = "/botarena.v1.BotService/Play"
HEALTH = "/grpc.health.v1.Health/Check"
Behaviour = Callable[[Any, Any], Any]


def serving_as(method: str, kind: str, behaviour: Behaviour) -> Callable[[grpc.aio.Server], None]:
    """Registers what answers a method."""
    service, name = method.strip("/").split("/")
    handler = getattr(grpc, f"{kind}_rpc_method_handler")(behaviour)
    found = grpc.method_handlers_generic_handler(service, {name: handler})
    return lambda server: server.add_generic_rpc_handlers((found,))


class Calls:
    """What a guard told of calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.failed: list[tuple[str, Exception]] = []

    def observe(self, method: str, code: str, seconds: float) -> None:
        self.seen.append((method, code))

    def fail(self, reference: str, method: str, error: Exception) -> None:
        self.failed.append((reference, error))


@asynccontextmanager
async def guarded(
    accounts: Accounts,
    behaviour: Behaviour,
    limits: Limits = PLENTY,
    method: str = WHO,
    kind: str = "unary_unary",
    calls: Calls | None = None,
) -> AsyncIterator[Any]:
    """The method of a server that a behaviour answers, ready to be called."""
    calls = calls or Calls()
    guard = Guard(accounts, limits, calls.observe, calls.fail)
    async with (
        served(guard, [serving_as(method, kind, behaviour)]) as address,
        channel_to(address) as channel,
    ):
        yield getattr(channel, kind)(method)


async def code_of(call: Awaitable[Any]) -> str:
    try:
        await call
    except grpc.aio.AioRpcError as refused:
        return refused.code().name
    return "OK"


async def answer(request: bytes, context: Any) -> bytes:
    return b"fine"


def raising(error: Exception) -> Behaviour:
    async def behave(request: bytes, context: Any) -> bytes:
        raise error

    return behave


@pytest.fixture
def token(accounts: Accounts) -> str:
    return accounts.create_token(accounts.add_user("ann").id, "", SCOPES)[0]


KINDS = {
    UsageError: "INVALID_ARGUMENT",
    NotFoundError: "NOT_FOUND",
    NotAllowedError: "PERMISSION_DENIED",
    UnknownCallerError: "UNAUTHENTICATED",
    TakenError: "ALREADY_EXISTS",
    StateError: "FAILED_PRECONDITION",
    CheckFailedError: "FAILED_PRECONDITION",
    TooMuchError: "RESOURCE_EXHAUSTED",
    ArenaError: "INTERNAL",
}


@pytest.mark.parametrize(("kind", "code"), KINDS.items(), ids=lambda value: getattr(value, "__name__", value))
async def test_an_error_arrives_as_what_it_was(
    accounts: Accounts, token: str, kind: type[ArenaError], code: str
) -> None:
    error = kind("it's <gone>", "wh\u00fd: \x1b[2J; no", "do … this")
    async with guarded(accounts, raising(error)) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"", metadata=metadata(token))
    assert caught.value.code().name == code
    found = error_of(caught.value)
    assert type(found) is kind
    assert found.args == error.args


async def test_errors_of_the_rules_are_told_as_commands_tell_them(accounts: Accounts, token: str) -> None:
    async with guarded(accounts, raising(ScheduleError("too few; add one"))) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"", metadata=metadata(token))
    found = error_of(caught.value)
    assert isinstance(found, UsageError)
    assert (found.why, found.do) == ("too few", "add one")


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("secret 42"),
        ValueError("secret 42"),
        OSError(13, "denied", "/secret 42"),
        StoreError("the database secret 42 failed", "secret 42", "mend it"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_of_what_fails_inside_callers_get_a_reference_alone(
    accounts: Accounts, token: str, error: Exception
) -> None:
    calls = Calls()
    async with guarded(accounts, raising(error), calls=calls) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"", metadata=metadata(token))
    ((reference, told),) = calls.failed
    assert told is error
    assert caught.value.code() == grpc.StatusCode.INTERNAL
    assert reference in str(caught.value.details())
    assert "secret" not in repr(caught.value)


async def test_what_no_database_can_keep_is_the_callers_fault(accounts: Accounts, token: str) -> None:
    error = DataError("INSERT", {}, ValueError("text fields cannot contain NUL bytes"))
    async with guarded(accounts, raising(error)) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"", metadata=metadata(token))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_a_method_knows_who_calls_it_also_at_once(accounts: Accounts) -> None:
    tokens = {name: accounts.create_token(accounts.add_user(name).id, "", [BOT_PLAY])[0] for name in "abcdef"}
    together = asyncio.Event()
    came: list[str] = []

    async def say_who(request: bytes, context: Any) -> bytes:
        came.append(caller().name)
        if len(came) == len(tokens):
            together.set()
        await together.wait()
        return caller().name.encode()

    async with guarded(accounts, say_who) as call:
        told = await asyncio.gather(*(call(b"", metadata=metadata(token)) for token in tokens.values()))
    assert [name.decode() for name in told] == list(tokens)


@pytest.mark.parametrize(
    "shown",
    [
        (("authorization", "Basic {}"),),
        (("authorization", "{}"),),
        (("authorization", "Bearer {}"), ("authorization", "Bearer {}")),
        (("authorization", "Bearer {} x"),),
        (("authorization", "Bearer"),),
    ],
)
async def test_a_token_is_shown_in_one_way(
    accounts: Accounts, token: str, shown: tuple[tuple[str, str], ...]
) -> None:
    async with guarded(accounts, answer) as call:
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"
        sent = tuple((key, value.format(token)) for key, value in shown)
        assert await code_of(call(b"", metadata=sent)) == "UNAUTHENTICATED"


async def test_a_method_that_nobody_thought_of_is_for_admins(accounts: Accounts, token: str) -> None:
    other = accounts.create_token(accounts.user("ann").id, "", set(SCOPES) - {ADMIN})[0]
    async with guarded(accounts, answer, method="/botarena.v1.NewService/Do") as call:
        assert await code_of(call(b"")) == "UNAUTHENTICATED"
        assert await code_of(call(b"", metadata=metadata(other))) == "PERMISSION_DENIED"
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"


async def test_calls_are_observed_with_what_became_of_them(accounts: Accounts, token: str) -> None:
    calls = Calls()
    async with guarded(accounts, answer, calls=calls) as call:
        await code_of(call(b"", metadata=metadata(token)))
        await code_of(call(b""))
    assert calls.seen == [(WHO, "OK"), (WHO, "UNAUTHENTICATED")]


async def test_a_stream_that_its_caller_leaves_is_closed(accounts: Accounts, token: str) -> None:
    closed = asyncio.Event()
    calls = Calls()

    async def tell(request: bytes, context: Any) -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with guarded(accounts, tell, kind="unary_stream", calls=calls) as method:
        call = method(b"", metadata=metadata(token))
        assert await call.read() == b"one"
        call.cancel()
        await asyncio.wait_for(closed.wait(), 30)
    assert calls.seen == [(WHO, "CANCELLED")]


@pytest.mark.parametrize(
    ("size", "shown", "code"),
    [
        (MESSAGE_BYTES, 1, "OK"),
        (MESSAGE_BYTES + 1, 1, "RESOURCE_EXHAUSTED"),
        (1, 100_000, "RESOURCE_EXHAUSTED"),
    ],
)
async def test_what_is_too_big_is_refused(
    accounts: Accounts, token: str, size: int, shown: int, code: str
) -> None:
    async with guarded(accounts, answer) as call:
        sent = (*metadata(token), ("x-more", "x" * shown))
        assert await code_of(call(bytes(size), metadata=sent)) == code
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"


# rates


async def test_each_token_has_its_own_rate(accounts: Accounts, token: str) -> None:
    other = accounts.create_token(accounts.user("ann").id, "", SCOPES)[0]
    async with guarded(accounts, answer, replace(PLENTY, token=Rate(1e-9, 2))) as call:
        codes = [await code_of(call(b"", metadata=metadata(token))) for _ in range(3)]
        assert codes == ["OK", "OK", "RESOURCE_EXHAUSTED"]
        assert await code_of(call(b"", metadata=metadata(other))) == "OK"


async def test_an_address_has_a_rate_whatever_it_shows(accounts: Accounts, token: str) -> None:
    async with guarded(accounts, answer, replace(PLENTY, peer=Rate(1e-9, 2)), method=HEALTH) as call:
        codes = [await code_of(call(b"", metadata=metadata(shown))) for shown in (None, token, None)]
    assert codes == ["OK", "OK", "RESOURCE_EXHAUSTED"]


async def test_who_guesses_is_held_back_and_who_is_known_is_not(accounts: Accounts, token: str) -> None:
    new = accounts.create_token(accounts.user("ann").id, "", SCOPES)[0]
    async with guarded(accounts, answer, replace(PLENTY, failures=Rate(1e-9, 2))) as call:
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"
        guesses = [metadata(f"arena_{number:043}") for number in range(4)]
        codes = [await code_of(call(b"", metadata=guess)) for guess in guesses]
        assert codes == ["UNAUTHENTICATED"] * 2 + ["RESOURCE_EXHAUSTED"] * 2
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"
        assert await code_of(call(b"", metadata=metadata(new))) == "RESOURCE_EXHAUSTED"


async def test_a_token_that_is_revoked_is_refused_at_once(accounts: Accounts, token: str) -> None:
    async with guarded(accounts, answer) as call:
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"
        accounts.revoke(accounts.tokens()[0].id)
        assert await code_of(call(b"", metadata=metadata(token))) == "UNAUTHENTICATED"


async def test_streams_of_bots_have_a_rate_of_opening(accounts: Accounts) -> None:
    async with guarded(accounts, answer, replace(PLENTY, openings=Rate(1e-9, 2)), method=PLAY) as call:
        assert [await code_of(call(b"")) for _ in range(3)] == ["OK", "OK", "RESOURCE_EXHAUSTED"]


async def test_a_token_has_so_many_calls_open(accounts: Accounts, token: str) -> None:
    came, go = asyncio.Semaphore(0), asyncio.Event()

    async def wait(request: bytes, context: Any) -> bytes:
        came.release()
        await go.wait()
        return b""

    async with guarded(accounts, wait, replace(PLENTY, open_calls=2)) as call:
        first = [asyncio.ensure_future(code_of(call(b"", metadata=metadata(token)))) for _ in range(2)]
        for _ in first:
            await came.acquire()
        assert await code_of(call(b"", metadata=metadata(token))) == "RESOURCE_EXHAUSTED"
        go.set()
        assert await asyncio.gather(*first) == ["OK", "OK"]
        assert await code_of(call(b"", metadata=metadata(token))) == "OK"


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.7:50000", "192.0.2.7"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:50000", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2:ffff::1]:1", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:1", "192.0.2.7"),
        ("ipv6:%5Bfe80::1%25eth0%5D:1", "fe80::/64"),
        ("unix:", "unix"),
        ("", ""),
    ],
)
def test_an_address_is_who_can_be_held_back(peer: str, address: str) -> None:
    assert address_of(peer) == address


@given(
    st.lists(st.tuples(st.floats(0, 3), st.integers(0, 2)), max_size=60),
    st.floats(0.1, 5),
    st.integers(1, 5),
)
def test_nobody_gets_more_than_the_rate(steps: list[tuple[float, int]], per_s: float, burst: int) -> None:
    now = 0.0
    buckets = Buckets(Rate(per_s, burst), now=lambda: now)
    let_in: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for pause, key in steps:
        now += pause
        wait_s = buckets.take(key)
        if not wait_s:
            let_in[key].append(now)
        else:
            assert wait_s <= 1 / per_s
    for times in let_in.values():
        for first, start in enumerate(times):
            for last in range(first, len(times)):
                most = burst + (times[last] - start) * per_s
                assert last - first + 1 <= most + 1e-6


def test_a_rate_lets_somebody_in_some_time() -> None:
    assert Buckets(Rate(1, 0.5)).take("a") == 0
    for never in (0.0, -1.0, float("nan")):
        with pytest.raises(UsageError, match="above 0"):
            Rate(never, 1)


def test_who_waits_as_told_is_let_in() -> None:
    now = 0.0
    buckets = Buckets(Rate(4, 1), now=lambda: now)
    assert buckets.take("a") == 0
    now += buckets.take("a") + 1e-9
    assert buckets.take("a") == 0


def test_buckets_stay_few() -> None:
    buckets = Buckets(Rate(1, 1), most=3, now=lambda: 0.0)
    assert [buckets.take(key) for key in "abc"] == [0, 0, 0]
    assert buckets.take("a") > 0
    assert buckets.take("d") == 0
    assert buckets.take("b") > 0
    assert buckets.take("a") == 0, "the oldest was forgotten"
