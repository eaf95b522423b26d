"""House bots at a table in the test itself, without any network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations

from botarena import Bot, Match, Turn
from botarena.v1.bot_pb2 import MatchStart, TimeControl

from arena.games.chance import bot_seed, deal_seed
from tests.games.table import Case, Table

NewBot = type[Bot]


def play(case: Case, bots: Sequence[NewBot], seed: bytes) -> Table:
    """A match of bots by seat; every choice must be the index of a legal action."""
    seated = [(bot(), _match(case, bots, seat, seed)) for seat, bot in enumerate(bots)]
    for bot, match in seated:
        bot.start(match)
    table = Table(case, seed)
    while table.to_move:
        moves = {}
        for seat, turn in table.ask().items():
            bot, match = seated[seat]
            index = bot.choose(Turn(match, bot, turn.SerializeToString(), 1.0))
            assert isinstance(index, int)
            assert 0 <= index < len(case.game.actions(table.state, seat))
            moves[seat] = case.game.actions(table.state, seat)[index]
        table.play(moves)
    return table


def mean_ranks(case: Case, bots: Sequence[NewBot], deals: int) -> dict[str, float]:
    """Mean rank of each bot over deals that are each played in every order of the seats.

    Rotations alone would not do: whoever always sits behind the weakest bot is always given most.
    """
    ranks = defaultdict(list)
    for deal in range(deals):
        for seating in permutations(bots):
            table = play(case, seating, deal_seed(bytes(32), case.game.name, deal))
            for bot, rank in zip(seating, table.outcome().ranks, strict=True):
                ranks[bot.__name__].append(rank)
    return {name: sum(of_bot) / len(of_bot) for name, of_bot in ranks.items()}


def _match(case: Case, bots: Sequence[NewBot], seat: int, seed: bytes) -> Match:
    return Match(
        MatchStart(
            match=1,
            game=case.game.name,
            game_version=case.game.version,
            seat=seat,
            names=[bot.__name__ for bot in bots],
            bot_seed=bot_seed(seed, seat),
            time=TimeControl(move_us=1_000_000, bank_us=60_000_000),
            options=case.game.options_message(case.options),
        )
    )
