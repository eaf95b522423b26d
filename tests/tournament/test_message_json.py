"""Messages as JSON text: what the library gives, for everything that any game shows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.game_pb2 import GameClaim, GameTurn
from botarena.v1.kamozza_pb2 import KamozzaClaim, KamozzaPort
from botarena.v1.record_pb2 import MatchRecord
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from arena.tournament.message_json import message_json
from tests.games.table import CASES, Case, play_at_random


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.name)
def test_it_is_what_the_library_gives(case: Case) -> None:
    for _, data in play_at_random(case, bytes(32), 1).turns:
        turn = GameTurn.FromString(data)
        assert message_json(turn) == json.dumps(MessageToDict(turn))


@pytest.mark.parametrize(
    "message",
    [
        TimeControl(),
        GameClaim(kamozza=KamozzaClaim()),
        GameClaim(kamozza=KamozzaClaim(cards=[20, 1], port=KamozzaPort.KAMOZZA_PORT_B)),
        GameClaim(kamozza=KamozzaClaim(port=77)),  # type: ignore[arg-type] # of a newer protocol
        MatchRecord(bots=[{"name": 'quotes " and \\ and \n and ü'}], scores=[-1, 0]),  # type: ignore[list-item]
    ],
)
def test_corners(message: Message) -> None:
    assert json.loads(message_json(message)) == MessageToDict(message)


@pytest.mark.parametrize("message", [MatchRecord(seed=b"x"), MatchRecord(deal=1)])
def test_what_no_game_shows_is_refused_and_not_written_wrongly(message: Any) -> None:
    with pytest.raises(TypeError, match="MatchRecord"):
        message_json(message)
