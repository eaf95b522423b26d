"""What a bot says reaches people's terminals and tables, and may do nothing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.bots.reference import BotReferenceError, resolve
from tests.e2e.arena import Arena
from tests.hostile.playing import lay_out


def test_poisoned_words_come_out_escaped(tmp_path: Path) -> None:
    arena = Arena(lay_out(tmp_path))
    bad = "cmd:python3 -m tests.hostile.bots.crashed_with_poisoned_words"
    arena.run("play", "koffer", bad, "house:first", "--matches", "1", code=3)
    for command in (
        ("match", "logs", "m0000", "--all"),
        ("match", "show", "m0000"),
        ("--json", "match", "logs", "m0000", "--all"),
    ):
        shown = arena.run(*command)
        text = shown.stdout + shown.stderr
        # What it said is shown to who asks for it, and not just left out.
        assert ("owned" in text) == ("logs" in command)
        assert sorted({char for char in text if not char.isprintable()} - {"\n", "\t"}) == []


@pytest.mark.parametrize(
    "name", ["=1+1", "@SUM(1)", "-1", "+1", "a\x1b[2J", "<b>", "a\0b", "a\nb", "../up", "\u202ea", ""]
)
def test_a_name_that_could_do_harm_is_refused(name: str, tmp_path: Path) -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in name)
    (tmp_path / "bot.toml").write_text(f'name = "{escaped}"\ncommand = ["true"]\n')
    with pytest.raises(BotReferenceError):
        resolve(str(tmp_path))
