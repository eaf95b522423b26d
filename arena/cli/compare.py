"""`arena compare`: whether a new version of a bot is better than the old one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Annotated

import typer

from arena.bots.reference import resolve
from arena.cli.common import DEFAULT_DB, DbOption, open_store
from arena.cli.output import OUT
from arena.cli.play import (
    ConfidenceOption,
    EachOption,
    InFlightOption,
    JobsOption,
    OptionOption,
    PinOption,
    SeedOption,
    create,
    play_out,
)
from arena.cli.sandboxes import LimitsOption, SandboxOption
from arena.cli.terms import (
    AtOption,
    DetachOption,
    RemoteOption,
    SameOwnerOption,
    Terms,
    UnratedOption,
    on_server,
)
from arena.errors import UsageError
from arena.games import find_game
from arena.runs.custody import custody
from arena.runs.definition import Definition, parse_each, parse_options
from arena.runs.executor import Workers, make_executor
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.formats import COMPARE
from arena.tournament.local import IN_FLIGHT

MOST_DEALS = 10_000
"""Deals that end a comparison in any case, if no other number is asked for."""


def compare(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="A bot as for play.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The bot that may be better.")],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="BOT...", help="Who takes the other seats; may name several."),
    ] = None,
    others: Annotated[list[str] | None, typer.Argument(metavar="[BOT...]", hidden=True)] = None,
    gain: Annotated[
        float | None,
        typer.Option(
            "--gain",
            metavar="PERCENT",
            help="The least gain of opponents outranked that matters; 1 if left out.",
        ),
    ] = None,
    confidence: ConfidenceOption = None,
    seats: Annotated[int | None, typer.Option("--seats", help="Seats at a table.")] = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Most deals; each is played from all seats by both.")
    ] = MOST_DEALS,
    jobs: JobsOption = None,
    in_flight: InFlightOption = IN_FLIGHT,
    pin: PinOption = True,
    seed: SeedOption = None,
    name: Annotated[str | None, typer.Option("--name", help="A name to find it by.")] = None,
    option: OptionOption = None,
    each: EachOption = None,
    sandbox: SandboxOption = None,
    limits: LimitsOption = None,
    detach: DetachOption = False,
    at: AtOption = None,
    allow_same_owner: SameOwnerOption = False,
    unrated: UnratedOption = False,
    remote: RemoteOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Play the same deals with both versions in the same seats until it is clear whether NEW is better."""
    # The words after the first that belongs to --against are arguments like any other.
    table, field = _field(game, seats, [*(against or []), *(others or [])])
    definition = Definition(
        game=game,
        bots=[old, new, *field],
        seats=table,
        deals=deals,
        format=COMPARE,
        confidence=confidence,
        gain=None if gain is None else gain / 100,
        seed=seed,
        name=name,
        options=parse_options(option or []),
        limits=parse_each(each or []),
    )
    if on_server(context):
        from arena.cli import hosted

        hosted.create(definition, Terms(at, allow_same_owner, unrated, remote), detach)
        return
    held = replace(definition, custody=custody(sandbox, limits))
    built = _named(held.build(OUT.say), old, new)
    with open_store(db) as store:
        tournament = create(store, built, db)
        executor = make_executor(tournament, db, Workers(jobs, in_flight, pin))
        play_out(store, tournament, executor, seed is not None)


def _field(game: str, seats: int | None, against: Sequence[str]) -> tuple[int, list[str]]:
    """Seats at a table, and who takes those beside the version: the bots named, and copies if too few."""
    if not against:
        raise UsageError(
            "there is nobody to play against",
            "two versions are compared by how they fare against others",
            "name some: --against house:greedy house:first",
        )
    possible = find_game(game).seats
    table = seats or max(possible.start, min(1 + len(against), possible.stop - 1))
    return table, list(islice(cycle(against), max(table - 1, len(against))))


def _named(built: StoredTournament, old: str, new: str) -> StoredTournament:
    """Both versions by names that tell them apart, if their own do not."""
    names = [resolve(reference).name for reference in (old, new)]
    if names[0] != names[1]:
        return built
    versions = [
        _renamed(bot, f"{names[0][:36]}-{age}") for bot, age in zip(built.bots, ("old", "new"), strict=False)
    ]
    return replace(built, bots=(*versions, *built.bots[2:]))


def _renamed(bot: StoredBot, name: str) -> StoredBot:
    return replace(bot, name=name, spec={**bot.spec, "name": name})
