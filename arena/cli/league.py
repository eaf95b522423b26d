"""`arena league`: a tournament that runs on, with bots that come, change and go."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bots.reference import BotSpec, resolve_all
from arena.bots.sandbox import strictest
from arena.cli.common import DEFAULT_DB, DbOption, logs_folder, open_store
from arena.cli.definition import Definition, bots_of, parse_each, parse_options
from arena.cli.output import OUT
from arena.cli.play import (
    EachOption,
    InFlightOption,
    JobsOption,
    OptionOption,
    PinOption,
    SeedOption,
    Workers,
    check_versions,
    create,
    make_executor,
    play_session,
)
from arena.cli.results import place_rows, read_report, show, show_places, show_standings
from arena.cli.sandboxes import Custody, LimitsOption, SandboxOption, confine, confine_again, custody
from arena.errors import ArenaError, NotFoundError, UsageError
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.formats import LADDER
from arena.tournament.local import IN_FLIGHT
from arena.tournament.runner import Run

if TYPE_CHECKING:
    from arena.store.store import Store

app = typer.Typer(help="A tournament that runs on, with bots that come, change and go.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the league.")]


@app.command("run")
def run(
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
    db: DbOption = DEFAULT_DB,
) -> None:
    """Begin a league, or play on: round after round until Ctrl-C, or as many as asked for."""
    held = custody(sandbox, limits)
    with open_store(db) as store:
        if bots or game:
            definition = Definition(
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
                custody=held,
            )
            create(store, definition.build(), db)
        elif any(given is not None for given in (seats, deals, seed, option, each)):
            raise UsageError(
                f"{name} cannot be changed",
                "seats, deals, seed, options and limits are those that it began with",
                "leave them out, or begin another league with --game and bots",
            )
        with _alone(_league(store, name), db):
            _play(store, name, rounds, db, Workers(jobs, in_flight, pin), held)
        league = store.tournament(name)
        show_standings(read_report(store, league))
        if not OUT.csv:
            show_places(place_rows(store, league))


@app.command("add")
def add(
    name: NameArgument,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="./dir, ./bot.py, module:Class, house:NAME")],
    limits: LimitsOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Let a bot take part from the next round on; a changed one takes the place of its older version."""
    with open_store(db) as store:
        league = _league(store, name)
        held = custody(strictest(bots_of(league)), limits)
        (spec,) = confine(resolve_all([bot], league.game), held)
        older = [index for index in _active(league) if _base(league.bots[index].name) == spec.name]
        entrant = _entrant(league, spec)
        with _between_rounds(store, league, db):
            for index in older:
                store.retire_bot(league.id, index)
                OUT.say(f"{league.bots[index].name} retires; its games stay")
            known = [index for index, had in enumerate(league.bots) if had.name == entrant.name]
            if known:
                store.retire_bot(league.id, known[0], retired=False)
            else:
                store.add_bot(league.id, entrant)
        OUT.say(f"{entrant.name} plays from the next round on")


@app.command("remove")
def remove(
    name: NameArgument,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Its name in the league.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Let a bot play no further round; its games stay."""
    with open_store(db) as store:
        league = _league(store, name)
        found = [index for index in _active(league) if league.bots[index].name == bot]
        if not found:
            names = ", ".join(league.bots[index].name for index in _active(league))
            raise NotFoundError(
                f"{bot} does not play in {name}", f"those who do are {names}", "name one of them"
            )
        with _between_rounds(store, league, db):
            store.retire_bot(league.id, found[0])
        OUT.say(f"{bot} retires; its games stay")


@app.command("status")
def status(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """State, ratings and ladder of a league."""
    with open_store(db) as store:
        league = _league(store, name)
    retired = [bot.name for bot in league.bots if bot.retired]
    if retired:
        OUT.say(f"retired: {', '.join(retired)}")
    show(name, db)


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
    if found.format != LADDER:
        raise UsageError(f"{name} is no league", f"it is a {found.format} tournament", "choose another name")
    return found


def _active(league: StoredTournament) -> Sequence[int]:
    return [index for index, bot in enumerate(league.bots) if not bot.retired]


def _base(name: str) -> str:
    """The name of a bot without that of its version."""
    return name.partition("@")[0]


def _entrant(league: StoredTournament, spec: BotSpec) -> StoredBot:
    """A bot as it enters: a version that is not the first of its name has it in its name.

    Raises:
        UsageError: it plays already.
    """
    for bot in league.bots:
        if _base(bot.name) == spec.name and bot.version == spec.version:
            if not bot.retired:
                raise UsageError(
                    f"{bot.name} plays in {league.name} already",
                    f"its version is {bot.version}, and so is that of {spec.reference}",
                    "change its code, or its name in bot.toml",
                )
            return bot
    taken = {bot.name for bot in league.bots}
    named = spec
    if spec.name in taken:
        digest = spec.version.rpartition("+")[2]
        named = replace(spec, name=f"{spec.name}@{digest[:8]}")
    return StoredBot(named.name, named.version, named.to_json())


def _play(store: Store, name: str, rounds: int | None, db: str, workers: Workers, custody: Custody) -> None:
    """Round after round, with new workers whenever bots came or went."""
    changed = True
    while changed:
        league = store.tournament(name)
        check_versions(league, f"restore it, or let it play as a new version: arena league add {name} BOT")
        session = Run(store, league, rounds)
        executor = make_executor(confine_again(league, custody), db, workers)
        play_session(session, executor, f"arena league run {name}")
        changed, rounds = session.changed, session.rounds


@contextmanager
def _alone(league: StoredTournament, db: str) -> Iterator[None]:
    """Play a league in this process alone.

    Raises:
        ArenaError: another one does.
    """
    with _lock(league, db) as got:
        if not got:
            raise ArenaError(
                f"{league.name} is being played", "another arena has it in hand", "wait for it, or end it"
            )
        yield


@contextmanager
def _between_rounds(store: Store, league: StoredTournament, db: str) -> Iterator[None]:
    """Change the bots of a league. A run that goes on sees it when its round is over; of a round that was
    interrupted, the rest is taken back."""
    with _lock(league, db) as stopped:
        if stopped:
            store.drop_undone(league.id)
        yield


@contextmanager
def _lock(league: StoredTournament, db: str) -> Iterator[bool]:
    """Whether nobody else plays the league; if so, nobody can until the end of the block."""
    folder = logs_folder(db, league.name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "playing.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
