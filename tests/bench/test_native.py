"""The programs that are built for measurements do what measurements rely on."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from botarena.v1.record_pb2 import Verdict

from arena.bots.reference import resolve
from arena.bots.tables import Tables
from arena.games.chance import deal_seed
from arena.match.record import unseal
from arena.match.replay import verify
from tests.bench import native, null_bot
from tests.match.fakes import spec

# Positions in which castling, en passant, promotions, pins and checks meet, with the published counts.
KNOWN = (
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3, 8902),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97862),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43238),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9467),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62379),
)


@pytest.fixture(scope="module")
def engine() -> Path:
    program = native.instant_engine()
    if program is None:
        pytest.skip("there is no C++ compiler to build the chess engine with")
    return program


@pytest.fixture(scope="module")
def go_bot() -> Path:
    program = native.go_null_bot()
    if program is None:
        pytest.skip("there is no Go, or not its modules, to build the null bot with")
    return program


def asked(engine: Path, *lines: str) -> str:
    text = "\n".join((*lines, "quit", ""))
    return subprocess.run([engine], input=text, capture_output=True, text=True, check=True, timeout=30).stdout


async def test_null_bots_play_every_match_by_its_rules(go_bot: Path, tmp_path: Path) -> None:
    python_bot = null_bot.__file__
    references = (f"cmd:{go_bot}", python_bot, f"cmd:{go_bot}", python_bot)
    bots = [replace(resolve(name), name=f"null-{seat}") for seat, name in enumerate(references)]
    base = spec([bot.name for bot in bots])
    specs = [replace(base, deal=deal, seed=deal_seed(bytes(32), "koffer", deal)) for deal in range(8)]
    async with Tables(bots, tmp_path, 20_000_000) as tables:
        for match in specs:
            record = unseal(await tables.play(match))
            verify(record)
            assert record.verdict == Verdict.VERDICT_PLAYED
            assert not any(record.actions)


def test_the_go_bot_ends_within_a_second_of_sigterm(go_bot: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        silent.settimeout(10)
        environment = {**os.environ, "ARENA_ADDR": f"unix:{tmp_path / 's'}", "ARENA_TOKEN": "token"}
        with subprocess.Popen([go_bot], env=environment) as bot, silent.accept()[0]:
            begin = time.monotonic()
            bot.send_signal(signal.SIGTERM)
            bot.wait(timeout=10)
            assert time.monotonic() - begin < 1


def test_the_go_bot_says_why_it_has_no_arena(go_bot: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    ended = subprocess.run([go_bot], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "ARENA_ADDR" in ended.stderr


@pytest.mark.parametrize(("fen", "depth", "nodes"), KNOWN)
def test_the_engine_counts_known_positions(engine: Path, fen: str, depth: int, nodes: int) -> None:
    assert f"Nodes searched: {nodes}\n" in asked(engine, f"position fen {fen}", f"go perft {depth}")


def test_the_engine_agrees_with_python_chess_on_random_positions(engine: Path) -> None:
    chess = pytest.importorskip("chess", reason="python-chess is installed for benchmarks only")
    boards = random_positions(chess, 300)
    commands = [line for board in boards for line in (f"position fen {board.fen()}", "go perft 2")]
    answers = asked(engine, *commands).split("Nodes searched: ")[:-1]
    for board, answer in zip(boards, answers, strict=True):
        counts = dict(re.findall(r"^(\w+): (\d+)$", answer, re.MULTILINE))
        assert {move: int(count) for move, count in counts.items()} == replies(board), board.fen()


def random_positions(chess: Any, count: int) -> list[Any]:
    rng, board = Random(1), chess.Board()
    boards: list[Any] = []
    while len(boards) < count:
        if board.is_game_over():
            board.reset()
        board.push(rng.choice(list(board.legal_moves)))
        if rng.randrange(4) == 0:
            boards.append(board.copy(stack=False))
    return boards


def replies(board: Any) -> dict[str, int]:
    found = {}
    for move in board.legal_moves:
        board.push(move)
        found[move.uci()] = board.legal_moves.count()
        board.pop()
    return found


def test_the_engine_repeats_itself_and_follows_a_game(engine: Path) -> None:
    lines = ("uci", "isready", "position startpos moves e2e4 d7d5 e4d5", "go wtime 1000", "go movetime 1")
    first = asked(engine, *lines)
    assert "uciok\nreadyok\n" in first
    assert first.count("bestmove ") == 2
    assert first == asked(engine, *lines)


def test_an_engine_without_a_move_says_so(engine: Path) -> None:
    mated = "position startpos moves f2f3 e7e5 g2g4 d8h4"
    assert asked(engine, mated, "go").endswith("bestmove 0000\n")


@pytest.mark.parametrize("build", [native.go_null_bot, native.instant_engine])
def test_a_missing_compiler_is_named(
    build: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert build() is None
    assert "is left out: there is no" in capsys.readouterr().err


def test_what_does_not_compile_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if native.instant_engine() is None:
        pytest.skip("there is no C++ compiler to fail")
    source = tmp_path / "instant_engine"
    source.mkdir()
    (source / "engine.cpp").write_text("int main( {\n")
    monkeypatch.setattr(native, "_HERE", tmp_path)
    monkeypatch.setattr(native, "_CACHE", tmp_path / "cache")
    with pytest.raises(RuntimeError, match="instant_engine does not build"):
        native.instant_engine()
