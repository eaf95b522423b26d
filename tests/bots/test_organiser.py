"""The organiser's file, what bots ask for in theirs, and what they get."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.limits import BotLimits
from arena.bots.organiser import MOST, BuildLimits, Organiser, read_organiser
from arena.bots.reference import BotReferenceError, BotSpec, resolve
from arena.errors import NotFoundError, UsageError

FILE = """
sandbox = "docker"

[most]
memory = "2GiB"
cpus = 3
pids = 256
tmp = "1MiB"
start = "30s"
log = "2MiB"

[build]
network = true
memory = "4GiB"
time = "90s"
log = "3KiB"
size = "100MiB"

[build.base]
python = "mine/python:3"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "limits.toml"
    path.write_text(text)
    return path


def test_all_of_it(tmp_path: Path) -> None:
    organiser = read_organiser(written(tmp_path, FILE))
    assert organiser.sandbox == "docker"
    assert organiser.most == BotLimits(2 << 30, 3.0, 256, 1 << 20, 30_000_000, 2 << 20)
    assert organiser.build == BuildLimits(
        True, 4 << 30, 90.0, 3 << 10, 100 << 20, {"python": "mine/python:3"}
    )


def test_what_is_left_out_is_as_without_a_file(tmp_path: Path) -> None:
    assert read_organiser(None) == read_organiser(written(tmp_path, "")) == Organiser()
    assert read_organiser(written(tmp_path, "[most]\npids = 9")).most == replace(MOST, pids=9)


# A line, and what the error names.
NONSENSE = [
    ("sandbox = 'chroot'", "sandbox is 'chroot'"),
    ("sandbox = 3", "sandbox is 3"),
    ("colour = 1", "unknown key 'colour'"),
    ("most = 3", "most is 3"),
    ("[most]\nmemory = 5", r"memory in \[most\] is 5"),
    ("[most]\nmemory = '5'", "memory"),
    ("[most]\nmemory = '1B'", "too little"),
    ("[most]\ncpus = 'two'", "cpus"),
    ("[most]\ncpus = true", "cpus"),
    ("[most]\ncpus = nan", "cpus"),
    ("[most]\ncpus = inf", "too much"),
    ("[most]\ncpus = 0", "too little"),
    ("[most]\npids = 1.5", "pids"),
    ("[most]\npids = -1", "too little"),
    ("[most]\nstart = 3", "start"),
    ("[most]\nstart = '3 years'", "start"),
    ("[most]\nRAM = '1GiB'", "unknown key 'RAM'"),
    ("[build]\nnetwork = 1", "network"),
    ("[build]\ntime = '1us'", "too little"),
    ("[build]\nbase = 'python'", "base"),
    ("[build.base]\npython = ''", r"\[build.base\]"),
    ("[build.base]\npython = 3", r"\[build.base\]"),
    ("[most", "TOML"),
]


@pytest.mark.parametrize(("text", "named"), NONSENSE)
def test_nonsense_is_told(tmp_path: Path, text: str, named: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError, match=named) as raised:
        read_organiser(path)
    assert str(path) in raised.value.what


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_organiser(tmp_path / "none")
    with pytest.raises(UsageError, match="directory"):
        read_organiser(tmp_path)


LIMITS = st.builds(
    BotLimits,
    *(st.integers(1, 1 << 40), st.floats(0.05, 64), st.integers(1, 1 << 20)),
    *(st.integers(1, 1 << 40), st.integers(0, 10**9), st.integers(1, 1 << 40)),
)


@given(LIMITS, LIMITS)
def test_a_bot_gets_the_smaller_of_what_it_asks_for_and_what_there_is(
    asked: BotLimits, most: BotLimits
) -> None:
    organiser = Organiser(most=most)
    got = organiser.capped(asked)
    assert organiser.beyond(got) == []
    for name in BotLimits.__slots__:
        assert getattr(got, name) == min(getattr(asked, name), getattr(most, name))


def bot(folder: Path, limits: str) -> BotSpec:
    (folder / "bot.toml").write_text(f'name = "b"\ncommand = ["true"]\n{limits}')
    return resolve(str(folder))


def test_a_bot_asks_with_the_same_keys(tmp_path: Path) -> None:
    spec = bot(tmp_path, '[limits]\nmemory = "100MiB"\ncpus = 0.5\nstart = "3s"')
    assert spec.limits == BotLimits(memory_bytes=100 << 20, cpus=0.5, start_us=3_000_000)
    assert bot(tmp_path, "").limits == BotLimits()
    assert bot(tmp_path, "threads = 3").limits == BotLimits(cpus=3)
    assert bot(tmp_path, "threads = 3\n[limits]\ncpus = 2").limits == BotLimits(cpus=2)
    assert BotSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize("limits", ["limits = 3", *(f"[limits]\n{line}" for line in ("ram = 1", "pids = 0"))])
def test_a_bot_that_asks_for_nonsense_is_told(tmp_path: Path, limits: str) -> None:
    with pytest.raises(BotReferenceError, match=r"limits|ram|pids"):
        bot(tmp_path, limits)


def test_a_bot_that_was_stored_before_there_were_sandboxes_has_none(tmp_path: Path) -> None:
    old = bot(tmp_path, "").to_json()
    del old["sandbox"], old["limits"]
    assert BotSpec.from_json(old).sandbox == "none"
