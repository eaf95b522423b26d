"""Commands for a server: reaching it, logging in, users and tokens; and the same in its database."""

from __future__ import annotations

import io
import json
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest

from arena.cli import logins, remote
from arena.cli.line import split
from arena.cli.remote import Address, parse_address
from arena.errors import UsageError
from arena.rights import ADMIN, BOT_PLAY, BOT_SUBMIT
from arena.server.accounts import AccountPart
from arena.server.guard import Guard
from arena.server.tls import credentials
from arena.store.accounts import Accounts
from arena.store.store import Store, sqlite_url
from tests.cli.command import Commands
from tests.server.certificates import Files, make
from tests.server.serving import PLENTY, served_beside


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing of the environment and of this user's own logins is used."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ARENA_SERVER", "ARENA_TOKEN", "ARENA_TLS_CA", "ARENA_TLS_CERT", "ARENA_TLS_KEY"):
        monkeypatch.delenv(name, raising=False)
    yield
    remote.choose(None, None)


@pytest.fixture
def accounts(empty_database: Path, tmp_path: Path) -> Iterator[Accounts]:
    with closing(Store(sqlite_url(Path(shutil.copy(empty_database, tmp_path / "server.db"))))) as store:
        yield Accounts(store)


@pytest.fixture
def address(accounts: Accounts) -> Iterator[str]:
    with served_beside(Guard(accounts, PLENTY), [AccountPart(accounts)]) as found:
        yield found


@pytest.fixture
def arena(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setenv("ARENA_DB", str(tmp_path / "server.db"))
    return Commands(capsys)


def secret_of(accounts: Accounts, name: str, *scopes: str) -> str:
    return accounts.create_token(accounts.add_user(name).id, "test", scopes)[0]


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Have a command read a text."""
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


# the line


@pytest.mark.parametrize(
    ("line", "front", "rest"),
    [
        ("play koffer", "", "play koffer"),
        ("--server a:1 play koffer", "--server a:1", "play koffer"),
        ("play --server a:1 koffer --json", "--server a:1 --json", "play koffer"),
        ("play koffer --server=a:1", "--server=a:1", "play koffer"),
        ("play --tls-ca f --seed 1", "--tls-ca f", "play --seed 1"),
        ("play --server", "--server", "play"),
        ("play --servers a", "", "play --servers a"),
    ],
)
def test_global_options_stand_anywhere(line: str, front: str, rest: str) -> None:
    assert split(line.split()) == (front.split(), rest.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("localhost", Address("localhost", 50051)),
        ("arena.example:7", Address("arena.example", 7)),
        ("[::1]:7", Address("::1", 7)),
        ("http://arena.example:7", Address("arena.example", 7, tls=False)),
        ("https://127.0.0.1/", Address("127.0.0.1", 50051, tls=True)),
        *(
            (wrong, None)
            for wrong in (":7", "a:b", "a:70000", "a:7/x", "u@a:7", "::1:x", "a?b", "[::1", "http://")
        ),
    ],
)
def test_addresses_as_people_write_them(text: str, found: Address | None) -> None:
    if found is None:
        with pytest.raises(UsageError, match="no server"):
            parse_address(text)
    else:
        assert parse_address(text) == found
        assert parse_address(found.target) == Address(found.host, found.port)


# reaching it


def test_a_server_that_is_not_there_is_told_of_in_a_few_seconds(arena: Commands) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        target = f"127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        told = arena.refused("whoami", "--server", target, code=1)
    assert f"the server {target} cannot be reached" in told
    assert time.monotonic() - began < 60


def test_what_needs_a_server_says_so(arena: Commands) -> None:
    assert "needs a server" in arena.refused("whoami", code=2)
    assert "no server" in arena.refused("whoami", "--server", "a:b", code=2)


def test_what_a_server_does_not_have_is_told(arena: Commands, accounts: Accounts) -> None:
    with served_beside(Guard(accounts, PLENTY), []) as address:
        assert "does not know this" in arena.refused("whoami", "--server", address, code=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make(tmp_path_factory.mktemp("tls") / "pki")


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Certificates of another authority."""
    return make(tmp_path_factory.mktemp("tls") / "strangers")


@pytest.mark.parametrize(
    ("mutual", "trusts", "shows", "gets_in"),
    [
        (False, "ours", None, True),
        (False, "strangers", None, False),
        (False, "plain", None, False),
        (True, "ours", "ours", True),
        (True, "ours", None, False),
        (True, "ours", "strangers", False),
    ],
)
def test_who_gets_through_tls(
    arena: Commands,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    files: Files,
    strangers: Files,
    mutual: bool,
    trusts: str,
    shows: str | None,
    gets_in: bool,
) -> None:
    of = {"ours": files, "strangers": strangers}
    monkeypatch.setenv("ARENA_TOKEN", secret_of(accounts, "ann", BOT_PLAY))
    if trusts != "plain":
        monkeypatch.setenv("ARENA_TLS_CA", str(of[trusts].ca))
    if shows is not None:
        monkeypatch.setenv("ARENA_TLS_CERT", str(of[shows].client_cert))
        monkeypatch.setenv("ARENA_TLS_KEY", str(of[shows].client_key))
    shown: grpc.ServerCredentials = credentials(files.cert, files.key, files.ca if mutual else None)
    with served_beside(Guard(accounts, PLENTY), [AccountPart(accounts)], shown) as address:
        if gets_in:
            assert arena("whoami", "--json", "--server", address).rows[0]["user"] == "ann"
        else:
            # This is not tried again, as what changes nothing is.
            assert "cannot be reached" in arena.refused("token", "revoke", "1", "--server", address, code=1)


# logging in


def test_a_login_is_kept_for_its_server_alone(
    arena: Commands, accounts: Accounts, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = secret_of(accounts, "ann", BOT_SUBMIT)
    give(monkeypatch, f"{secret}\n")
    told = arena("login", "--server", address)
    assert "as ann: bot:submit" in told.err
    assert secret not in told.out + told.err
    (row,) = arena("whoami", "--json", "--server", address).rows
    assert (row["user"], row["token"]["scopes"], row["quotas"]["bots"]) == ("ann", [BOT_SUBMIT], 10)
    place = logins._path()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list(json.loads(place.read_text())) == [address]
    arena("logout", "--server", address)
    assert "needs a token" in arena.refused("whoami", "--server", address, code=5)
    assert secret not in place.read_text()


@pytest.mark.parametrize("given", ["arena_" + 43 * "x", "", "two words", "näh", "a\x00b"])
def test_a_token_that_is_not_good_is_not_kept(
    arena: Commands, address: str, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    give(monkeypatch, given)
    arena.refused("login", "--server", address, code=5 if given.startswith("arena_") else 2)
    assert not logins._path().exists()


def test_a_token_file_and_the_environment(
    arena: Commands, accounts: Accounts, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(secret_of(accounts, "ann", BOT_PLAY))
    arena("login", "--token-file", str(file), "--server", address)
    monkeypatch.setenv("ARENA_SERVER", address)
    assert arena("whoami", "--json").rows[0]["user"] == "ann"
    monkeypatch.setenv("ARENA_TOKEN", secret_of(accounts, "bob", BOT_PLAY))
    assert arena("whoami", "--json").rows[0]["user"] == "bob"
    assert "cannot be read" in arena.refused("login", "--token-file", str(tmp_path / "none"), code=2)


def test_a_file_of_logins_that_is_broken_is_named(arena: Commands, address: str) -> None:
    place = logins._path()
    place.parent.mkdir(parents=True)
    for text in ("{", "[]", '{"a": 1}'):
        place.write_text(text)
        assert "logins.json cannot be read" in arena.refused("whoami", "--server", address, code=1)


# users and tokens


@pytest.mark.parametrize("there", ["server", "database"])
def test_users_and_tokens_are_dealt_with_in_both_places(
    arena: Commands, accounts: Accounts, address: str, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    if there == "server":
        monkeypatch.setenv("ARENA_TOKEN", secret_of(accounts, "root", ADMIN))
        monkeypatch.setenv("ARENA_SERVER", address)
    assert "ann" in arena("user", "add", "ann").out
    assert "looks like it" in arena.refused("user", "add", "A-nn", code=1)
    secret = arena("token", "create", "--user", "ann", "--scope", "bot:play", "--expires", "2h").out.strip()
    known = accounts.check(secret)
    assert (known.name, *known.scopes) == ("ann", BOT_PLAY)
    expires_us = accounts.token(known.token).expires_us
    assert expires_us is not None
    assert 0 < expires_us / 1e6 - time.time() < 7200
    (row,) = arena("token", "create", "--user", "ann", "--scope", "admin", "--label", "[b]=", "--json").rows
    assert accounts.check(row["secret"]).is_admin
    listed = arena("token", "list", "--user", "ann", "--json").rows
    assert [token["token"] for token in listed] == [known.token, row["token"]]
    assert secret not in arena("token", "list", "--user", "ann").out
    assert "[b]=" in arena("token", "list", "--user", "ann").out
    arena("token", "revoke", str(row["token"]))
    assert accounts.token(row["token"]).revoked_us is not None
    arena("user", "quota", "ann", "bots=3", "matches=5")
    quotas = accounts.user("ann").quotas
    assert (quotas.bots, quotas.matches, quotas.tokens) == (3, 5, 50)
    arena("user", "disable", "ann")
    assert accounts.user("ann").disabled_us is not None
    arena("user", "enable", "ann")
    assert accounts.user("ann").disabled_us is None
    assert [user["user"] for user in arena("user", "list", "--json").rows if user["user"] != "root"] == [
        "ann"
    ]
    for line, code in [
        ("user disable nobody", 4),
        ("token revoke 99", 4),
        ("token create --user ann", 2),
        ("token create --user ann --scope root", 2),
        ("token create --user ann --scope bot:play --expires soon", 2),
        ("user quota ann bots", 2),
        ("user quota ann beds=1", 2),
        ("user add ../x", 2),
    ]:
        arena.refused(*line.split(), code=code)


def test_in_a_database_a_token_needs_a_name(arena: Commands, accounts: Accounts) -> None:
    assert "nobody is named" in arena.refused("token", "create", "--scope", "admin", code=2)


def test_nobody_gives_more_than_it_has(
    arena: Commands, accounts: Accounts, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_SERVER", address)
    monkeypatch.setenv("ARENA_TOKEN", secret_of(accounts, "ann", BOT_PLAY))
    arena("token", "create", "--scope", "bot:play")
    assert "cannot allow so much" in arena.refused("token", "create", "--scope", "admin", code=5)
    for line in (
        "user list",
        "user add bob",
        "token create --user root --scope bot:play",
        "token list --user x",
    ):
        arena.refused(*line.split(), code=5)
