"""Sizes as people write them; times are tested where limits are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.units import parse_size, size_text


@given(st.integers(1, 1 << 45))
def test_a_size_is_read_as_it_is_written(size: int) -> None:
    # A fraction of a byte is none, and a float holds all sizes up to here.
    assert parse_size(size_text(size)) == size


@pytest.mark.parametrize(
    ("text", "size"), [("64MiB", 64 << 20), ("1GiB", 1 << 30), ("1.5KiB", 1536), ("7B", 7)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "1", "MiB", "-1MiB", "0B", "0.1B", "64 MiB", "64mib", "64MB", "1e3B", "9" * 16 + "B", "nanB"]
)
def test_no_sizes(text: str) -> None:
    with pytest.raises(UsageError, match="64MiB"):
        parse_size(text)
