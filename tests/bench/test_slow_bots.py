"""A thousand bots at once."""

from __future__ import annotations

from tests.bench import slow_bots


async def test_a_thousand_slow_bots_play_without_a_false_timeout() -> None:
    played = await slow_bots.play(1000, think_s=0.05)
    assert played.verdicts == {"PLAYED": 250}
    assert played.decisions == 250 * 36
