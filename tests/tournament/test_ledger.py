from __future__ import annotations

import zlib
from dataclasses import replace
from random import Random

import pytest

from arena.store.selection import entrants
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.ledger import Entry, Ledger, StaleLedgerError, joined
from arena.tournament.report import Report, played_record
from arena.tournament.several import as_of_one
from tests.tournament.made import made_blocks, made_tournament

ONE = replace(made_tournament("one", [("ann", "1"), ("bob", "1"), ("z", "1"), ("cat", "1")]), id=1)
TWO = replace(made_tournament("two", [("bob", "2"), ("ann", "1"), ("bob-a", "1")], seats=3), id=2)
TABLE_OF_TWO = replace(made_tournament("three", [("cat", "1"), ("z", "1")], seats=2), id=3)
TOURNAMENTS = (ONE, TWO, TABLE_OF_TWO)
Block = tuple[StoredTournament, list[StoredMatch]]


def _blocks() -> list[Block]:
    return [
        (of, block)
        for seed, of in enumerate(TOURNAMENTS)
        for block in made_blocks(of, 25, seed)
    ]  # fmt: skip


def _scratch(blocks: list[Block]) -> Report:
    labels = entrants(TOURNAMENTS)
    report = Report("koffer", labels["cat", "1"])
    for record in as_of_one(((of, played) for of, block in blocks for played in block), labels):
        report.add(record)
    return report


def _told(report: Report) -> list[object]:
    return [
        report.matches, report.decisions, report.void, report.faults, report.rows(), report.crosstable(),
        report.seats(), report.luck(), report.surprises(), report.partners(),
    ]  # fmt: skip


def _entries(blocks: list[Block]) -> list[Entry]:
    return [
        Entry(of.id, played.block, played.seating, played_record(played))
        for of, block in blocks
        for played in block
    ]


@pytest.mark.parametrize("seed", range(4))
def test_it_tells_what_a_fold_tells_however_matches_come(seed: int) -> None:
    blocks = _blocks()
    wanted = _told(_scratch(blocks))
    rng = Random(seed)
    rng.shuffle(blocks)
    ledger, parts = Ledger(), list[bytes]()
    while blocks:
        some = rng.randrange(1, 40)
        part = ledger.add(_entries(blocks[:some]))
        del blocks[:some]
        if rng.random() < 0.7:  # put away, and taken up again
            parts.append(part)
            parts = [joined(parts)] if rng.random() < 0.3 else parts
            ledger = Ledger.unpack(ledger.pack(), parts)
        else:
            parts.append(part)
    assert _told(ledger.report("koffer", entrants(TOURNAMENTS), "cat")) == wanted


@pytest.mark.parametrize("sums", [b"", b"no sums", zlib.compress(b'{"version": 0}'), zlib.compress(b"[]")])
def test_other_bytes_are_refused(sums: bytes) -> None:
    with pytest.raises(StaleLedgerError):
        Ledger.unpack(sums, [])


def test_nothing_tells_nothing() -> None:
    ledger = Ledger()
    part = ledger.add([])
    again = Ledger.unpack(ledger.pack(), [part])
    assert again.report("koffer", {}).rows() == []
