"""The commands of `arena`: which there are, their common options, and how their errors are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from arena import __version__
from arena.cli import remote
from arena.cli.line import SERVER, TLS_CA, split
from arena.cli.output import OUT
from arena.errors import ArenaError


def _games(app: typer.Typer) -> None:
    from arena.cli import games

    app.add_typer(games.app, name="games")


def _play(app: typer.Typer) -> None:
    from arena.cli import play

    app.command("play")(play.play)


def _tournament(app: typer.Typer) -> None:
    from arena.cli import play, results, steering

    tournament = typer.Typer(help="Run tournaments and look at them.", no_args_is_help=True)
    tournament.command("run")(play.run)
    tournament.command("resume")(play.resume)
    tournament.command("pause")(steering.pause)
    tournament.command("cancel")(steering.cancel)
    tournament.command("watch")(steering.watch)
    tournament.command("list")(results.list_)
    tournament.command("show")(results.show)
    app.add_typer(tournament, name="tournament")


def _compare(app: typer.Typer) -> None:
    from arena.cli import compare

    app.command("compare")(compare.compare)


def _league(app: typer.Typer) -> None:
    from arena.cli import league

    app.add_typer(league.app, name="league")


def _leaderboard(app: typer.Typer) -> None:
    from arena.cli import boards

    app.command("leaderboard")(boards.leaderboard)


def _head_to_head(app: typer.Typer) -> None:
    from arena.cli import meetings

    app.command("head-to-head")(meetings.head_to_head)


def _export(app: typer.Typer) -> None:
    from arena.cli import export

    app.command("export", help=export.help_text())(export.export)


def _match(app: typer.Typer) -> None:
    from arena.cli import matches

    app.add_typer(matches.app, name="match")


def _bot(app: typer.Typer) -> None:
    from arena.cli import bot

    app.add_typer(bot.app, name="bot")


def _replay(app: typer.Typer) -> None:
    from arena.cli import matches

    app.command("replay")(matches.replay)


def _verify(app: typer.Typer) -> None:
    from arena.cli import matches

    app.command("verify")(matches.verify)


def _serve(app: typer.Typer) -> None:
    from arena.cli import serve

    app.command("serve")(serve.serve)


def _db(app: typer.Typer) -> None:
    from arena.cli import db

    app.add_typer(db.app, name="db")


def _status(app: typer.Typer) -> None:
    from arena.cli import status

    app.command("status")(status.status)


def _token(app: typer.Typer) -> None:
    from arena.cli import token

    app.add_typer(token.app, name="token")


def _user(app: typer.Typer) -> None:
    from arena.cli import token

    app.add_typer(token.users_app, name="user")


def _login(app: typer.Typer) -> None:
    from arena.cli import login

    app.command("login")(login.login)


def _logout(app: typer.Typer) -> None:
    from arena.cli import login

    app.command("logout")(login.logout)


def _whoami(app: typer.Typer) -> None:
    from arena.cli import login

    app.command("whoami")(login.whoami)


_COMMANDS: Mapping[str, Callable[[typer.Typer], None]] = {
    "games": _games,
    "play": _play,
    "tournament": _tournament,
    "compare": _compare,
    "league": _league,
    "leaderboard": _leaderboard,
    "head-to-head": _head_to_head,
    "export": _export,
    "match": _match,
    "bot": _bot,
    "replay": _replay,
    "verify": _verify,
    "serve": _serve,
    "db": _db,
    "status": _status,
    "login": _login,
    "logout": _logout,
    "whoami": _whoami,
    "token": _token,
    "user": _user,
}
"""How each is added to the program. What it needs is loaded with it: that takes longer than most of them."""


def _app(line: Sequence[str]) -> typer.Typer:
    """The program with the command that a line begins with; with all of them if that is none of them."""
    app = typer.Typer(
        name="arena",
        help="Let bots play card games, fairly and fast, and say who is better and how sure that is.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_global)
    for name in line[:1] if line and line[0] in _COMMANDS else _COMMANDS:
        _COMMANDS[name](app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"arena {__version__}")
        raise typer.Exit


def _global(
    as_json: Annotated[bool, typer.Option("--json", help="Data as JSON lines.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Tables as CSV.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No talk but errors.")] = False,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="More talk; -vv also tracebacks of errors.")
    ] = 0,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")] = False,
    server: Annotated[
        str | None,
        typer.Option(SERVER, envvar="ARENA_SERVER", metavar="ADDR", help="Work on a server: HOST:PORT."),
    ] = None,
    tls_ca: Annotated[
        Path | None,
        typer.Option(TLS_CA, envvar="ARENA_TLS_CA", metavar="FILE", help="Whom to trust for it, PEM."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    OUT.set(as_json=as_json, as_csv=as_csv, quiet=quiet, verbose=verbose, color=not no_color)
    remote.choose(server, tls_ca)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; its exit code.

    0 fine, 1 error, 2 usage, 3 a check, verification or bot failed, 4 not found, 5 not allowed,
    130 interrupted.
    """
    front, rest = split(arguments)
    try:
        _app(rest)([*front, *rest])
    except ArenaError as error:
        OUT.error(error)
        return error.code
    except (ValueError, OSError) as error:
        from arena.runs.explained import explained

        if (known := explained(error)) is None:
            raise
        OUT.error(known)
        return known.code
    except SystemExit as leave:  # its way to say how a command ended, and that the line was no command
        return leave.code if isinstance(leave.code, int) else 1
    return 0
