"""Every peer that is installed gives samples; one that is not is left out with the reason."""

from __future__ import annotations

import sys

import pytest

from tests.bench import native, peers

NAMES = (
    "rlcard.gin_rummy",
    "open_spiel.crazy_eights",
    "open_spiel.gin_rummy",
    "open_spiel_rl.gin_rummy",
    "pettingzoo.gin_rummy",
    "python_chess.games_1",
    "python_chess.games_8",
)


@pytest.mark.filterwarnings("default")  # what other libraries warn of is not ours to fail by
@pytest.mark.parametrize("name", NAMES)
def test_a_peer_gives_samples(name: str) -> None:
    peer = dict(peers.available(native.instant_engine())).get(name)
    if peer is None:
        pytest.skip(f"{name} is not to be had here: peers are installed for benchmarks only, chess needs C++")
    samples = peer()
    for done, seconds in (next(samples), next(samples)):
        assert done > 0
        assert seconds > 0


def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("rlcard", "pyspiel", "pettingzoo.classic.gin_rummy_v4", "chess.engine"):
        monkeypatch.setitem(sys.modules, module, None)  # importing it fails
    assert list(peers.available(None)) == []
    said = capsys.readouterr().err
    for name in ("rlcard", "pyspiel", "pettingzoo", "python_chess"):
        assert f"peer {name} is left out: " in said
