"""`arena match`, `arena replay` and `arena verify`: single matches."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from botarena.v1.record_pb2 import Fault, MatchRecord, Verdict
from google.protobuf.json_format import MessageToDict

from arena.cli.common import DEFAULT_DB, DbOption
from arena.cli.output import OUT
from arena.cli.results import NameArgument, PrivateOption, show_result, write_record
from arena.cli.source import only_here, open_source
from arena.cli.tables import plain_table
from arena.errors import CheckFailedError, NotFoundError, UsageError
from arena.games import find_game
from arena.games.game import AnyGame, GameError
from arena.match.record import RecordDamagedError, unseal
from arena.match.replay import Failure, RulesFailedError, Step, VerificationError, failure_of, rules_at_work
from arena.match.replay import replay as replay_steps
from arena.match.verdicts import fault_name, stand_in_fault
from arena.text import printable

app = typer.Typer(help="Single matches: how they went, and what their bots wrote.", no_args_is_help=True)

MatchArgument = Annotated[str, typer.Argument(metavar="MATCH", help="Such as m0312 or NAME/m0312.")]


@app.command("list")
def list_(
    name: NameArgument = None,
    faults: Annotated[bool, typer.Option("--faults", help="Only matches with faults, or void ones.")] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """The matches of a tournament, a line each."""
    with open_source(db) as source:
        rows = source.matches(name, faults)
    heads = ("match", "deal", "verdict", "bots", "ranks", "scores", "faults")
    cells = [[_text(row[head]) for head in heads] for row in rows]
    OUT.table("match", rows, lambda: plain_table(heads, cells))


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@app.command("show")
def show(match: MatchArgument, db: DbOption = DEFAULT_DB) -> None:
    """How a match ended, seat by seat, and what went wrong."""
    with open_source(db) as source:
        told = source.record(match)
    show_result(told)
    record = told.record()
    if not OUT.json and not OUT.csv:
        for fault in record.faults:
            OUT.text(_fault_text(fault_names(record, fault)))
        if record.engine_error:
            OUT.text(printable(f"the rules failed, the match is void: {record.engine_error}"))
        OUT.text(f"replay: arena replay {told.name} · logs: arena match logs {told.name}")


@app.command("download")
def download(
    match: MatchArgument,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to.")] = Path(),
    private: PrivateOption = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write the record of a match to a file, which replay and verify read; its path goes to stdout."""
    if private:
        only_here("a download of what is private")
    with open_source(db) as source:
        told = source.record(match)
    file = write_record(out, told, private)
    if OUT.json:
        OUT.lines("record", [{"match": told.name, "file": str(file)}])
    else:
        OUT.text(str(file))


def fault_names(record: MatchRecord, fault: Fault) -> dict[str, Any]:
    """What everybody may know of a fault."""
    return {
        "bot": record.bots[fault.seat].name,
        "seat": fault.seat,
        "decision": fault.decision,
        "fault": fault_name(fault.kind),
        "forfeit": fault.forfeit,
    }


def _fault_text(row: dict[str, Any]) -> str:
    return printable(
        f"{row['bot']} (seat {row['seat']}): {row['fault']} at decision "
        f"{row['decision']}, {'forfeited' if row['forfeit'] else 'tolerated'}"
    )


@app.command("logs")
def logs(
    match: MatchArgument,
    bot: Annotated[str | None, typer.Option("--bot", metavar="NAME", help="Only this bot's.")] = None,
    whole: Annotated[bool, typer.Option("--all", help="The whole logs, not only the match's time.")] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Why bots of a match failed, and what they wrote to stdout and stderr while it was played.

    It is for a bot's author, who is to be given --bot NAME of it, and for whoever runs the arena.
    """
    with open_source(db) as source:
        faults, rows = source.logs(match, bot, whole)
    if OUT.json:
        OUT.lines("fault", faults)
        OUT.lines("log", rows)
        return
    for fault in faults:
        OUT.text(_evidence_text(fault))
    for row in rows:
        OUT.text(printable(f"{row['bot']} {row['time']} {row['stream']}: {row['text']}"))
    if not rows:
        OUT.say("the bots wrote nothing in this time" + ("" if whole else "; for the rest: --all"))


def _evidence_text(row: dict[str, Any]) -> str:
    """All that is known of a fault, for the bot's author."""
    lines = [f"{_fault_text(row)}: {row['detail'].strip()}"]
    if known := _known_text(row):
        lines.append(f"  {known}")
    if row["stderr"].strip():
        lines.append("  its last words on stderr:")
        lines += [f"    {line}" for line in row["stderr"].strip().splitlines()]
    lines.append(f"  what to do: {row['advice']}")
    return printable("\n".join(lines))


def _known_text(row: dict[str, Any]) -> str:
    """Time, exit code or signal, and memory peak of a fault, as far as they are known."""
    peak = row["memory_peak_bytes"]
    known = {
        "time": row["time"],
        "exit code": row["exit_code"],
        "signal": row["signal"] or None,
        "memory peak": f"{peak / (1 << 20):.1f} MiB" if peak else None,
    }
    return " · ".join(f"{name} {value}" for name, value in known.items() if value is not None)


# replay


def record_of(text: str, db: str) -> MatchRecord:
    """A record out of a file or the database."""
    path = Path(text)
    try:
        if path.is_file():
            return unseal(path.read_bytes())
        if path.suffix == ".record":
            raise NotFoundError(f"there is no file {text}", "the path leads nowhere", "check it")
        with open_source(db) as source:
            return source.record(text).record()
    except RecordDamagedError as error:
        raise CheckFailedError(f"{text} cannot be read", str(error), "get the record again") from None


def replay(
    match: Annotated[str, typer.Argument(metavar="MATCH|FILE", help="Such as m0312, or a record file.")],
    seat: Annotated[
        int | None, typer.Option("--seat", help="Only what this seat saw; all of it if left out.")
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter before each decision.")] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """The table of a match, decision by decision, as text or (--json) as data."""
    record = record_of(match, db)
    if seat is not None and not 0 <= seat < len(record.bots):
        raise UsageError(
            f"there is no seat {seat}",
            f"the match has seats 0 to {len(record.bots) - 1}",
            "choose one of them",
        )
    try:
        for moment in replay_steps(record):
            with rules_at_work(record):
                _show_step(record, moment, seat)
            if step and moment.moves:
                input()
        failure = failure_of(record) if record.verdict == Verdict.VERDICT_ENGINE_FAULT else None
    except RulesFailedError as error:
        failure = error.failure
    except (VerificationError, GameError) as error:
        raise CheckFailedError(
            f"{match} does not replay", str(error), f"verify it: arena verify {match}"
        ) from None
    except EOFError:
        return
    if failure is not None:
        raise _rules_failed(match, failure)
    if record.engine_error:
        OUT.say(printable(f"the rules do not fail any more; when it was played: {record.engine_error}"))


def _rules_failed(match: str, failure: Failure) -> CheckFailedError:
    """What follows the steps up to where the rules fail."""
    if OUT.json:
        OUT.lines("engine_error", [asdict(failure)])
    return CheckFailedError(
        "the rules fail here: that is the arena's fault and no bot's",
        str(failure),
        f"mend the rules; whether they still fail says: arena verify {match}",
    )


def _show_step(record: MatchRecord, moment: Step, seat: int | None) -> None:
    game = find_game(record.game)
    data = _step_data(game, record, moment, seat)
    if OUT.json:
        OUT.lines("step", [data])
        return
    OUT.text(game.table_text(game.view(moment.state, seat)))
    if seat is None:
        for other in range(len(record.bots)):
            if private := game.private_text(game.view(moment.state, other)):
                OUT.text(f"[seat {other}: {private}]")
    for move in data["moves"]:
        fault = f"  [{move['fault']}: a stand-in plays]" if move["fault"] else ""
        OUT.text(
            f"→ decision {move['decision']}: {move['bot']} (seat {move['seat']}) {move['text']}"
            f"  {move['think_us'] / 1000:.1f} ms{fault}\n"
        )
    if not moment.moves and record.ranks:
        for index, bot in enumerate(record.bots):
            OUT.text(f"seat {index} {bot.name}: rank {record.ranks[index]}, score {record.scores[index]}")


def _step_data(game: AnyGame, record: MatchRecord, moment: Step, seat: int | None) -> dict[str, Any]:
    visible = [e for e in moment.events if seat is None or _sees(game, e, seat)]
    seats = range(len(record.bots))
    moves = [
        _move_data(game, record, moment, index, mover)
        for index, mover in enumerate(moment.moves, moment.decision)
        if seat in (None, mover)  # what others chose is seen by its events, as far as it is seen
    ]
    return {
        "decision": moment.decision,
        "view": MessageToDict(game.view(moment.state, seat)),
        "events": [MessageToDict(game.event_message(event)) for event in visible],
        "moves": moves,
        **({"views": [MessageToDict(game.view(moment.state, s)) for s in seats]} if seat is None else {}),
        **({} if moment.moves else {"ranks": list(record.ranks), "scores": list(record.scores)}),
    }


def _sees(game: AnyGame, event: Any, seat: int) -> bool:
    audience = game.audience(event)
    return audience is None or seat in audience


def _move_data(game: AnyGame, record: MatchRecord, moment: Step, decision: int, seat: int) -> dict[str, Any]:
    actions = game.actions(moment.state, seat)
    thinks = record.circumstances.think_us
    return {
        "decision": decision,
        "seat": seat,
        "bot": record.bots[seat].name,
        "action": record.actions[decision],
        "text": game.action_text(moment.moves[seat]),
        "legal": [game.action_text(action) for action in actions],
        "think_us": thinks[decision] if decision < len(thinks) else 0,
        "fault": stand_in_fault(record, decision),
    }


# verify
