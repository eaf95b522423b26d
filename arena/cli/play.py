"""`arena play` and `arena tournament run|resume`: playing."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.bots.sandbox import LEVELS, strictest
from arena.cli.answers import show_answer
from arena.cli.common import DEFAULT_DB, DbOption, leave, open_store
from arena.cli.headstart import take
from arena.cli.live import Progress
from arena.cli.losses import show_losses
from arena.cli.output import OUT
from arena.cli.results import (
    PrivateOption,
    load,
    read_report,
    show_places,
    show_result,
    show_standings,
    write_records,
)
from arena.cli.sandboxes import LimitsOption, SandboxOption
from arena.cli.source import local_source
from arena.cli.terms import (
    AtOption,
    DetachOption,
    RemoteOption,
    SameOwnerOption,
    Terms,
    UnratedOption,
    on_server,
)
from arena.errors import ArenaError, CheckFailedError, UsageError
from arena.match.verdicts import FAULTS, RATED
from arena.runs.answers import answer_of
from arena.runs.custody import check_hidden, confine_again, custody
from arena.runs.definition import (
    Definition,
    Limits,
    bots_of,
    check_versions,
    limits_text,
    parse_each,
    parse_options,
    read_definition,
)
from arena.runs.executor import Workers, make_executor
from arena.runs.names import (
    format_text,
    is_open,
    logs_folder,
    match_name,
    match_number,
    matches_text,
    seatings_of,
)
from arena.runs.rows import loss_rows, place_rows, told
from arena.store.stored import StoredTournament
from arena.tournament.formats import COMPARE, DEFAULT_FORMAT, FORMATS, LADDER, UNTIL
from arena.tournament.local import IN_FLIGHT, LocalExecutor
from arena.tournament.runner import Run, commitment

if TYPE_CHECKING:
    from arena.store.store import Store
    from arena.tournament.report import Report

BotsArgument = Annotated[
    list[str], typer.Argument(metavar="BOT...", help="./dir, ./bot.py, module:Class, 'cmd:…', house:NAME")
]
OptionOption = Annotated[
    list[str] | None, typer.Option("--option", metavar="K=V", help="An option of the game.")
]
EachOption = Annotated[
    list[str] | None,
    typer.Option("--each", metavar="K=V", help="For every bot: time=1s, bank=60s, start=10s, faults=0."),
]
_TOURNAMENTS = [name for name in FORMATS if name not in (COMPARE, LADDER)]
FormatOption = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help=f"{', '.join(_TOURNAMENTS)}.")
]
RoundsOption = Annotated[
    int | None, typer.Option("--rounds", min=1, help="Rounds of a format that has a number of them: swiss.")
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", metavar="GOAL", help='Stop when "winner", "top N" or "order" is known.'),
]
ConfidenceOption = Annotated[
    float | None, typer.Option("--confidence", metavar="P", help="How sure that must be; 0.95 if left out.")
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="POINTS", help="Bots that differ by less count as equal; 0.83 if left out."
    ),
]
SeedOption = Annotated[
    str | None, typer.Option("--seed", metavar="HEX", help="Repeat a run; random if left out.")
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Worker processes, each with its own bots; one per core if left out."),
]
InFlightOption = Annotated[
    int, typer.Option("--in-flight", min=1, max=1024, help="Matches that each worker has in play at once.")
]
PinOption = Annotated[
    bool, typer.Option("--pin/--no-pin", help="Keep each worker and its bots on cores of their own.")
]


def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME")],
    bots: BotsArgument,
    matches: Annotated[int, typer.Option("--matches", min=1, help="How many matches.")] = 1,
    seed: SeedOption = None,
    option: OptionOption = None,
    each: EachOption = None,
    rotate: Annotated[
        bool, typer.Option("--rotate/--no-rotate", help="Play every deal from all seats in turn.")
    ] = True,
    jobs: JobsOption = None,
    in_flight: InFlightOption = IN_FLIGHT,
    pin: PinOption = True,
    sandbox: SandboxOption = None,
    limits: LimitsOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Also write record files.")] = None,
    private: PrivateOption = False,
    detach: DetachOption = False,
    at: AtOption = None,
    allow_same_owner: SameOwnerOption = False,
    unrated: UnratedOption = False,
    remote: RemoteOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Play matches between bots, a seat each, and show how they went."""
    definition = Definition(
        game=game,
        bots=bots,
        kind="play",
        matches=matches,
        rotate=rotate,
        seed=seed,
        options=parse_options(option or []),
        limits=parse_each(each or []),
    )
    if on_server(context):
        from arena.cli import hosted

        hosted.create(definition, Terms(at, allow_same_owner, unrated, remote), detach)
        return
    new = replace(definition, custody=custody(sandbox, limits)).build(OUT.say)
    with _executor_ahead(new, db, Workers(jobs, in_flight, pin)) as executor, open_store(db) as store:
        tournament = store.create(new)
        _say_head(tournament, seed is not None)
        report = _run(store, tournament, executor)
        if out is not None:
            write_records(local_source(store, db), tournament.name, out, private)
        if tournament.matches == 1:
            show_result(local_source(store, db).record(f"{tournament.name}/{match_name(0)}"))
        else:
            show_standings(told(report))
        _say_end(store, tournament, report)
    leave(CheckFailedError.code if report.faults or report.void else 0)


def run(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME|FILE.toml")],
    bots: Annotated[
        list[str] | None, typer.Argument(metavar="BOT...", help="As for play; none with a FILE.toml.")
    ] = None,
    seats: Annotated[
        int | None, typer.Option("--seats", help="Seats at a table; copies of the bots fill it if need be.")
    ] = None,
    deals: Annotated[
        int | None,
        typer.Option(
            "--deals",
            min=1,
            help="Deals, each in all seat rotations: in all, or at each table of a format with rounds.",
        ),
    ] = None,
    format_: FormatOption = None,
    rounds: RoundsOption = None,
    until: UntilOption = None,
    confidence: ConfidenceOption = None,
    tolerance: ToleranceOption = None,
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
    """Run a tournament: balanced tables, every deal from every seat; can be killed and resumed."""
    given: dict[str, Any] = {
        "seats": seats,
        "deals": deals,
        "format": format_,
        "rounds": rounds,
        "seed": seed,
        "name": name,
    }
    given |= {"until": until, "confidence": confidence, "tolerance": tolerance}
    definition = _definition(game, bots or [], given, option, each)
    if on_server(context):
        from arena.cli import hosted

        hosted.create(definition, Terms(at, allow_same_owner, unrated, remote), detach)
        return
    definition = replace(definition, custody=custody(sandbox, limits).over(definition.custody))
    new = definition.build(OUT.say)
    if definition.deals is not None and "deals" not in new.settings and new.deals != definition.deals:
        OUT.say(
            f"{new.deals} deals instead of {definition.deals}: "
            "only so does every bot sit in every seat equally often"
        )
    copies = [bot.name for bot in new.bots[len(definition.bots) :]]
    if copies:
        OUT.say(f"{len(definition.bots)} bots for {new.seats} seats: {', '.join(copies)} sit down with them")
    with open_store(db) as store:
        tournament = create(store, new, db)
        executor = make_executor(tournament, db, Workers(jobs, in_flight, pin), take())
        play_out(store, tournament, executor, definition.seed is not None)


def resume(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The newest if left out.")] = None,
    jobs: JobsOption = None,
    in_flight: InFlightOption = IN_FLIGHT,
    pin: PinOption = True,
    sandbox: SandboxOption = None,
    limits: LimitsOption = None,
    detach: DetachOption = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Play what is missing of a tournament."""
    if on_server(context):
        from arena.cli import hosted

        hosted.go_on(name, detach)
        return
    with open_store(db) as store:
        tournament = store.tournament(name)
        if tournament.format == LADDER:
            raise UsageError(
                f"{tournament.name} is a league",
                "it has no end that could be missing",
                f"play on: arena league run {tournament.name}",
            )
        check_versions(tournament, "restore it, or run a new tournament")
        held = confine_again(tournament, custody(sandbox, limits), OUT.say)
        executor = make_executor(held, db, Workers(jobs, in_flight, pin), take())
        play_out(store, tournament, executor, seed_is_known=False)


def _definition(
    game: str,
    bots: list[str],
    given: dict[str, Any],
    option: list[str] | None,
    each: list[str] | None,
) -> Definition:
    """From the command line, or from a file with what the line says put over it.

    Args:
        game: its name, or the file.
        bots: as the line names them.
        given: what else the line says, by field of the definition; None: nothing.
        option: options of the game.
        each: limits.
    """
    if game.endswith(".toml"):
        if bots:
            raise UsageError(
                "bots stand in the file and in the line", "the file has a list of them", "drop one"
            )
        definition = read_definition(Path(game))
    else:
        definition = Definition(game=game, bots=bots)
    definition = replace(definition, **{key: value for key, value in given.items() if value is not None})
    if option:
        definition = replace(definition, options={**definition.options, **parse_options(option)})
    if each:
        definition = replace(definition, limits=parse_each(each, definition.limits))
    if definition.format == COMPARE:
        raise UsageError(
            "a comparison is no tournament",
            "two of its bots never meet",
            "compare them: arena compare GAME OLD NEW --against BOT...",
        )
    if definition.deals is None and definition.until is None and definition.format != UNTIL:
        definition = replace(definition, deals=DEFAULT_DEALS.get(definition.format, 100))
    return definition


DEFAULT_DEALS = {"swiss": 10, "knockout": 10, "double-knockout": 10}
"""Deals at each table, where that is what is counted."""


def create(store: Store, new: StoredTournament, db: str) -> StoredTournament:
    """Store a new tournament, once it is known that it may be played with this database."""
    check_hidden(new, db)
    return store.create(new)


def play_out(
    store: Store, tournament: StoredTournament, executor: LocalExecutor, seed_is_known: bool
) -> None:
    """Play what is missing of a tournament, show what came out, and leave."""
    _say_head(tournament, seed_is_known)
    report = _run(store, tournament, executor)
    show_standings(told(report))
    if not OUT.csv:
        show_places(place_rows(store, store.tournament(tournament.name)))
    show_answer(answer_of(store, store.tournament(tournament.name)))
    _say_end(store, tournament, report)
    leave(CheckFailedError.code if report.void or _some_failed_to_start(report) else 0)


def _run(store: Store, tournament: StoredTournament, executor: LocalExecutor) -> Report:
    """Play what is missing; the report of all that is stored then."""
    play_session(Run(store, tournament), executor, f"arena tournament resume {tournament.name}")
    return read_report(store, store.tournament(tournament.name))


def play_session(session: Run, executor: LocalExecutor, go_on: str) -> None:
    """Play what is missing.

    Args:
        session: the run.
        executor: plays it.
        go_on: the command that goes on with it after an interruption.
    """
    tournament = session.tournament
    if not session.over:
        progress = Progress(tournament, session.played, lambda: session.outlook)
        try:
            asyncio.run(_play(session, progress, executor))
        except (KeyboardInterrupt, asyncio.CancelledError):
            OUT.say(
                f"interrupted: {session.played} of {matches_text(tournament)} matches are stored; "
                f"play the rest: {go_on}"
            )
            raise KeyboardInterrupt from None
        OUT.say(progress.summary())
    if session.failures:
        show_losses(loss_rows(tournament, session.losses), OUT.say)
        block, reason = next(iter(session.failures.items()))
        raise ArenaError(
            f"{session.missing_matches} of {matches_text(tournament)} matches could not be played",
            f"block {block} was {reason}",
            f"mend the machine and play the rest: {go_on}",
        )


async def _play(session: Run, progress: Progress, executor: LocalExecutor) -> None:
    with _ended_by_sigterm(), progress.shown():
        playing = session.play(executor)
        try:
            async for records in playing:
                progress.add(records)
                if session.over:
                    load()  # the workers are ending meanwhile
        finally:
            await playing.aclose()


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Until the end of the block SIGTERM ends the running task in order, as Ctrl-C does anyway."""
    loop, task, before = asyncio.get_running_loop(), asyncio.current_task(), signal.getsignal(signal.SIGTERM)
    assert task is not None
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _executor_ahead(new: StoredTournament, db: str, workers: Workers) -> Iterator[LocalExecutor]:
    """The workers that will play; the first starts its bots now, while the arena opens the database.

    If nothing comes of it, the bots are ended, and their logs removed.
    """
    logs = logs_folder(db, new.name)
    if not logs.parent.parent.is_dir():
        with open_store(db):  # it says what is wrong with a place that is not there
            pass
    are_new = not logs.exists()
    executor = make_executor(new, db, workers, take())
    try:
        executor.prepare()
        yield executor
    finally:
        if executor.close() and are_new:
            shutil.rmtree(logs, ignore_errors=True)
            with suppress(OSError):  # there are those of other runs
                logs.parent.rmdir()


def _say_head(tournament: StoredTournament, seed_is_known: bool) -> None:
    per_deal = seatings_of(tournament)
    kind = format_text(tournament) if tournament.kind == "tournament" else "play"
    matches = f"{matches_text(tournament)} match{'es' if tournament.matches > 1 else ''}"
    if not is_open(tournament) and tournament.matches == tournament.deals * per_deal:
        matches = f"{tournament.deals} deals × {per_deal} seatings = {matches}"
    OUT.say(
        f"{tournament.game} · {kind} · {len(tournament.bots)} bots at {tournament.seats} seats · {matches} · "
        f"{_level_text(tournament)}name {tournament.name}"
    )
    # The seed stays secret until the end; what is published now proves that it was chosen before.
    seed = f"seed {tournament.seed.hex()} · " if seed_is_known else ""
    OUT.say(f"{seed}commitment {commitment(tournament.seed)}")


def _level_text(tournament: StoredTournament) -> str:
    level = strictest(bots_of(tournament))
    return "" if level == LEVELS[0] else f"sandbox {level} · "


def _say_end(store: Store, tournament: StoredTournament, report: Report) -> None:
    if report.void:
        OUT.say(_void_line(store, tournament, report))
    for line in _fault_lines(store, tournament, report):
        OUT.say(line)
    first = match_name(0)
    OUT.say(f"replay: arena replay {tournament.name}/{first} · seed {tournament.seed.hex()}")
    OUT.say(f"repeat: {_repeat_line(tournament)}")


def _void_line(store: Store, tournament: StoredTournament, report: Report) -> str:
    """How many matches are void, and how to see why."""
    void = ", ".join(f"{count} {verdict}" for verdict, count in report.void.items())
    first = next(each for each in store.matches(tournament.id) if each.verdict not in RATED)
    name = f"{tournament.name}/{match_name(match_number(tournament, first.block, first.seating))}"
    return (
        f"void matches, not rated: {void}; where the rules failed: arena replay {name} · "
        f"all of them: arena match list {tournament.name} --faults"
    )


def _fault_lines(store: Store, tournament: StoredTournament, report: Report) -> list[str]:
    """Each bot's faults with the first match in which each kind ended its seat, and what to do about it."""
    if not report.faults:
        return []
    examples: dict[tuple[int, int], str] = {}
    for played in store.matches(tournament.id):
        for seat in played.seats:
            if seat.fault is not None:
                number = match_number(tournament, played.block, played.seating)
                examples.setdefault((seat.bot, seat.fault), f"{tournament.name}/{match_name(number)}")
    lines = []
    for (bot, kind), match in sorted(examples.items()):
        rule = next(rule for value, rule in FAULTS.items() if value == kind)
        count = report.faults[tournament.bots[bot].name][rule.name]
        lines.append(
            f"faults of {tournament.bots[bot].name}: {count} {rule.name}; {rule.advice}; "
            f"see one: arena match logs {match}"
        )
    return lines


def _some_failed_to_start(report: Report) -> bool:
    """Whether some bot never played at all."""
    return any("START_FAILED" in kinds for kinds in report.faults.values())


def _repeat_line(tournament: StoredTournament) -> str:
    words = ["arena", *_command_words(tournament)]
    for key, value in tournament.options.items():
        words += ["--option", shlex.quote(f"{key}={value}")]
    limits = Limits(tournament.move_us, tournament.bank_us, tournament.start_us, tournament.faults_allowed)
    if limits != Limits():
        words += ["--each", limits_text(limits)]
    if (level := strictest(bots_of(tournament))) != LEVELS[0]:
        words += ["--sandbox", level]
    return " ".join([*words, "--seed", tournament.seed.hex()])


def _command_words(tournament: StoredTournament) -> list[str]:
    """The command that repeats a tournament, up to what all commands have in common."""
    t, settings = tournament, tournament.settings
    bots = [shlex.quote(bot.reference) for bot in bots_of(t)]
    if t.kind == "play":
        matches = ["--matches", str(t.matches)] if t.matches > 1 else []
        return ["play", t.game, *bots, *matches, *([] if t.rotate else ["--no-rotate"])]
    size = ["--seats", str(t.seats), "--deals", str(settings.get("deals", t.deals))]
    if t.format == COMPARE:
        asked = ["--gain", f"{100 * settings['gain']:.12g}", "--confidence", f"{settings['confidence']!r}"]
        return ["compare", t.game, *bots[:2], *size, *asked, "--against", *bots[2:]]
    return ["tournament run", t.game, *bots, *size, *_format_words(t)]


def _format_words(tournament: StoredTournament) -> list[str]:
    """The options that choose a tournament's format."""
    settings, words = tournament.settings, []
    if tournament.format not in (DEFAULT_FORMAT, UNTIL):
        words += ["--format", tournament.format]
    for key in ("rounds", "until", "confidence", "tolerance"):
        if key in settings:
            value = settings[key]
            words += [f"--{key}", shlex.quote(value if isinstance(value, str) else f"{value!r}")]
    return words
