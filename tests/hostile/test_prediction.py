"""Whoever knows the generator and all that is published still knows no card of a later deal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from arena.games import GAMES, find_game
from arena.games.chance import Chance, bot_seed, deal_seed, stand_in_seed
from arena.games.game import AnyGame

SEED = hashlib.sha256(b"the tournament's secret").digest()
COMMITMENT = hashlib.sha256(SEED).digest()
DEALS = 30


def guesses(game: str, deal: int) -> Iterator[bytes]:
    """Seeds that somebody may try who knows everything but the tournament's seed.

    He knows the commitment, and out of deals so far, and of this one, what bots were given.
    """
    seats = range(2)
    given = [bot_seed(deal_seed(SEED, game, one), seat) for one in range(deal + 1) for seat in seats]
    for known in (COMMITMENT, bytes(32), deal.to_bytes(32, "big"), deal.to_bytes(32, "little"), *given):
        yield known
        yield known[::-1]
        yield hashlib.sha256(known).digest()
        yield deal_seed(known, game, deal)
        yield bot_seed(known, 0)
        yield stand_in_seed(known, 0)


def cards(game: AnyGame, seed: bytes) -> object:
    return game.deal(min(game.seats), game.options({}), Chance(seed))


@pytest.mark.parametrize("game_name", GAMES)
def test_no_deal_follows_from_what_is_published(game_name: str) -> None:
    game = find_game(game_name)
    for deal in (0, 1, DEALS):
        right = cards(game, deal_seed(SEED, game_name, deal))
        assert cards(game, deal_seed(SEED, game_name, deal)) == right  # whoever has the seed knows it
        assert not any(cards(game, guess) == right for guess in guesses(game_name, deal))


def test_all_that_is_drawn_from_one_seed_has_a_stream_of_its_own() -> None:
    drawn = [COMMITMENT, SEED]
    for game in GAMES:
        for deal in range(DEALS):
            seed = deal_seed(SEED, game, deal)
            drawn += [seed, *(make(seed, seat) for make in (bot_seed, stand_in_seed) for seat in range(7))]
    assert len(set(drawn)) == len(drawn)
