"""Golden records: whole matches, kept as files, that must replay exactly.

`python -m tests.games.golden` says which files differ from what the rules give today;
`python -m tests.games.golden --write` writes them anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from botarena.v1.game_pb2 import GameClaim
from google.protobuf.json_format import MessageToDict, ParseDict

from arena.games import GAMES
from arena.games.game import Seat
from tests.games.option_sets import GOLDEN_SETS, OptionSet, label
from tests.games.table import Table, case, play_at_random, play_out

FOLDER = Path(__file__).parent.parent / "golden"


def golden_paths() -> list[Path]:
    """The files that there are."""
    return sorted(FOLDER.glob("*/*.json"))


def wanted() -> dict[Path, tuple[str, int, OptionSet]]:
    """The files that there should be: every game, number of seats and golden option set."""
    return {
        FOLDER / name / f"{seats}_{label(options)}.json": (name, seats, options)
        for name, game in GAMES.items()
        for seats in game.seats
        for options in GOLDEN_SETS.get(name, ())
    }


def make(game: str, seats: int, options: OptionSet) -> dict[str, Any]:
    """Play a match at random and write down what happened."""
    seed = hashlib.sha256(f"golden {game} {seats} {label(options)}".encode()).digest()
    table = play_at_random(case(game, seats, options), seed, int.from_bytes(seed[:4], "big"))
    return _written_down(table, options)


def replay(record: dict[str, Any]) -> dict[str, Any]:
    """Play a match from its seed, action indexes and claims, and write down what happened."""
    table = Table(case(record["game"], record["seats"], record["options"]), bytes.fromhex(record["seed"]))
    indexes, claims = iter(enumerate(record["actions"])), record.get("claims", {})

    def next_of(at: Table, seat: Seat) -> Any:
        number, index = next(indexes)
        action, claim = at.game.actions(at.state, seat)[index], claims.get(str(number))
        if claim is None:
            return action
        return at.game.with_claim(at.state, seat, action, ParseDict(claim, GameClaim()))

    play_out(table, lambda at: {seat: next_of(at, seat) for seat in at.to_move})
    assert next(indexes, None) is None, "the match was over before its actions were"
    return _written_down(table, record["options"])


def _written_down(table: Table, options: OptionSet) -> dict[str, Any]:
    outcome = table.outcome()
    claims = {
        str(number): MessageToDict(claim) for number, claim in enumerate(table.claims) if claim is not None
    }
    return {
        "game": table.game.name,
        "version": table.game.version,
        "seats": table.seats,
        "options": dict(options),
        "seed": table.seed.hex(),
        "actions": table.indexes,
        **({"claims": claims} if claims else {}),
        "events": [str(event) for event in table.events],
        "scores": list(outcome.scores),
        "ranks": list(outcome.ranks),
        "turns_sha256": table.digest(),
    }


def text_of(record: dict[str, Any]) -> str:
    """A record as its file holds it: one event a line, the actions on one."""
    text = json.dumps(record | {"actions": "ACTIONS"}, indent=1)
    return text.replace('"ACTIONS"', json.dumps(record["actions"])) + "\n"


def main(arguments: list[str]) -> int:
    """Compare the files with what the rules give, or write them anew."""
    write, differing = arguments == ["--write"], 0
    for path, (game, seats, options) in wanted().items():
        text = text_of(make(game, seats, options))
        if path.exists() and path.read_text("utf-8") == text:
            continue
        differing += 1
        print(f"{'wrote' if write else 'differs:'} {path}")
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return 0 if write else min(differing, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
