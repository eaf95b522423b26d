"""`arena head-to-head`, against the records themselves."""

from __future__ import annotations

import csv
import io
import re
from contextlib import closing
from pathlib import Path

import pytest

from arena.store.store import Store, sqlite_url
from tests.cli.command import Command
from tests.tournament.played import records, tournament, void


def test_it_adds_up_what_the_records_say(arena: Command, store: Store) -> None:
    rows = arena("--json", "head-to-head", "a", "b", "--game", "koffer").rows
    met = [record for name in ("one", "two") for record in records(store, name).values()]
    results = []
    for record in met:
        seats = {bot.name: seat for seat, bot in enumerate(record.bots)}
        results.append((seats["a"], record.ranks[seats["a"]] - record.ranks[seats["b"]]))
    summary = rows[-1]
    assert summary["kind"] == "head_to_head"
    assert (summary["wins"], summary["draws"], summary["losses"]) == (
        sum(difference < 0 for _, difference in results),
        sum(difference == 0 for _, difference in results),
        sum(difference > 0 for _, difference in results),
    )
    assert summary["matches"] == len(met) == 12
    assert summary["share"] == pytest.approx((summary["wins"] + summary["draws"] / 2) / 12)
    assert summary["low"] < summary["share"] < summary["high"]
    matches = [row for row in rows if row["kind"] == "head_to_head_match"]
    margins = [row["score"] - row["against_score"] for row in matches]
    assert summary["mean_margin"] == pytest.approx(sum(margins) / 12)
    seats_told = [row for row in rows if row["kind"] == "head_to_head_seat"]
    assert {row["seat"]: row["matches"] for row in seats_told} == {0: 5, 1: 5, 2: 2}
    assert [(row["seat"], row["rank"] - row["against_rank"]) for row in matches] == results


def test_the_other_side_sees_the_same(arena: Command) -> None:
    one = arena("--json", "head-to-head", "a", "b", "--tournament", "one").rows[-1]
    other = arena("--json", "head-to-head", "b", "a", "--tournament", "one").rows[-1]
    assert (one["wins"], one["losses"], one["mean_margin"]) == (
        other["losses"],
        other["wins"],
        -other["mean_margin"],
    )
    assert one["share"] == pytest.approx(1 - other["share"])
    assert one["error"] == other["error"]


def test_a_version_may_be_named(arena: Command) -> None:
    rows = arena("--json", "head-to-head", "a@2", "b", "--game", "koffer").rows
    assert {row["tournament"] for row in rows[:6]} == {"two"}
    assert (rows[-1]["bot"], rows[-1]["matches"]) == ("a@2", 6)


def test_matches_are_named_as_replay_knows_them(arena: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(arena("--csv", "head-to-head", "a", "c", "--seats", "2").out)))
    assert [row["name"] for row in rows] == [f"three/m{number:04d}" for number in range(4)]
    assert arena("--json", "replay", rows[-1]["name"]).rows[-1]["ranks"]


def test_people_see_the_last_matches_and_the_table_by_seat(
    arena: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.meetings.SHOWN", 2)
    out = arena("head-to-head", "a", "b", "--tournament", "one").out
    assert re.search(r"^a against b: it ranked above in [\d.]+ % of 6 matches", out)
    assert "the last 2 matches; for 4 more" in out
    assert "one/m0004" in out
    assert "one/m0005" in out
    assert "one/m0003" not in out


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (["a", "a"], 2, "a cannot meet itself"),
        (["a", "nobody"], 4, "there is no bot 'nobody'"),
        (["b", "c", "--tournament", "one"], 4, "there is no bot 'c'"),
        (["a", "b", "--tournament", "three"], 4, "there is no bot 'b'"),
        (["a@1", "c"], 4, "a@1 and c have not met"),
        (["a", "b"], 2, "several games"),
        (["a", "b", "--game", "koffer", "--option", "games=3"], 4, "a and b have not met"),
        (["a", "b", "--game", "koffer", "--since", "2023-11-14T23:00"], 4, "there is no such match"),
    ],
)
def test_what_cannot_be_told(arena: Command, line: list[str], code: int, what: str) -> None:
    assert what in arena.refused("head-to-head", *line, code=code)


def test_void_matches_are_listed_and_not_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(Store(sqlite_url(tmp_path / "source.db"))) as source:
        tournament(source, "cup", bots=(("a", "1"), ("b", "1")), deals=2)
        of = source.tournament("cup")
        stored = list(source.matches(of.id))
    arena = Command(tmp_path / "arena.db", capsys)
    with closing(Store(sqlite_url(arena.database))) as store:
        store.add(store.create(of).id, [void(stored[0]), *stored[1:]])
    rows = arena("--json", "head-to-head", "a", "b").rows
    assert (rows[-1]["matches"], rows[-1]["void"]) == (3, 1)
    assert [(row["verdict"], row["rank"]) for row in rows[:2]] == [
        ("ENGINE_FAULT", None),
        ("PLAYED", rows[1]["rank"]),
    ]
    assert "1 more are void" in arena("head-to-head", "a", "b").out
