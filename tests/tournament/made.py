"""Matches that were never played: records with drawn results, as a store would have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from botarena.v1.bot_pb2 import TimeControl
from botarena.v1.record_pb2 import Circumstances, Fault, FaultKind, MatchRecord, SeatedBot, Verdict

from arena.match.record import seal
from arena.store.stored import StoredBot, StoredMatch, StoredSeat, StoredTournament


def made_tournament(
    name: str,
    bots: Sequence[tuple[str, str]],
    seats: int = 3,
    options: dict[str, str] | None = None,
    deals: int = 1000,
    game: str = "koffer",
) -> StoredTournament:
    """A tournament that nobody plays."""
    entries = tuple(StoredBot(bot, version, {"reference": f"house:{bot}"}) for bot, version in bots)
    return StoredTournament(
        id=0, name=name, kind="tournament", game=game, options=options or {}, seats=seats, deals=deals,
        rotate=True, matches=deals * seats, seed=bytes(32), move_us=1, bank_us=1, start_us=1,
        faults_allowed=0, bots=entries, created_us=1_700_000_000_000_000, finished_us=None,
    )  # fmt: skip


def made_block(of: StoredTournament, block: int, rng: Random, decisions: int = 6) -> list[StoredMatch]:
    """All matches of a block."""
    seated = rng.sample(range(len(of.bots)), of.seats)
    return [
        made_match(of, block, turn, seated[turn:] + seated[:turn], rng, decisions) for turn in range(of.seats)
    ]


def made_match(
    of: StoredTournament, block: int, seating: int, seated: Sequence[int], rng: Random, decisions: int
) -> StoredMatch:
    """A match; one in fifty is void, one in ten has a fault."""
    record = MatchRecord(
        format=1, game=of.game, game_version=1, deal=block, seed=block.to_bytes(32, "big"), seating=seating,
        bots=[SeatedBot(name=of.bots[bot].name, version=of.bots[bot].version) for bot in seated],
        time=TimeControl(move_us=1, bank_us=1),
        seats=[index % of.seats for index in range(decisions)],
        actions=[0] * decisions,
        circumstances=Circumstances(
            started_us=of.created_us, think_us=[rng.randrange(5000) for _ in range(decisions)]
        ),
    )  # fmt: skip
    if rng.random() < 0.02:
        record.verdict = Verdict.VERDICT_ENGINE_FAULT
    else:
        record.verdict = Verdict.VERDICT_PLAYED
        record.scores.extend(rng.randrange(-3, 4) + bot for bot in seated)
        record.ranks.extend(1 + sum(other > score for other in record.scores) for score in record.scores)
        if rng.random() < 0.1:
            forfeit = rng.random() < 0.5
            kind = rng.choice([FaultKind.FAULT_KIND_TIMEOUT, FaultKind.FAULT_KIND_CRASHED])
            record.faults.append(Fault(seat=0, decision=rng.randrange(decisions), kind=kind, forfeit=forfeit))
    return stored_match(of, block, seated, record)


def stored_match(of: StoredTournament, block: int, seated: Sequence[int], record: MatchRecord) -> StoredMatch:
    """A record as it is stored."""
    results = zip(record.ranks, record.scores, strict=True) if record.ranks else ((None, None),) * of.seats
    seats = tuple(
        StoredSeat(bot, rank, score, None) for bot, (rank, score) in zip(seated, results, strict=True)
    )
    return StoredMatch(block, record.seating, record.verdict, seal(record), seats)


def made_blocks(of: StoredTournament, number: int, seed: int) -> Iterator[list[StoredMatch]]:
    """So many blocks in the order of the schedule."""
    rng = Random(seed)
    return (made_block(of, block, rng) for block in range(number))
