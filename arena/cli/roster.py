"""`arena bot list|show|versions|logs|disable|enable|rollback`: the bots of a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from botarena.v1 import api_bots_pb2 as api
from botarena.v1.api_common_pb2 import PageRequest

from arena.cli.output import OUT
from arena.cli.remote import connected, pages
from arena.cli.tables import plain_table
from arena.errors import NotAllowedError

if TYPE_CHECKING:
    from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub

VersionArgument = Annotated[
    str, typer.Argument(metavar="NAME[@N]", help="Such as mybot@3, or mybot for the version that plays.")
]
BotArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a bot.")]


@contextmanager
def catalog() -> Iterator[BotCatalogServiceStub]:
    """The bots of the server that is named, until the end of the block.

    Raises:
        UsageError: none is.
    """
    with connected() as server:
        from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub  # it loads gRPC

        yield server.stub(BotCatalogServiceStub)


def list_(
    owner: Annotated[str, typer.Option("--owner", metavar="USER", help="Only this user's.")] = "",
    game: Annotated[
        str, typer.Option("--game", metavar="GAME", help="Only those whose version plays it.")
    ] = "",
    state: Annotated[
        str, typer.Option("--state", metavar="STATE", help="Only those that are active, waiting or disabled.")
    ] = "",
) -> None:
    """The bots of a server."""
    with catalog() as bots:

        def read(page: PageRequest) -> api.ListBotsResponse:
            return bots.ListBots(api.ListBotsRequest(page=page, owner=owner, game=game, state=state))

        rows = [bot_row(bot) for answer in pages(read) for bot in answer.bots]
    heads = ("bot", "owner", "state", "plays", "since")
    cells = [
        (row["bot"], row["owner"], row["state"], _reference(row["bot"], row["active"]), row["created"])
        for row in rows
    ]
    OUT.table("bot", rows, lambda: plain_table(heads, cells))


def show(bot: BotArgument) -> None:
    """One bot: whose it is, which version plays, and how far the newest is."""
    with catalog() as bots:
        found = bots.GetBot(api.GetBotRequest(bot=bot))
    versions = [each for each in (found.active, found.newest) if each.number]
    row = bot_row(found.bot) | {
        "versions": [version_row(each) for each in {each.number: each for each in versions}.values()]
    }
    if OUT.json or OUT.csv:
        OUT.table("bot", [row], lambda: plain_table((), ()))
        return
    OUT.text(
        f"{row['bot']} of {row['owner']}: {row['state']}" + (", by an organiser" if row["barred"] else "")
    )
    _show_versions(row["versions"])


def versions(bot: BotArgument) -> None:
    """All versions of a bot, newest first."""
    with catalog() as bots:

        def read(page: PageRequest) -> api.ListVersionsResponse:
            return bots.ListVersions(api.ListVersionsRequest(page=page, bot=bot))

        rows = [version_row(version) for answer in pages(read) for version in answer.versions]
    _show_versions(rows)


def logs(
    version: VersionArgument,
    build: Annotated[bool, typer.Option("--build", help="Only what its build wrote.")] = False,
) -> None:
    """What the build of a version wrote, and how its check went: for its owner."""
    with catalog() as bots:
        found = bots.GetVersion(api.GetVersionRequest(reference=version))
    if not found.HasField("build_log"):
        raise NotAllowedError(
            f"the logs of {found.version.reference} are not yours",
            "only its owner and organisers may read them",
            "log in as its owner: arena login",
        )
    row = version_row(found.version) | {"build_log": found.build_log, "check_log": found.check_log}
    if OUT.json or OUT.csv:
        OUT.table("log", [row], lambda: plain_table((), ()))
        return
    OUT.text(state_text(row))
    for name, log in (("build", found.build_log), *(() if build else (("check", found.check_log),))):
        OUT.text(f"-- {name}" + ("" if log else ": nothing"))
        for line in log.splitlines():
            OUT.text(line)


def disable(
    version: VersionArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, of a version.")] = "",
) -> None:
    """Let a bot, or with @N one version of it, play no more."""
    with catalog() as bots:
        if "@" in version:
            request = api.DisableVersionRequest(reference=version, reason=reason)
            _tell_version(bots.DisableVersion(request).version)
        else:
            _tell_bot(bots.UpdateBot(api.UpdateBotRequest(bot=version, disabled=True)).bot)


def enable(version: VersionArgument) -> None:
    """Let a bot, or with @N one version of it, play again."""
    with catalog() as bots:
        if "@" in version:
            _tell_version(bots.EnableVersion(api.EnableVersionRequest(reference=version)).version)
        else:
            _tell_bot(bots.UpdateBot(api.UpdateBotRequest(bot=version, disabled=False)).bot)


def rollback(version: VersionArgument) -> None:
    """Let an older version play: the one with @N, or the newest before the one that plays."""
    with catalog() as bots:
        _tell_version(bots.ActivateVersion(api.ActivateVersionRequest(reference=version)).version)


def bot_row(bot: api.ServerBot) -> dict[str, Any]:
    """A bot as plain data."""
    return {
        "bot": bot.name,
        "owner": bot.owner,
        "state": bot.state,
        "active": bot.active if bot.HasField("active") else None,
        "mixed": bot.mixed,
        "barred": bot.barred,
        "created": _time(bot.created_us),
        "disabled": _time(bot.disabled_us) if bot.HasField("disabled_us") else None,
    }


def version_row(version: api.ServerBotVersion) -> dict[str, Any]:
    """A version as plain data."""
    return {
        "reference": version.reference,
        "bot": version.bot,
        "number": version.number,
        "owner": version.owner,
        "form": api.VersionKind.Name(version.kind).removeprefix("VERSION_KIND_").lower(),
        "state": state_of(version),
        "reason": version.reason,
        "version": version.version,
        "games": list(version.games),
        "language": version.language,
        "description": version.description,
        "notes": version.notes,
        "digest": version.digest,
        "size": version.size,
        "created": _time(version.created_us),
        "changed": _time(version.changed_us),
    }


def state_of(version: api.ServerBotVersion) -> str:
    """How far a version is, in a word."""
    return api.VersionState.Name(version.state).removeprefix("VERSION_STATE_").lower()


def state_text(row: dict[str, Any]) -> str:
    """How far a version is, in a line."""
    return f"{row['reference']} is {row['state']}" + (f": {row['reason']}" if row["reason"] else "")


def _show_versions(rows: list[dict[str, Any]]) -> None:
    heads = ("bot", "state", "comes as", "version", "games", "submitted", "notes")
    cells = [
        (
            row["reference"],
            row["state"],
            row["form"],
            row["version"],
            ", ".join(row["games"]) or "any",
            row["created"],
            row["reason"] or row["notes"],
        )
        for row in rows
    ]
    OUT.table("version", rows, lambda: plain_table(heads, cells))


def _tell_bot(bot: api.ServerBot) -> None:
    row = bot_row(bot)
    _tell("bot", row, f"{row['bot']} is {row['state']}")


def _tell_version(version: api.ServerBotVersion) -> None:
    row = version_row(version)
    _tell("version", row, state_text(row))


def _tell(kind: str, row: dict[str, Any], text: str) -> None:
    """A row as data if that is asked for, else a line."""
    if OUT.json or OUT.csv:
        OUT.table(kind, [row], lambda: plain_table((), ()))
    else:
        OUT.text(text)


def _reference(bot: str, number: int | None) -> str:
    return "nothing" if number is None else f"{bot}@{number}"


def _time(microseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(microseconds / 1e6))
