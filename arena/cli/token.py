"""`arena token` and `arena user`: who may use a server."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated

import typer

from arena.cli.common import DEFAULT_DB, DbOption
from arena.cli.desk import Row, open_desk
from arena.cli.output import OUT
from arena.cli.tables import plain_table
from arena.errors import UsageError
from arena.rights import SCOPES
from arena.units import parse_time

app = typer.Typer(help="Tokens of a server, or with --db in its database.", no_args_is_help=True)
users_app = typer.Typer(help="Users of a server, or with --db in its database.", no_args_is_help=True)

_DAY_US = 86_400_000_000

UserOption = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="Whose; your own if left out with --server.")
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")]


@app.command("create")
def create(
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help=f"Of: {', '.join(SCOPES)}."),
    ] = None,
    user: UserOption = None,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="It lives for 30d, 12h; else for ever."),
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Make a token and print it, once."""
    ends = None if expires is None else time.time_ns() // 1000 + _parse_life(expires)
    with open_desk(db) as desk:
        secret, row = desk.create_token(user, label, scope or [], ends)
    if OUT.json:
        OUT.lines("token", [{"secret": secret, **row}])
    elif OUT.csv:
        OUT.csv_rows([{"secret": secret, **row}])
    else:
        OUT.text(secret)
    OUT.say(f"token {row['token']} of {row['user']} allows {', '.join(row['scopes'])}; it is not shown again")


@app.command("list")
def list_(user: UserOption = None, db: DbOption = DEFAULT_DB) -> None:
    """Tokens, without what is secret about them."""
    with open_desk(db) as desk:
        _show_tokens(desk.tokens(user))


@app.command("revoke")
def revoke(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="As list tells it.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Make a token useless."""
    with open_desk(db) as desk:
        row = desk.revoke(number)
    _show_tokens([row])


@users_app.command("add")
def add(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Add a user."""
    with open_desk(db) as desk:
        _show_users([desk.add_user(name)])
    OUT.say(f"give them a token: arena token create --user {name} --scope bot:submit")


@users_app.command("list")
def list_users(db: DbOption = DEFAULT_DB) -> None:
    """All users."""
    with open_desk(db) as desk:
        _show_users(desk.users())


@users_app.command("disable")
def disable(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Refuse a user's tokens."""
    with open_desk(db) as desk:
        _show_users([desk.update_user(name, disabled=True)])


@users_app.command("enable")
def enable(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Accept a disabled user's tokens again."""
    with open_desk(db) as desk:
        _show_users([desk.update_user(name, disabled=False)])


@users_app.command("quota")
def quota(
    name: NameArgument,
    quotas: Annotated[list[str], typer.Argument(metavar="QUOTA=N...", help="Such as bots=20.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Give a user quotas of its own."""
    with open_desk(db) as desk:
        _show_users([desk.update_user(name, quotas=dict(map(_parse_quota, quotas)))])


def _parse_quota(text: str) -> tuple[str, int]:
    name, _, most = text.partition("=")
    if not (most.isascii() and most.isdecimal() and len(most) < 19):
        raise UsageError(f"{text!r} is no quota", "it is not like NAME=NUMBER", "write it as bots=20")
    return name, int(most)


def _parse_life(text: str) -> int:
    """How long a token lives, in microseconds."""
    days, hours = text.removesuffix("d"), text.removesuffix("h")
    for number, of, unit in ((days, _DAY_US, "d"), (hours, _DAY_US // 24, "h")):
        if text.endswith(unit) and number.isascii() and number.isdecimal() and 0 < len(number) < 6:
            return int(number) * of
    return parse_time(text)


def _show_users(users: Iterable[Row]) -> None:
    rows = list(users)
    cells = [(row["user"], _day(row["created_us"]), _day(row["disabled_us"])) for row in rows]
    OUT.table("user", rows, lambda: plain_table(("user", "added", "disabled"), cells))


def _show_tokens(tokens: Iterable[Row]) -> None:
    rows = list(tokens)
    heads = ("token", "user", "label", "allows", "made", "expires", "revoked", "used")
    times = ("created_us", "expires_us", "revoked_us", "used_us")
    cells = [
        (
            str(row["token"]),
            row["user"],
            row["label"],
            ", ".join(row["scopes"]),
            *(_day(row[t]) for t in times),
        )
        for row in rows
    ]
    OUT.table("token", rows, lambda: plain_table(heads, cells))


def _token_cells(row: Row) -> list[str]:
    times = (row[name] for name in ("created_us", "expires_us", "revoked_us", "used_us"))
    return [str(row["token"]), row["user"], row["label"], ", ".join(row["scopes"]), *map(_day, times)]


def _day(time_us: int | None) -> str:
    from datetime import UTC, datetime

    return "" if time_us is None else f"{datetime.fromtimestamp(time_us / 1e6, UTC):%Y-%m-%d %H:%M}"
