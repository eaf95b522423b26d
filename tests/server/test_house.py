"""The whole server in this process: what it offers, refuses and leaves behind."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from botarena.v1.api_accounts_pb2 import CreateUserRequest, ListUsersRequest
from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
from botarena.v1.api_server_pb2 import GetStatusRequest
from botarena.v1.api_server_pb2_grpc import ServerServiceStub
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub

from arena.errors import ArenaError, StateError, UsageError
from arena.games import GAMES
from arena.server.house import House
from arena.server.rooms import SERVICES
from arena.server.settings import read_settings
from tests.server.serving import channel_to, metadata

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


class Running:
    """A server that runs.

    Attributes:
        told: the lines for people.
    """

    def __init__(self, folder: Path, **flags: Any) -> None:
        self.told: list[str] = []
        self.stopping = asyncio.Event()
        self._port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        settings = read_settings({"db": str(folder / "arena.db"), "port": 0, "drain": "1s"} | flags, None)
        self.house = House(settings, self.told.append)
        self.task = asyncio.create_task(
            self.house.run(self.stopping, wait=True, listening=self._port.set_result)
        )

    async def address(self) -> str:
        """Where it listens, when it does."""
        both: list[asyncio.Future[Any]] = [self.task, self._port]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            await self.task
        return f"127.0.0.1:{await self._port}"

    async def end(self) -> None:
        """End it in order."""
        self.stopping.set()
        await self.task

    @property
    def token(self) -> str:
        """The one of the first start."""
        (line,) = (line for line in self.told if "token" in line and "arena_" in line)
        return line.split()[-1]


@asynccontextmanager
async def running(folder: Path, **flags: Any) -> AsyncIterator[Running]:
    server = Running(folder, **flags)
    try:
        yield server
    finally:
        await server.end()


async def health(channel: Any, service: str = "") -> int:
    answer = await HealthStub(channel).Check(HealthCheckRequest(service=service))
    return int(answer.status)


async def test_it_says_of_every_service_that_it_is_served(tmp_path: Path) -> None:
    async with running(tmp_path) as server, channel_to(await server.address()) as channel:
        assert {await health(channel, service) for service in ("", *SERVICES)} == {SERVING}


async def test_only_whoever_runs_it_is_told_how_busy_it_is(tmp_path: Path) -> None:
    async with running(tmp_path) as server, channel_to(await server.address()) as channel:
        ask = ServerServiceStub(channel).GetStatus
        public = await ask(GetStatusRequest())
        assert (list(public.games), public.HasField("load")) == (sorted(GAMES), False)
        private = await ask(GetStatusRequest(), metadata=metadata(server.token))
        assert private.load.started_us > 0
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await ask(GetStatusRequest(), metadata=metadata("arena_" + "x" * 43))
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(("flags", "told"), [({}, True), ({"reflection": False}, False)])
async def test_services_are_told_to_anybody_only_where_that_is_wanted(
    tmp_path: Path, flags: dict[str, Any], told: bool
) -> None:
    async with running(tmp_path, **flags) as server, channel_to(await server.address()) as channel:
        asked = ServerReflectionStub(channel).ServerReflectionInfo(
            iter([ServerReflectionRequest(list_services="")])
        )
        if told:
            (answer,) = [answer async for answer in asked]
            assert set(SERVICES) <= {service.name for service in answer.list_services_response.service}
        else:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await anext(aiter(asked))
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_the_first_token_is_shown_once(tmp_path: Path) -> None:
    for starts in (1, 0):
        async with running(tmp_path) as server:
            await server.address()
            assert sum("token" in line for line in server.told) == starts


async def test_the_first_token_is_written_where_nobody_else_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "admin.token"
    async with running(tmp_path, token_file=file) as server:
        async with channel_to(await server.address()) as channel:
            ask = ServerServiceStub(channel).GetStatus
            answer = await ask(GetStatusRequest(), metadata=metadata(file.read_text().strip()))
        assert answer.HasField("load")
        assert not any("arena_" in line for line in server.told)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.postgres
async def test_it_serves_a_database_on_postgresql(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with request.getfixturevalue("postgres").database(empty=True) as url:
        flags = {"db": url, "data": tmp_path / "files"}
        async with running(tmp_path, **flags) as server, channel_to(await server.address()) as channel:
            shown = metadata(server.token)
            await AccountServiceStub(channel).CreateUser(CreateUserRequest(name="ann"), metadata=shown)
        async with running(tmp_path, **flags) as server, channel_to(await server.address()) as channel:
            users = await AccountServiceStub(channel).ListUsers(ListUsersRequest(), metadata=shown)
            assert [user.name for user in users.users] == ["admin", "ann"]


async def test_a_second_server_takes_over_when_the_first_has_ended(tmp_path: Path) -> None:
    first = Running(tmp_path)
    await first.address()
    async with running(tmp_path) as second:
        while not second.told:
            await asyncio.sleep(0)
        assert not second.task.done()
        while not second.house.port:
            await asyncio.sleep(0.01)
        async with channel_to(f"127.0.0.1:{second.house.port}") as channel:
            assert await health(channel) == NOT_SERVING
            await first.end()
            await second.address()
            # The same port all the while: it was the second's own.
            assert await health(channel) == SERVING


async def test_a_second_server_that_does_not_want_to_wait_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        await first.address()
        settings = read_settings({"db": str(tmp_path / "arena.db"), "port": 0}, None)
        with pytest.raises(StateError, match="is being served"):
            await House(settings).run(asyncio.Event())


async def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with running(tmp_path) as first:
        port = int((await first.address()).rpartition(":")[2])
        with pytest.raises(StateError, match="cannot be listened on"):
            await Running(tmp_path / "other", port=port).task


async def test_tls_with_certificates_of_clients(tmp_path: Path) -> None:
    ours, theirs = trustme.CA(), trustme.CA()
    certificate, client = ours.issue_cert("127.0.0.1"), theirs.issue_cert("someone@example.org")
    certificate.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    certificate.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    theirs.cert_pem.write_to_path(str(tmp_path / "theirs.pem"))
    files = {"tls_cert": "cert.pem", "tls_key": "key.pem", "tls_client_ca": "theirs.pem"}
    async with running(tmp_path, **{name: tmp_path / file for name, file in files.items()}) as server:
        address = await server.address()
        roots = ours.cert_pem.bytes()
        pair = (client.private_key_pem.bytes(), client.cert_chain_pems[0].bytes())
        known = grpc.ssl_channel_credentials(roots, *pair)
        async with grpc.aio.secure_channel(address, known) as channel:
            assert await health(channel) == SERVING
        async with grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(roots)) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await health(channel)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_metrics_and_probes(tmp_path: Path) -> None:
    async with running(tmp_path, metrics_port=0) as server:
        async with channel_to(await server.address()) as channel:
            await ServerServiceStub(channel).GetStatus(GetStatusRequest())
        (line,) = (line for line in server.told if line.startswith("metrics on "))
        base = line.split()[-1].removesuffix("/metrics")

        def read(path: str) -> tuple[int, str]:
            with suppress(urllib.error.HTTPError), urllib.request.urlopen(base + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
            return 404, ""

        assert (await asyncio.to_thread(read, "/readyz"))[0] == 200
        assert (await asyncio.to_thread(read, "/etc/passwd"))[0] == 404
        _, text = await asyncio.to_thread(read, "/metrics")
        method = "/botarena.v1.ServerService/GetStatus"
        assert f'arena_calls_total{{code="OK",method="{method}"}} 1.0' in text
        assert 'arena_workers{state="alive"}' in text


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        ({"host": "0.0.0.0"}, "without TLS"),
        ({"host": "0.0.0.0", "insecure": True}, "sandbox"),
        ({"tls_cert": Path("cert.pem")}, "its key"),
        ({"quotas": {"castles": 3}}, "castles"),
        ({"rates": {"castles": 3}}, "castles"),
        ({"uploads": {"castles": "3B"}}, "castles"),
    ],
)
async def test_settings_that_must_not_be(tmp_path: Path, flags: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        await Running(tmp_path, **flags).task


SETTINGS: list[tuple[str, dict[str, str], dict[str, Any], Callable[[Any], object], object]] = [
    ("", {}, {}, lambda s: (s.port, s.drain, s.reflects), (50051, 30_000_000, True)),
    ("port = 1\n[quotas]\nbots = 2", {}, {}, lambda s: (s.port, s.quotas), (1, {"bots": 2})),
    ("port = 1", {"PORT": "2"}, {}, lambda s: s.port, 2),
    ("port = 1", {"PORT": "2"}, {"port": 3}, lambda s: s.port, 3),
    ('drain = "90s"', {"UPLOADS__SIZE_BYTES": "2MiB"}, {}, lambda s: s.uploads, {"size_bytes": 2 << 20}),
    ("", {"REFLECTION": "false"}, {}, lambda s: s.reflects, False),
]


@pytest.mark.parametrize(("file", "environment", "flags", "get", "expected"), SETTINGS)
def test_flags_are_over_the_environment_and_that_over_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    environment: dict[str, str],
    flags: dict[str, Any],
    get: Callable[[Any], object],
    expected: object,
) -> None:
    (tmp_path / "serve.toml").write_text(file)
    for name, value in environment.items():
        monkeypatch.setenv(f"ARENA_SERVE_{name}", value)
    assert get(read_settings(flags, tmp_path / "serve.toml")) == expected


@pytest.mark.parametrize(
    ("file", "environment", "what"),
    [
        ("castle = 1", {}, "castle"),
        ("", {"CASTLE": "1"}, "CASTLE"),
        ("port = 70000", {}, "port"),
        ('drain = "soon"', {}, "drain"),
        ("", {"SANDBOX": "cellar"}, "sandbox"),
        ("port =", {}, "cannot be read"),
    ],
)
def test_settings_that_mean_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, environment: dict[str, str], what: str
) -> None:
    (tmp_path / "serve.toml").write_text(file)
    for name, value in environment.items():
        monkeypatch.setenv(f"ARENA_SERVE_{name}", value)
    with pytest.raises(ArenaError, match=what):
        read_settings({}, tmp_path / "serve.toml")


def test_a_log_is_json_and_nothing_in_it_is_a_secret_or_moves_a_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import logging

    import structlog

    from arena.server.logs import set_up

    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        set_up("json", "info")
        structlog.get_logger("x").info("call", method="\x1b[2J/evil", token="arena_secret", ms=1.5)
        logging.getLogger("grpc").warning("hm %s", "\x07")
    finally:
        root.handlers, root.level = before[0], before[1]
        structlog.reset_defaults()
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["level"], first["ms"], first["method"]) == (
        "call",
        "info",
        1.5,
        "\\x1b[2J/evil",
    )
    assert "token" not in first
    assert second["event"] == "hm \\x07"
