"""What is told of selected matches as tidy tables: rows, and what their columns hold.

A row is a mapping in the order of its table's columns. A column holds text, an integer, a number,
true or false, or JSON as text; of these an integer, a number and JSON may be None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from botarena.v1.game_pb2 import GameTurn
from botarena.v1.record_pb2 import MatchRecord

from arena.errors import CheckFailedError
from arena.games import find_game
from arena.games.game import AnyGame, GameError
from arena.match.replay import RulesFailedError, Step, VerificationError, replay, rules_at_work
from arena.match.verdicts import fault_name, stand_in_fault, verdict_name
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.message_json import message_json
from arena.tournament.several import selected_record

Kind: TypeAlias = Literal["text", "integer", "number", "flag", "json"]
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: its name.
        kind: what it holds.
        help: what it means, in a few words; "" if its name says it.
    """

    name: str
    kind: Kind
    help: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """A match that is told of.

    Attributes:
        name: its name within its tournament, such as m0312.
        tournament: name of its tournament.
        block: its block.
        record: its record.
    """

    name: str
    tournament: str
    block: int
    record: MatchRecord

    @classmethod
    def read(cls, name: str, tournament: StoredTournament, stored: StoredMatch) -> Played:
        """With its record read.

        Raises:
            RecordDamagedError: which match it is, and what is wrong with it.
        """
        return cls(name, tournament.name, stored.block, selected_record(tournament, stored))

    def place(self) -> dict[str, Any]:
        """The columns by which every table says which match it is."""
        return {
            "tournament": self.tournament,
            "match": self.name,
            "game": self.record.game,
            "block": self.block,
            "deal": self.record.deal,
            "seating": self.record.seating,
            "verdict": verdict_name(self.record.verdict),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of rows.

    Attributes:
        row: what a row is, in one word.
        help: what it is, for people.
        columns: what a row has.
        rows: the rows of a match.
    """

    row: str
    help: str
    columns: tuple[Column, ...]
    rows: Callable[[Played], Iterator[Row]]


PLACE = (
    Column("tournament", "text"),
    Column("match", "text", "name within its tournament; arena replay TOURNAMENT/MATCH shows it"),
    Column("game", "text"),
    Column("block", "integer", "matches of a block share a deal"),
    Column("deal", "integer"),
    Column("seating", "integer", "index of the match within its block"),
    Column("verdict", "text", "PLAYED, BOT_FAULT, or a void one, in which rank and score are empty"),
)
"""The columns with which every table that is made match by match begins."""
_BOT = (Column("bot", "text"), Column("version", "text", "what identifies its code"))
_RESULT = (
    Column("rank", "integer", "the seat's in the end, 1 is best; who shares a place has the same"),
    Column("score", "integer", "the seat's in the end, as the game counts"),
)


def _matches(played: Played) -> Iterator[Row]:
    record = played.record
    yield {
        **played.place(),
        "options": message_json(getattr(record.options, played.record.game)),
        "seats": len(record.bots),
        "bots": json.dumps([bot.name for bot in record.bots]),
        "versions": json.dumps([bot.version for bot in record.bots]),
        "ranks": json.dumps(list(record.ranks)),
        "scores": json.dumps(list(record.scores)),
        "faults": json.dumps([f"{record.bots[f.seat].name} {fault_name(f.kind)}" for f in record.faults]),
        "decisions": len(record.seats),
        "started_us": record.circumstances.started_us,
        "length_us": record.circumstances.length_us,
    }


_MATCH_COLUMNS = (
    *PLACE,
    Column("options", "json", "the game's"),
    Column("seats", "integer"),
    Column("bots", "json", "names by seat"),
    Column("versions", "json", "by seat"),
    Column("ranks", "json", "by seat; empty if it is void"),
    Column("scores", "json", "by seat; empty if it is void"),
    Column("faults", "json", "bot and fault of each, in order"),
    Column("decisions", "integer"),
    Column("started_us", "integer", "microseconds since 1970 UTC"),
    Column("length_us", "integer", "microseconds"),
)


def seat_rows(played: Played) -> Iterator[Row]:
    """A row for each seat of a match."""
    record, place = played.record, played.place()
    thinks: list[int] = [0] * len(record.bots)
    for seat, think in zip(record.seats, record.circumstances.think_us, strict=False):
        thinks[seat] += think
    forfeits = {fault.seat: fault_name(fault.kind) for fault in record.faults if fault.forfeit}
    for seat, bot in enumerate(record.bots):
        yield {
            **place,
            "decisions": len(record.seats),
            "seat": seat,
            "bot": bot.name,
            "version": bot.version,
            "think_us": thinks[seat],
            "fault": forfeits.get(seat, ""),
            **_result(record, seat),
        }


_SEAT_COLUMNS = (
    *PLACE,
    Column("decisions", "integer", "of all seats"),
    Column("seat", "integer"),
    *_BOT,
    Column("think_us", "integer", "of all its decisions, in microseconds"),
    Column("fault", "text", "the fault by which it was forfeited"),
    *_RESULT,
)


def _result(record: MatchRecord, seat: int) -> dict[str, int | None]:
    if not record.ranks:
        return {"rank": None, "score": None}
    return {"rank": record.ranks[seat], "score": record.scores[seat]}


def _decisions(played: Played) -> Iterator[Row]:
    """A row for each decision of a match, of a void one up to where the rules fail.

    Raises:
        CheckFailedError: its record does not replay.
    """
    of_seats = [_of_seat(played.record, seat) for seat in range(len(played.record.bots))]
    place, game = played.place(), find_game(played.record.game)
    try:
        for ply, step in enumerate(replay(played.record)):
            for decision, seat in enumerate(step.moves, step.decision):
                head, result = of_seats[seat]
                with rules_at_work(played.record):
                    told = _decision(game, played.record, step, decision, seat)
                yield {**place, "decision": decision, "ply": ply, **head, **told, **result}
    except (VerificationError, GameError) as error:
        if isinstance(error, RulesFailedError) and not played.record.ranks:
            return
        name = f"{played.tournament}/{played.name}"
        raise CheckFailedError(
            f"{name} does not replay", str(error), f"verify it: arena verify {name}"
        ) from error


def _of_seat(record: MatchRecord, seat: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What all rows of a seat have in common: before and after what it saw and chose."""
    bot = record.bots[seat]
    return {"seat": seat, "bot": bot.name, "version": bot.version}, _result(record, seat)


def _decision(game: AnyGame, record: MatchRecord, step: Step, decision: int, seat: int) -> dict[str, Any]:
    actions, choice = game.actions(step.state, seat), record.actions[decision]
    turn: Any = GameTurn.FromString(game.turn_bytes(step.state, seat, [actions[choice]], []))
    shown = getattr(turn, game.name)
    claim: Any = game.claim_of(step.moves[seat])
    fault = stand_in_fault(record, decision)
    thinks = record.circumstances.think_us
    return {
        "view": message_json(shown.view),
        "action": message_json(shown.actions[0]),
        "choices": len(actions),
        "choice": choice,
        "claim": None if claim is None else message_json(getattr(claim, game.name)),
        "think_us": thinks[decision] if decision < len(thinks) else 0,
        "stand_in": bool(fault),
        "fault": fault,
    }


_DECISION_COLUMNS = (
    *PLACE,
    Column("decision", "integer", "index within the match, from 0"),
    Column("ply", "integer", "from 0; decisions of a ply are simultaneous"),
    Column("seat", "integer"),
    *_BOT,
    Column("view", "json", "what the seat saw: the game's view message; what has its default is left out"),
    Column("action", "json", "what it chose: the game's action message, likewise"),
    Column("choices", "integer", "number of legal actions"),
    Column("choice", "integer", "index of the chosen one among them"),
    Column("claim", "json", "what it said with it: the game's claim message"),
    Column("think_us", "integer", "microseconds; 0 for a stand-in"),
    Column("stand_in", "flag", "whether a stand-in chose in place of the bot"),
    Column("fault", "text", "the bot's fault because of which it did"),
    *_RESULT,
)


TABLES: Mapping[str, Table] = {
    "matches": Table("match", "a row for each match", _MATCH_COLUMNS, _matches),
    "seats": Table("seat", "a row for each seat of each match", _SEAT_COLUMNS, seat_rows),
    "decisions": Table("decision", "a row for each decision", _DECISION_COLUMNS, _decisions),
}
"""The tables that are made match by match. Columns are added at most: none goes, none changes its meaning."""


def as_table(rows: Sequence[Row]) -> tuple[tuple[Column, ...], list[Row]]:
    """A few rows of any data, all with the same names, as a table: what is nested becomes JSON."""
    columns = tuple(Column(name, _kind([row[name] for row in rows])) for name in (rows[0] if rows else ()))
    nested = {column.name for column in columns if column.kind == "json"}
    plain: list[Row] = [
        {name: _text(value) if name in nested else value for name, value in row.items()} for row in rows
    ]
    return columns, plain


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value)


def _kind(values: Iterable[object]) -> Kind:
    """What a column of these values holds; numbers if there are none."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "flag"
    if kinds == {int}:
        return "integer"
    if kinds == {str}:
        return "text"
    return "number" if kinds <= {int, float} else "json"
