"""The SDK as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from botarena.remote import server_in

BOT = """
from botarena import run

def choose(turn):
    return 0

if __name__ == "__main__":
    run(choose)
"""


def environment(**extra: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if not k.startswith("ARENA_")}, **extra}


def test_without_an_arena_a_bot_says_how_to_play(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    done = subprocess.run(
        [sys.executable, "bot.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "arena play koffer bot.py house:random" in done.stderr


def test_an_arena_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    done = subprocess.run(
        [sys.executable, "bot.py"],
        cwd=tmp_path,
        env=environment(ARENA_ADDR=f"unix:{tmp_path}/none", ARENA_TOKEN="x"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the arena ended the conversation: UNAVAILABLE")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "extra", "code", "says"),
    [
        (["--help"], {}, 0, "--token-file"),
        (["--server", "nowhere"], {}, 2, "it is not HOST:PORT"),
        (["--server", "127.0.0.1:1"], {}, 2, "do: make one: arena token create"),
        (["--server", "127.0.0.1:1", "--token-file", "none"], {}, 2, "the token cannot be read"),
        (["--server", "127.0.0.1:1", "--token-file", "empty"], {}, 2, "there is none in empty"),
        (
            ["--server", "127.0.0.1:1", "--tls-ca", "none"],
            {"ARENA_TOKEN": "x"},
            2,
            "certificates cannot be read",
        ),
        ([], {"ARENA_SERVER": "nowhere"}, 2, "it is not HOST:PORT"),
    ],
)
def test_a_command_line_that_names_no_server_and_token_is_a_clear_error(
    tmp_path: Path,
    line: list[str],
    extra: dict[str, str],
    code: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("ARENA_SERVER", "ARENA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in extra.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        server_in(line)
    said = capsys.readouterr()
    assert ended.value.code == code
    assert says in said.out + said.err


@pytest.mark.parametrize(
    ("line", "tls"),
    [
        (["--server", "127.0.0.1:50051"], False),
        (["--server", "localhost:50051", "--deep"], False),
        (["--server", "127.0.0.1:50051", "--tls-ca", "roots"], True),
        (["--server", "arena.example:50051"], True),
        (["--server", "arena.example:50051", "--insecure"], False),
        (["--server", "127.0.0.1.example:50051"], True),
    ],
)
def test_a_line_is_encrypted_but_on_this_machine(
    line: list[str], tls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roots").write_text("certificates")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_TOKEN", "secret")
    server = server_in(line)
    assert server is not None
    assert server.tls == tls
    assert "secret" not in repr(server)


def test_a_bot_that_waits_on_a_server_ends_at_once_on_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    process = subprocess.Popen(
        [sys.executable, "bot.py", "--server", "127.0.0.1:1"],
        cwd=tmp_path,
        env=environment(ARENA_TOKEN="x"),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("lost after 0 matches (UNAVAILABLE")
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == "gone after 0 matches\n"
    assert process.wait(timeout=30) == 130
    process.stderr.close()


@pytest.mark.parametrize("clean_up", ["", "time.sleep(60)"])
def test_sigterm_ends_a_bot_even_if_its_clean_up_hangs(tmp_path: Path, clean_up: str) -> None:
    """Whether it ends is tested here; that it takes a second at most is the alarm's doing, not the test's."""
    code = f"""
import atexit, time
from botarena.runner import _end_on_sigterm
atexit.register(lambda: {clean_up or None})
_end_on_sigterm()
print("ready", flush=True)
while True:
    time.sleep(1)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) in (128 + signal.SIGTERM, -signal.SIGALRM)
    process.stdout.close()


def test_a_module_that_is_run_by_name_needs_a_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "botarena", "nothing"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "MODULE:NAME" in done.stderr


def test_the_sdk_does_not_load_grpc_for_who_only_uses_its_messages() -> None:
    code = "import botarena, botarena.v1.bot_pb2, sys; print('grpc' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"
