"""The rows of an export, against what the bots were shown and what they chose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from botarena.v1.game_pb2 import GameClaim
from botarena.v1.kamozza_pb2 import KamozzaClaim, KamozzaPort
from google.protobuf.json_format import MessageToDict, ParseDict

from arena.errors import CheckFailedError
from arena.games import GAMES
from arena.match.record import RecordDamagedError, seal, unseal
from arena.match.verdicts import stand_in_fault
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredMatch
from arena.tournament.export import TABLES, Column, Played, Row, as_table
from tests.tournament.played import Choice, records, tournament, void

TALK = GameClaim(kamozza=KamozzaClaim(cards=[20, 1], port=KamozzaPort.KAMOZZA_PORT_B))
PYTHON = {"text": str, "integer": int, "number": float, "flag": bool, "json": str}
NULLABLE = {"integer", "number", "json"}

Chosen = dict[tuple[int, int], list[Choice]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with closing(Store(sqlite_url(tmp_path_factory.mktemp("export") / "arena.db"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def chosen(store: Store) -> dict[str, Chosen]:
    """A tournament of each game, in each of which one bot fails often; in one there is table talk."""
    talk = {"mode": "variant", "table_talk": "true"}
    return {
        name: tournament(
            store,
            name,
            name,
            options=talk if name == "kamozza" else {},
            deals=1,
            failing="a",
            claims=lambda decision, name=name: TALK if name == "kamozza" and decision < 2 else None,  # type: ignore[misc]
        )
        for name in GAMES
    }


def played(store: Store, name: str) -> list[Played]:
    of = store.tournament(name)
    return [Played.read(f"m{stored.seating}", of, stored) for stored in store.matches(of.id)]


def rows(store: Store, name: str, table: str) -> list[Row]:
    return [row for match in played(store, name) for row in TABLES[table].rows(match)]


@pytest.mark.parametrize("name", GAMES)
def test_a_row_is_what_the_bot_was_shown_and_what_it_answered(
    store: Store, chosen: dict[str, Chosen], name: str
) -> None:
    for match in played(store, name):
        told = [row for row in TABLES["decisions"].rows(match) if not row["stand_in"]]
        met = [
            choice for choice in chosen[name][match.block, match.record.seating] if choice.index is not None
        ]
        ours = [_met(choice, name) for choice in met]
        assert [_told(row) for row in told] == ours


def _met(choice: Choice, name: str) -> list[Any]:
    turn = getattr(choice.turn, name)
    assert choice.index is not None
    action = MessageToDict(turn.actions[choice.index])
    return [choice.seat, choice.index, len(turn.actions), MessageToDict(turn.view), action, choice.think_us]


def _told(row: Row) -> list[Any]:
    view, action = json.loads(row["view"]), json.loads(row["action"])
    return [row["seat"], row["choice"], row["choices"], view, action, row["think_us"]]


@pytest.mark.parametrize("name", GAMES)
def test_decisions_are_those_of_the_records(store: Store, chosen: dict[str, Chosen], name: str) -> None:
    found = rows(store, name, "decisions")
    for (block, seating), record in records(store, name).items():
        of_match = [row for row in found if (row["block"], row["seating"]) == (block, seating)]
        assert [row["decision"] for row in of_match] == list(range(len(record.seats)))
        assert [row["choice"] for row in of_match] == list(record.actions)
        assert [row["seat"] for row in of_match] == list(record.seats)
        assert [row["rank"] for row in of_match] == [record.ranks[seat] for seat in record.seats]
        assert [row["score"] for row in of_match] == [record.scores[seat] for seat in record.seats]
        claims = {row["decision"]: json.loads(row["claim"]) for row in of_match if row["claim"] is not None}
        assert claims == {c.decision: MessageToDict(c.claim)[name] for c in record.claims}


def test_views_and_actions_can_be_read_back_as_messages(store: Store, chosen: dict[str, Chosen]) -> None:
    for name in GAMES:
        turn = type(getattr(next(iter(chosen[name].values()))[0].turn, name))
        for row in rows(store, name, "decisions")[:20]:
            data = {"view": json.loads(row["view"]), "actions": [json.loads(row["action"])]}
            assert MessageToDict(ParseDict(data, turn())) == data


def test_simultaneous_decisions_have_one_ply(store: Store, chosen: dict[str, Chosen]) -> None:
    plies = [row["ply"] for row in rows(store, "kamozza", "decisions") if row["match"] == "m0"]
    assert plies == sorted(plies)
    assert set(plies) == set(range(plies[-1] + 1))
    assert plies[:3] == [0, 0, 0]


def test_stand_ins_are_told_with_the_fault_that_brought_them(store: Store, chosen: dict[str, Chosen]) -> None:
    for match in played(store, "koffer"):
        tolerated, forfeit = match.record.faults
        assert (tolerated.forfeit, forfeit.forfeit) == (False, True)
        found = {row["decision"]: row for row in TABLES["decisions"].rows(match)}
        by_stand_in = {decision for decision, row in found.items() if row["stand_in"]}
        seats = list(enumerate(match.record.seats))
        later = {at for at, seat in seats if seat == forfeit.seat and at >= forfeit.decision}
        assert by_stand_in == {tolerated.decision} | later
        assert {found[at]["fault"] for at in by_stand_in} == {"ILLEGAL_ACTION"}
        assert {found[at]["bot"] for at in by_stand_in} == {"a"}
        assert all(found[at]["fault"] == stand_in_fault(match.record, at) for at in found)


def test_matches_and_seats_tell_the_same(store: Store, chosen: dict[str, Chosen]) -> None:
    seats = rows(store, "kotki", "seats")
    for match in rows(store, "kotki", "matches"):
        of_match = [row for row in seats if row["match"] == match["match"]]
        for column, singular in (
            ("bots", "bot"),
            ("versions", "version"),
            ("ranks", "rank"),
            ("scores", "score"),
        ):
            assert json.loads(match[column]) == [row[singular] for row in of_match]
        assert [row["seat"] for row in of_match] == list(range(match["seats"]))
        assert json.loads(match["faults"]) == ["a ILLEGAL_ACTION", "a ILLEGAL_ACTION"]
        assert {row["bot"]: row["fault"] for row in of_match} == {"a": "ILLEGAL_ACTION", "b": "", "c": ""}
        assert match["started_us"] == 1_700_000_000_000_000


def test_think_times_of_a_seat_are_those_of_its_decisions(store: Store, chosen: dict[str, Chosen]) -> None:
    decisions = rows(store, "combo_up", "decisions")
    for seat in rows(store, "combo_up", "seats"):
        own = [row for row in decisions if (row["match"], row["seat"]) == (seat["match"], seat["seat"])]
        assert seat["think_us"] == sum(row["think_us"] for row in own)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", GAMES)
def test_rows_have_the_columns_of_their_table(
    store: Store, chosen: dict[str, Chosen], name: str, table: str
) -> None:
    columns = TABLES[table].columns
    for row in rows(store, name, table):
        assert list(row) == [column.name for column in columns]
        for column in columns:
            value = row[column.name]
            assert type(value) is PYTHON[column.kind] or (value is None and column.kind in NULLABLE), column


def test_a_void_match_has_no_result_and_its_decisions_so_far(store: Store, chosen: dict[str, Chosen]) -> None:
    of = store.tournament("hochstapler")
    whole = next(store.matches(of.id))
    half = Played.read("m0", of, void(whole))
    decisions = list(TABLES["decisions"].rows(half))
    full = list(TABLES["decisions"].rows(Played.read("m0", of, whole)))
    assert [row["view"] for row in decisions] == [row["view"] for row in full[: len(decisions)]]
    assert 0 < len(decisions) == len(unseal(whole.record).seats) // 2
    assert {(row["verdict"], row["rank"], row["score"]) for row in decisions} == {
        ("ENGINE_FAULT", None, None)
    }
    assert {row["rank"] for row in TABLES["seats"].rows(half)} == {None}


def changed(stored: StoredMatch, **fields: Any) -> StoredMatch:
    record = unseal(stored.record)
    for name, value in fields.items():
        setattr(record, name, value)
    return replace(stored, record=seal(record))


def test_a_damaged_record_is_named(store: Store, chosen: dict[str, Chosen]) -> None:
    of = store.tournament("koffer")
    stored = list(store.matches(of.id))[1]
    damaged = replace(stored, record=stored.record[:-40] + b"x" + stored.record[-39:])
    with pytest.raises(RecordDamagedError, match=r"koffer, block 0, seating 1: .* changed or cut"):
        Played.read("m1", of, damaged)
    exchanged = replace(stored, seats=stored.seats[::-1])
    with pytest.raises(RecordDamagedError, match="koffer, block 0, seating 1: its bots are not those"):
        Played.read("m1", of, exchanged)


@pytest.mark.parametrize(
    ("fields", "why"), [({"seed": bytes(32)}, "decision"), ({"game_version": 99}, "version 99")]
)
def test_a_record_that_does_not_replay_is_named(
    store: Store, chosen: dict[str, Chosen], fields: dict[str, Any], why: str
) -> None:
    of = store.tournament("koffer")
    match = Played.read("m0", of, changed(next(store.matches(of.id)), **fields))
    with pytest.raises(CheckFailedError, match=why) as caught:
        list(TABLES["decisions"].rows(match))
    assert caught.value.what.startswith("koffer/m0 does not replay")


def test_rows_of_any_data_become_a_table() -> None:
    columns, plain = as_table(
        [
            {"bot": "a", "n": 1, "mu": 1, "ok": True, "none": None, "kinds": {"x": [1]}, "mixed": 1},
            {"bot": "b", "n": None, "mu": 2.5, "ok": False, "none": None, "kinds": None, "mixed": "x"},
        ]
    )
    kinds = ["text", "integer", "number", "flag", "number", "json", "json"]
    assert [column.kind for column in columns] == kinds
    assert columns[0] == Column("bot", "text")
    assert plain[0] == {
        "bot": "a",
        "n": 1,
        "mu": 1,
        "ok": True,
        "none": None,
        "kinds": '{"x": [1]}',
        "mixed": "1",
    }
    assert plain[1]["kinds"] is None
    assert as_table([]) == ((), [])
