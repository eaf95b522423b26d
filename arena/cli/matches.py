"""`arena match`, `arena replay` and `arena verify`: single matches."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from botarena.v1.record_pb2 import Fault, MatchRecord, Verdict
from google.protobuf.json_format import MessageToDict

from arena.cli.common import DEFAULT_DB, DbOption, leave
from arena.cli.output import OUT
from arena.cli.results import NameArgument, PrivateOption, show_result, write_record
from arena.cli.source import Whole, only_here, open_source
from arena.cli.tables import plain_table
from arena.errors import CheckFailedError, NotFoundError, UsageError
from arena.games import find_game
from arena.games.chance import deal_seed
from arena.games.game import AnyGame, GameError
from arena.match.record import RecordDamagedError, unseal
from arena.match.replay import Failure, RulesFailedError, Step, VerificationError, failure_of, rules_at_work
from arena.match.replay import replay as replay_steps
from arena.match.replay import verify as verify_record
from arena.match.verdicts import fault_name, stand_in_fault
from arena.runs.names import match_name, match_number, seatings_of
from arena.store.stored import StoredMatch
from arena.text import printable
from arena.tournament.report import played_record
from arena.tournament.runner import seats_of
from arena.tournament.schedule import Table

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


def _record_of(text: str, db: str) -> MatchRecord:
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
    record = _record_of(match, db)
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


def verify(
    match: Annotated[
        str | None, typer.Argument(metavar="MATCH|FILE", help="Such as m0312, or a record file.")
    ] = None,
    tournament: Annotated[
        str | None, typer.Option("--tournament", metavar="NAME", help="All matches of a tournament.")
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Deal again and replay, bit for bit; exit code 3 if anything differs."""
    if (match is None) == (tournament is None):
        raise UsageError(
            "nothing to verify", "give either a match or --tournament NAME", "arena verify m0000"
        )
    if match is not None:
        _verify_match(match, db)
    else:
        assert tournament is not None
        with open_source(db) as source:
            leave(_verify_tournament(source.whole(tournament)))


def _verify_match(match: str, db: str) -> None:
    record = _record_of(match, db)
    try:
        verify_record(record)
    except (VerificationError, GameError) as error:
        raise CheckFailedError(f"{match} differs", str(error), "get the record again") from None
    found = f"reproduces {printable(record.engine_error)}" if record.engine_error else "replays"
    OUT.table(
        "verified",
        [{"match": match, "ok": True, "engine_error": record.engine_error}],
        lambda: plain_table(("match", "result"), [[match, found]]),
    )


def _verify_tournament(whole: Whole) -> int:
    tournament, check = whole.tournament, _TournamentCheck(whole)
    differing = []
    count = 0
    for played in whole.matches:
        count += 1
        try:
            check.match(played)
        except (RecordDamagedError, VerificationError, GameError) as error:
            number = match_number(tournament, played.block, played.seating)
            differing.append({"match": match_name(number), "ok": False, "why": printable(str(error))})
    for row in differing:
        OUT.say(f"{tournament.name}/{row['match']} differs: {row['why']}")
    summary = {
        "tournament": tournament.name,
        "matches": count,
        "differing": len(differing),
        "missing": check.decided - count,
        "seed": tournament.seed.hex(),
        "commitment": hashlib.sha256(tournament.seed).hexdigest(),
    }
    if OUT.json:
        OUT.lines("verified", [*differing, summary])
    else:
        OUT.text(
            f"{tournament.name}: {count - len(differing)} of {count} matches replay bit for bit"
            + (f", {len(differing)} differ" if differing else "")
            + (f"; {summary['missing']} are not played yet" if summary["missing"] else "")
        )
    return CheckFailedError.code if differing else 0


class _TournamentCheck:
    """What each stored match of a tournament must be."""

    def __init__(self, whole: Whole) -> None:
        self._tournament = whole.tournament
        self._tables = whole.tables
        self._bots = {bot.name: index for index, bot in enumerate(whole.tournament.bots)}

    @property
    def decided(self) -> int:
        """Matches that are to be played as far as it is decided."""
        tables = len(self._tables)
        return min(self._tournament.matches, tables * seatings_of(self._tournament))

    def match(self, played: StoredMatch) -> None:
        """Check a stored match against seed, schedule, settings, rules, and the columns beside its record."""
        record = played_record(played)
        t, table = self._tournament, self._table(played.block)
        game = find_game(t.game)
        bots = [(bot.name, bot.version) for bot in record.bots]
        seated = [t.bots[index] for index in table.seatings[played.seating]]
        for what, is_, ought in (
            ("game", record.game, t.game),
            ("deal", record.deal, table.deal),
            ("seed", record.seed, deal_seed(t.seed, t.game, table.deal)),
            ("seating", record.seating, played.seating),
            ("bots", bots, [(bot.name, bot.version) for bot in seated]),
            ("options", record.options, game.options_message(game.options(t.options))),
            ("clock", (record.time.move_us, record.time.bank_us), (t.move_us, t.bank_us)),
            ("faults allowed", record.faults_allowed, t.faults_allowed),
            ("verdict beside it", played.verdict, record.verdict),
            ("seats beside it", played.seats, seats_of(record, self._bots)),
        ):
            if is_ != ought:
                raise VerificationError(f"its {what} is not what the tournament's seed and schedule give")
        verify_record(record)

    def _table(self, block: int) -> Table:
        try:
            return self._tables[block]
        except LookupError:
            raise VerificationError("the tournament's schedule has no such block") from None
