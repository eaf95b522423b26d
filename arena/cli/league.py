"""`arena league`: a tournament that runs on, with bots that come, change and go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bots.reference import resolve_all
from arena.bots.sandbox import strictest
from arena.cli.common import DEFAULT_DB, DbOption, open_store
from arena.cli.headstart import take
from arena.cli.output import OUT
from arena.cli.play import (
    EachOption,
    InFlightOption,
    JobsOption,
    OptionOption,
    PinOption,
    SeedOption,
    create,
    play_session,
)
from arena.cli.results import read_report, show_outcome, show_places, show_standings
from arena.cli.sandboxes import LimitsOption, SandboxOption
from arena.cli.source import open_source
from arena.cli.terms import (
    AtOption,
    DetachOption,
    OpenOption,
    PerDayOption,
    RemoteOption,
    SameOwnerOption,
    Terms,
    UnratedOption,
    on_server,
)
from arena.errors import NotFoundError, UsageError
from arena.runs.custody import Custody, confine, confine_again, custody
from arena.runs.definition import Definition, bots_of, check_versions, parse_each, parse_options
from arena.runs.executor import Workers, make_executor
from arena.runs.leagues import active, alone, between_rounds, entrant, seat
from arena.runs.rows import place_rows, told
from arena.store.stored import StoredTournament
from arena.tournament.formats import LADDER
from arena.tournament.local import IN_FLIGHT
from arena.tournament.runner import Run

if TYPE_CHECKING:
    from arena.store.store import Store

app = typer.Typer(help="A tournament that runs on, with bots that come, change and go.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the league.")]


@app.command("run")
def run(
    context: typer.Context,
    name: NameArgument,
    bots: Annotated[
        list[str] | None, typer.Argument(metavar="[BOT...]", help="To begin with; later: league add.")
    ] = None,
    game: Annotated[str | None, typer.Option("--game", metavar="GAME", help="Of a new league.")] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, help="How many this time; until Ctrl-C if left out.")
    ] = None,
    seats: Annotated[int | None, typer.Option("--seats", help="At a table of a new league.")] = None,
    deals: Annotated[
        int | None, typer.Option("--deals", min=1, help="At each table of a round of a new league.")
    ] = None,
    seed: SeedOption = None,
    option: OptionOption = None,
    each: EachOption = None,
    jobs: JobsOption = None,
    in_flight: InFlightOption = IN_FLIGHT,
    pin: PinOption = True,
    sandbox: SandboxOption = None,
    limits: LimitsOption = None,
    per_day: PerDayOption = None,
    open_to_all: OpenOption = False,
    detach: DetachOption = False,
    at: AtOption = None,
    allow_same_owner: SameOwnerOption = False,
    unrated: UnratedOption = False,
    remote: RemoteOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Begin a league, or play on: round after round until Ctrl-C, or as many as asked for."""
    there = on_server(context, "rounds")
    terms = Terms(at, allow_same_owner, unrated, remote, per_day, open_to_all)
    new = None
    if bots or game:
        new = Definition(
            game=_needed(game),
            bots=bots or [],
            kind="league",
            format=LADDER,
            name=name,
            seats=seats,
            deals=deals or 1,
            seed=seed,
            options=parse_options(option or []),
            limits=parse_each(each or []),
        )
    elif any(given is not None for given in (seats, deals, seed, option, each)) or terms != Terms():
        raise UsageError(
            f"{name} cannot be changed",
            "seats, deals, seed, options, limits and terms are those that it began with",
            "leave them out, or begin another league with --game and bots",
        )
    if there:
        _run_on_server(name, new, terms, detach)
        return
    held = custody(sandbox, limits)
    with open_store(db) as store:
        if new is not None:
            create(store, replace(new, custody=held).build(OUT.say), db)
        with alone(_league(store, name), db):
            _play(store, name, rounds, db, Workers(jobs, in_flight, pin), held)
        league = store.tournament(name)
        show_standings(told(read_report(store, league)))
        if not OUT.csv:
            show_places(place_rows(store, league))


def _run_on_server(name: str, new: Definition | None, terms: Terms, detach: bool) -> None:
    from arena.cli import hosted

    if new is None:
        hosted.go_on(name, detach, is_league=True)
    else:
        hosted.create_league(new, terms, detach)


@app.command("add")
def add(
    context: typer.Context,
    name: NameArgument,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="./dir, ./bot.py, module:Class, house:NAME")],
    limits: LimitsOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Let a bot take part from the next round on; a changed one takes the place of its older version."""
    if on_server(context):
        from arena.cli import hosted

        hosted.enter_league(name, bot)
        return
    with open_store(db) as store:
        league = _league(store, name)
        held = custody(strictest(bots_of(league)), limits)
        (spec,) = confine(resolve_all([bot], league.game), held, OUT.say)
        newcomer = entrant(league, spec)
        with between_rounds(store, league, db):
            for older in seat(store, league, newcomer):
                OUT.say(f"{older} retires; its games stay")
        OUT.say(f"{newcomer.name} plays from the next round on")


@app.command("remove")
def remove(
    context: typer.Context,
    name: NameArgument,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Its name in the league.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Let a bot play no further round; its games stay."""
    if on_server(context):
        from arena.cli import hosted

        hosted.leave_league(name, bot)
        return
    with open_store(db) as store:
        league = _league(store, name)
        found = [index for index in active(league) if league.bots[index].name == bot]
        if not found:
            names = ", ".join(league.bots[index].name for index in active(league))
            raise NotFoundError(
                f"{bot} does not play in {name}", f"those who do are {names}", "name one of them"
            )
        with between_rounds(store, league, db):
            store.retire_bot(league.id, found[0])
        OUT.say(f"{bot} retires; its games stay")


@app.command("status")
def status(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """State, ratings and ladder of a league."""
    with open_source(db) as source:
        result = source.result(name, details=not OUT.csv)
    _check_league(name, result["tournament"]["format"])
    if result["retired"]:
        OUT.say(f"retired: {', '.join(result['retired'])}")
    show_outcome(result)


def _needed(game: str | None) -> str:
    if game is None:
        raise UsageError(
            "bots were named, but no game",
            "a league that there is already gets bots by league add, and a new one needs a game",
            "add --game, or leave the bots out",
        )
    return game


def _league(store: Store, name: str) -> StoredTournament:
    found = store.tournament(name)
    _check_league(name, found.format)
    return found


def _check_league(name: str, form: str) -> None:
    if form != LADDER:
        raise UsageError(f"{name} is no league", f"it is a {form} tournament", "choose another name")


def _play(store: Store, name: str, rounds: int | None, db: str, workers: Workers, custody: Custody) -> None:
    """Round after round, with new workers whenever bots came or went."""
    changed = True
    while changed:
        league = store.tournament(name)
        check_versions(league, f"restore it, or let it play as a new version: arena league add {name} BOT")
        session = Run(store, league, rounds)
        executor = make_executor(confine_again(league, custody, OUT.say), db, workers, take())
        play_session(session, executor, f"arena league run {name}")
        changed, rounds = session.changed, session.rounds
