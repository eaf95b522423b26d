"""Nothing that others wrote can act on a terminal or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from arena.cli.output import FORMULA_BEGINS, Output
from arena.errors import UsageError
from arena.runs.names import parse_match
from arena.text import printable


def test_control_characters_are_shown_as_escapes() -> None:
    assert printable("a\x1b[31mb\x00c\r") == "a\\x1b[31mb\\x00c\\r"
    assert printable("two\nlines\tand ünïcode – fine") == "two\nlines\tand ünïcode – fine"
    assert printable("\u202eright to left") == "\\u202eright to left"


@pytest.mark.parametrize("text", [f"{begin}1+1" for begin in sorted(FORMULA_BEGINS)])
def test_no_cell_is_a_formula(text: str, capsys: Any) -> None:
    Output().csv_rows([{"a": text, "b": -1}])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows == [["a", "b"], ["'" + text, "-1"]]


@pytest.mark.parametrize("text", ["one\rtwo", "one\ntwo", "one\r\ntwo", 'a "word", and another', ""])
def test_text_stays_in_its_cell(text: str, capsys: Any) -> None:
    Output().csv_rows([{"a": text, "b": [text]}])
    out = capsys.readouterr().out
    assert list(csv.reader(io.StringIO(out, newline=""))) == [["a", "b"], [text, json.dumps([text])]]
    assert out.startswith("a,b\n")


@pytest.mark.parametrize(
    ("text", "place"),
    [("m0312", (None, 312)), ("7", (None, 7)), ("cup/m0001", ("cup", 1)), ("a.b/c/m12345", ("a.b/c", 12345))],
)
def test_names_of_matches(text: str, place: tuple[str | None, int]) -> None:
    assert parse_match(text) == place


@pytest.mark.parametrize("text", ["", "m", "cup/", "x12", "m-1", "/m1"])
def test_no_names_of_matches(text: str) -> None:
    with pytest.raises(UsageError):
        parse_match(text)
