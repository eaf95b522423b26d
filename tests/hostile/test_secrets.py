"""No message that a bot is sent holds a seed, or what belongs to another seat."""

from __future__ import annotations

import hashlib

import pytest

from arena.games import GAMES, find_game
from arena.games.chance import bot_seed, deal_seed, stand_in_seed
from arena.match.host import TableHost
from arena.match.spec import MatchSpec
from tests.hostile.choice import choose
from tests.hostile.scripted import play_scripted
from tests.match.fakes import Answer, FakeBot

TOURNAMENT_SEED = hashlib.sha256(b"nobody may learn this").digest()


class Listener(FakeBot):
    """A bot that keeps all that it is sent."""

    def __init__(self, host: TableHost, name: str, answer: Answer) -> None:
        super().__init__(host, name, answer, at_once=False)
        self.frames_heard: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.frames_heard.append(data)
        super().send(data)

    @property
    def heard(self) -> bytes:
        return b"".join(self.frames_heard)


@pytest.mark.parametrize("game_name", GAMES)
async def test_no_frame_holds_a_seed_or_what_is_anothers(game_name: str) -> None:
    game = find_game(game_name)
    seats = max(game.seats)
    seed = deal_seed(TOURNAMENT_SEED, game.name, 7)
    names = [f"bot-{seat}" for seat in range(seats)]
    spec = MatchSpec(game, game.options({}), 7, seed, 0, tuple((name, "1") for name in names), 10**7, 10**9)
    host = TableHost()
    bots = [Listener(host, name, lambda d: choose(getattr(d.turn, game_name))) for name in names]
    await play_scripted(host, spec, bots)
    for seat, bot in enumerate(bots):
        others = [bot_seed(seed, other) for other in range(seats) if other != seat]
        secrets = [TOURNAMENT_SEED, seed, *others, *(stand_in_seed(seed, one) for one in range(seats))]
        heard = bot.heard
        assert bot_seed(seed, seat) in heard  # its own is what it gets, so they would be found
        assert [s for s in secrets if s in heard or s.hex().encode() in heard] == []
