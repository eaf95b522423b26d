"""Tournaments that were played in the test itself, with what every bot was shown and what it chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from botarena.v1.game_pb2 import GameClaim, GameTurn
from botarena.v1.record_pb2 import MatchRecord, Verdict

from arena.games import find_game
from arena.games.chance import deal_seed
from arena.match.match import Ask, Match
from arena.match.record import seal, unseal
from arena.match.spec import MatchSpec
from arena.store.store import Store
from arena.store.stored import StoredBot, StoredMatch, StoredTournament
from arena.tournament.runner import seats_of

Claims = Callable[[int], GameClaim | None]
"""What goes with the decision of this number."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision as its bot met it.

    Attributes:
        turn: what it was shown.
        index: what it answered; None: nothing that is legal.
    """

    seat: int
    turn: GameTurn
    index: int | None
    think_us: int


def silent(_decision: int) -> None:
    """Nobody says anything."""


def play(match: Match, rng: Random, failing: str = "", claims: Claims = silent) -> tuple[bytes, list[Choice]]:
    """Play a match with random choices; its record, and what the bots were asked.

    Args:
        failing: name of a bot whose every second answer is illegal.
        claims: what is said.
    """
    choices: list[Choice] = []
    asks = match.start(0, unix_us=1_700_000_000_000_000)
    while asks:
        following: list[Ask] = []
        for ask in asks:
            turn = GameTurn.FromString(match.turn_bytes(ask.seat))
            fails = match.spec.bots[ask.seat][0] == failing and len(choices) % 2 == 1
            index = None if fails else rng.randrange(match.legal(ask.seat))
            think = rng.randrange(1, 1000)
            following += match.reply(ask.seat, index, ask.sent_us + think, claim=claims(len(choices)))
            choices.append(Choice(ask.seat, turn, index, think))
        asks = following
    return match.record(), choices


def tournament(
    store: Store,
    name: str,
    game: str = "koffer",
    bots: Sequence[tuple[str, str]] = (("a", "1"), ("b", "1"), ("c", "1")),
    options: dict[str, str] | None = None,
    deals: int = 2,
    failing: str = "",
    claims: Claims = silent,
) -> dict[tuple[int, int], list[Choice]]:
    """Play and store a tournament of a table of bots; what they chose, by block and seating."""
    stored = store.create(_new(name, game, bots, options or {}, deals))
    indexes = {bot: index for index, (bot, _) in enumerate(bots)}
    chosen = {}
    for block in range(deals):
        for seating in range(len(bots)):
            seated = (*bots[seating:], *bots[:seating])
            rng = Random(f"{name} {block} {seating}")
            data, chosen[block, seating] = play(
                Match(_spec(stored, block, seating, seated)), rng, failing, claims
            )
            record = unseal(data)
            store.add(
                stored.id, [StoredMatch(block, seating, record.verdict, data, seats_of(record, indexes))]
            )
    return chosen


def void(played: StoredMatch) -> StoredMatch:
    """The same match if the rules had failed in the middle."""
    record = unseal(played.record)
    record.verdict = Verdict.VERDICT_ENGINE_FAULT
    record.engine_error = "a bug"
    half = len(record.seats) // 2
    for field in (record.seats, record.actions, record.circumstances.think_us):
        del field[half:]
    del record.ranks[:], record.scores[:]
    bots = {bot.name: played.seats[seat].bot for seat, bot in enumerate(record.bots)}
    return StoredMatch(played.block, played.seating, record.verdict, seal(record), seats_of(record, bots))


def records(store: Store, name: str) -> dict[tuple[int, int], MatchRecord]:
    """The records of a tournament by block and seating."""
    return {(m.block, m.seating): unseal(m.record) for m in store.matches(store.tournament(name).id)}


def _spec(
    stored: StoredTournament, block: int, seating: int, seated: tuple[tuple[str, str], ...]
) -> MatchSpec:
    game: Any = find_game(stored.game)
    return MatchSpec(
        game=game,
        options=game.options(stored.options),
        deal=block,
        seed=deal_seed(stored.seed, stored.game, block),
        seating=seating,
        bots=seated,
        move_us=stored.move_us,
        bank_us=stored.bank_us,
        faults_allowed=stored.faults_allowed,
    )


def _new(
    name: str, game: str, bots: Sequence[tuple[str, str]], options: dict[str, str], deals: int
) -> StoredTournament:
    return StoredTournament(
        id=0,
        name=name,
        kind="tournament",
        game=game,
        options=options,
        seats=len(bots),
        deals=deals,
        rotate=True,
        matches=deals * len(bots),
        seed=bytes(32),
        move_us=1_000_000,
        bank_us=60_000_000,
        start_us=10_000_000,
        faults_allowed=1,
        bots=tuple(StoredBot(bot, version, {}) for bot, version in bots),
        created_us=1_600_000_000_000_000,
        finished_us=None,
    )
