"""Authors see why their bots failed, and nobody else does: `match logs`, `match show`, exported records."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from botarena.v1.record_pb2 import Evidence, FaultKind, MatchRecord

from arena.bots.process import log_name
from arena.match.record import identity, seal, unseal
from arena.runs.names import logs_folder
from arena.store.store import Store, sqlite_url
from tests.cli.command import Command
from tests.tournament.played import records, tournament

STDERR = "Traceback (most recent call last):\n  ZeroDivisionError: \x1b[31mmy plan\n"
SECRETS = ("my plan", "exit code 7", "thinking of hearts")
MATCH = "cup/m0000"


def _with_a_crash(record: MatchRecord) -> MatchRecord:
    """The record if the last bot had crashed, too."""
    seat = next(seat for seat, bot in enumerate(record.bots) if bot.name == "c")
    record.faults.add(seat=seat, decision=30, kind=FaultKind.FAULT_KIND_CRASHED, forfeit=True)
    record.circumstances.fault_details.append("its process ended with exit code 7")
    record.circumstances.evidence.append(
        Evidence(at_us=1_700_000_000_004_000, exit_code=7, memory_peak_bytes=3 << 20, stderr=STDERR)
    )
    return record


@pytest.fixture
def arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Commands on a match in which b gave illegal answers, and c crashed."""
    path = tmp_path / "arena.db"
    with closing(Store(sqlite_url(path))) as store:
        tournament(store, "cup", deals=1, failing="b")
        record = seal(_with_a_crash(records(store, "cup")[0, 0]))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE match SET record = ? WHERE block = 0 AND seating = 0", (record,))
    folder = logs_folder(str(path), "cup")
    folder.mkdir(parents=True)
    for name, text in (("b", "thinking of spades"), ("c", "thinking of hearts")):
        (folder / log_name(name, 0)).write_text(f"2023-11-14T22:13:20.000Z out {text}\n")
    return Command(path, capsys)


def test_the_logs_tell_all_that_is_known_of_a_fault(arena: Command) -> None:
    rows = arena("--json", "match", "logs", MATCH, "--bot", "c").rows
    fault, line = rows
    told = {key: value for key, value in fault.items() if key not in ("schema", "kind", "advice", "seat")}
    assert told == {
        "bot": "c",
        "decision": 30,
        "fault": "CRASHED",
        "forfeit": True,
        "time": "2023-11-14T22:13:20.004Z",
        "detail": "its process ended with exit code 7",
        "exit_code": 7,
        "signal": "",
        "memory_peak_bytes": 3 << 20,
        "stderr": STDERR,
    }
    assert (line["kind"], line["text"]) == ("log", "thinking of hearts")
    text = arena("match", "logs", MATCH, "--bot", "c").out
    assert "time 2023-11-14T22:13:20.004Z · exit code 7 · memory peak 3.0 MiB" in text
    assert "ZeroDivisionError: \\x1b[31mmy plan" in text


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_author_is_told_of_no_other_bot(arena: Command, form: tuple[str, ...]) -> None:
    mine = arena(*form, "match", "logs", MATCH, "--bot", "b").out
    assert "ILLEGAL_ACTION" in mine
    assert "thinking of spades" in mine
    assert [secret for secret in (*SECRETS, "CRASHED") if secret in mine] == []
    both = arena(*form, "match", "logs", MATCH).out
    assert [secret for secret in SECRETS if secret not in both] == []


@pytest.mark.parametrize("command", [("match", "show"), ("match", "list"), ("replay",), ("verify",)])
def test_what_may_be_shown_to_all_names_kind_and_decision_alone(
    arena: Command, command: tuple[str, ...]
) -> None:
    line = (*command, "cup" if command[-1] == "list" else MATCH)
    code = 3 if command[0] == "verify" else 0  # c made its decisions, as the record has it
    for form in ((), ("--json",)):
        done = arena(*form, *line, code=code)
        assert [secret for secret in (*SECRETS, "an index from 0") if secret in done.out + done.err] == []
    if command == ("match", "show"):
        assert "CRASHED at decision 30, forfeited" in arena(*line).out


def test_exported_records_tell_why_only_if_asked_to(arena: Command, tmp_path: Path) -> None:
    stored = seal(_stored(arena.database))
    files = {}
    for name, more in (("public", ()), ("private", ("--private",))):
        arena("export", "records", "--out", str(tmp_path / name), *more)
        files[name] = (tmp_path / name / MATCH).with_suffix(".record").read_bytes()
    assert files["private"] == stored
    assert identity(files["public"]) == identity(stored)
    assert b"my plan" in stored
    assert [s for s in (b"my plan", b"exit code 7", b"an index from") if s in files["public"]] == []
    public = unseal(files["public"])
    assert list(public.faults) == list(_stored(arena.database).faults)


def _stored(database: Path) -> MatchRecord:
    with closing(Store(sqlite_url(database))) as store:
        return records(store, "cup")[0, 0]


def test_tables_have_nothing_private_to_be_asked_for(arena: Command) -> None:
    assert "--private" in arena.refused("export", "seats", "--private", code=2)


def test_what_is_missing_is_shown_with_its_reason_until_it_is_played(arena: Command) -> None:
    reason = "lost 3 times; the last time its worker ended (signal 9)"
    with closing(Store(sqlite_url(arena.database))) as store:
        number = store.tournament("cup").id
        store.lose(number, {1: reason, 2: reason, 3: "no \x1b[31mdisk"})
    rows = [row for row in arena("--json", "tournament", "show", "cup").rows if row["kind"] == "lost_block"]
    assert [(row["block"], row["first"], row["last"], row["reason"]) for row in rows] == [
        (1, "m0003", "m0005", reason),
        (2, "m0006", "m0008", reason),
        (3, "m0009", "m0011", "no \\x1b[31mdisk"),
    ]
    shown = arena("tournament", "show", "cup").out
    assert f"missing, INFRA_FAULT: m0003 to m0005, m0006 to m0008: {reason}" in shown
    assert "\x1b[31m" not in shown
