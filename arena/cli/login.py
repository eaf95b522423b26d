"""`arena login`, `logout` and `whoami`: which token this user shows to a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.desk import token_row, user_row
from arena.cli.logins import forget, keep
from arena.cli.output import OUT
from arena.cli.remote import connected, needed_address
from arena.errors import UsageError

if TYPE_CHECKING:
    from botarena.v1.api_accounts_pb2 import WhoAmIResponse

_LONGEST = 4096


def login(
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="Read the token there.")
    ] = None,
) -> None:
    """Keep a token for a server: it is asked for, or read from stdin if that is no terminal."""
    target = needed_address().target
    token = _read_token(token_file)
    who = _who(token)
    place = keep(target, token)
    OUT.say(f"logged in to {target} as {who.user.name}: {', '.join(who.token.scopes)}; kept in {place}")


def logout() -> None:
    """Forget the token that is kept for a server. It stays good: see token revoke."""
    target = needed_address().target
    OUT.say(f"logged out of {target}" if forget(target) else f"nobody is logged in to {target}")


def whoami() -> None:
    """Who one is to a server, and what one's token allows."""
    who = _who()
    row = {**user_row(who.user), "token": token_row(who.token)}
    cells = [
        ("user", who.user.name),
        ("token", f"{who.token.id} {who.token.label}".rstrip()),
        ("allows", ", ".join(who.token.scopes)),
        *((f"quota of {name}", f"{most:,}") for name, most in row["quotas"].items()),
    ]
    if OUT.json:
        OUT.lines("whoami", [row])
    elif OUT.csv:
        OUT.csv_rows([row])
    else:
        for what, text in cells:
            OUT.text(f"{what}: {text}")


def _who(token: str | None = None) -> WhoAmIResponse:
    from botarena.v1.api_accounts_pb2 import WhoAmIRequest
    from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub

    with connected(token) as remote:
        return remote.stub(AccountServiceStub).WhoAmI(WhoAmIRequest())


def _read_token(path: Path | None) -> str:
    """A token as somebody gives it: never as an argument, which all users of a machine can see."""
    if path is not None:
        text = _read_file(path)
    elif sys.stdin.isatty():
        from getpass import getpass

        text = getpass("token: ", sys.stderr)
    else:
        text = sys.stdin.read(_LONGEST)
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            "there is no token in it", "a token is one word", "give the one that arena token create printed"
        )
    return token


def _read_file(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", str(error), "name another --token-file") from None
