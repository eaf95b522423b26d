"""The command `arena`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from arena import __version__
from arena.cli import games, matches, play, results
from arena.cli.output import OUT
from arena.errors import ArenaError, CheckFailedError, NotFoundError, UsageError
from arena.games.game import GameError, UnknownGameError
from arena.match.record import RecordDamagedError
from arena.ratings.fold import RatingError
from arena.tournament.schedule import ScheduleError

app = typer.Typer(
    name="arena",
    help="Let bots play card games, fairly and fast, and say who is better and how sure that is.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(games.app, name="games")
app.command("play")(play.play)
app.add_typer(play.tournament_app, name="tournament")
app.command("leaderboard")(results.leaderboard)
app.add_typer(matches.app, name="match")
app.command("replay")(matches.replay)
app.command("verify")(matches.verify)

play.tournament_app.command("list")(results.list_)
play.tournament_app.command("show")(results.show)
play.tournament_app.command("export")(results.export)

# The options of `_global` may stand anywhere in the line.
_GLOBAL_FLAGS = {"--json", "--csv", "--quiet", "-v", "-vv", "--no-color"}


def _version(wanted: bool) -> None:
    if wanted:
        print(f"arena {__version__}")
        raise typer.Exit


@app.callback()
def _global(
    as_json: Annotated[bool, typer.Option("--json", help="Data as JSON lines.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Tables as CSV.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No talk but errors.")] = False,
    verbose: Annotated[
        int, typer.Option("-v", count=True, help="More talk; -vv also tracebacks of errors.")
    ] = 0,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours, also on a terminal.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    OUT.set(as_json=as_json, as_csv=as_csv, quiet=quiet, verbose=verbose, color=not no_color)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; its exit code.

    0 fine, 1 error, 2 usage, 3 a check, verification or bot failed, 4 not found, 130 interrupted.
    """
    front = [word for word in arguments if word in _GLOBAL_FLAGS]
    rest = [word for word in arguments if word not in _GLOBAL_FLAGS]
    try:
        app([*front, *rest])
    except ArenaError as error:
        OUT.error(error)
        return error.code
    except (GameError, ScheduleError, RecordDamagedError, RatingError) as error:
        explained = _explained(error)
        OUT.error(explained)
        return explained.code
    except SystemExit as leave:  # its way to say how a command ended, and that the line was no command
        return leave.code if isinstance(leave.code, int) else 1
    return 0


def _explained(error: ValueError) -> ArenaError:
    """An error of the rules, the schedule or a record as a person needs it."""
    if isinstance(error, (RecordDamagedError, RatingError)):
        do = "see which matches differ: arena verify --tournament NAME"
        explained: ArenaError = CheckFailedError("the records cannot be read", str(error), do)
    elif isinstance(error, UnknownGameError):
        explained = NotFoundError("there is no such game", str(error), "see: arena games")
    else:
        explained = UsageError("this cannot be played", str(error), "see: arena games show GAME")
    explained.__cause__ = error
    return explained


def main() -> None:
    """Entry of the program."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
