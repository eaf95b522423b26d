"""What is read from control groups of both versions: the peak, and what was killed at the limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from arena.bots.memory import MemoryWatch, memory_group


@pytest.mark.parametrize(
    ("files", "peak", "killed"),
    [
        ({"memory.max_usage_in_bytes": "4096", "memory.oom_control": "under_oom 1\noom_kill 0"}, 4096, False),
        ({"memory.max_usage_in_bytes": "8192", "memory.oom_control": "under_oom 0\noom_kill 2"}, 8192, True),
        ({"memory.peak": "5000", "memory.current": "10", "memory.events": "oom 3\noom_kill 0"}, 5000, False),
        ({"memory.current": "10", "memory.events": "oom 3\noom_kill 1\noom_group_kill 0"}, 10, True),
        ({"memory.current": "10", "memory.events": "oom 1\noom_kill 0\noom_group_kill 1"}, 10, False),
        ({}, 0, False),
    ],
)
def test_what_is_seen(tmp_path: Path, files: dict[str, str], peak: int, killed: bool) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    watch = MemoryWatch(tmp_path)
    watch.look()
    assert (watch.peak_bytes, watch.killed) == (peak, killed)


def test_what_was_seen_stays_when_the_group_is_gone(tmp_path: Path) -> None:
    group = tmp_path / "group"
    group.mkdir()
    (group / "memory.current").write_text("70\n")
    (group / "memory.events").write_text("oom_kill 1\n")
    watch = MemoryWatch(group)
    watch.look()
    (group / "memory.current").write_text("50\n")
    watch.look()
    for path in list(group.iterdir()):
        path.unlink()
    watch.look()
    assert (watch.peak_bytes, watch.killed) == (70, True)


def test_a_group_that_nobody_knows() -> None:
    assert memory_group(os.getpid(), "no-such-container") is None
    assert memory_group(2**22 + 1, "") is None
    watch = MemoryWatch(None)
    watch.look()
    assert watch.peak_bytes == 0
