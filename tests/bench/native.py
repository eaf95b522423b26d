"""Programs of other languages that measurements run against: built when they are asked for, kept in `.venv/`.

`python -m tests.bench.native` builds them all and prints their paths.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_CACHE = _HERE.parents[1] / ".venv" / "native"


def go_null_bot() -> Path | None:
    """The null bot in Go with the stock gRPC library.

    Returns:
        Its program, for `cmd:PATH`; None, with the reason on stderr, where Go or its modules are missing.
    """
    source = _HERE / "null_bot_go"
    go = shutil.which("go")
    if go is None:
        _say_missing("null_bot_go", "there is no go on the PATH")
        return None
    # Go would fetch another Go by itself where its own is too old for the module: it shall say so instead.
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    fetched = subprocess.run(
        [go, "mod", "download"], cwd=source, env=environment, capture_output=True, text=True, check=False
    )
    if fetched.returncode:
        _say_missing("null_bot_go", f"go mod download failed: {fetched.stderr.strip()}")
        return None
    command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o"]
    return _built("null_bot_go", source, command, ["."], environment)


def instant_engine() -> Path | None:
    """The UCI chess engine that answers at once; its only argument is a seed.

    Returns:
        Its program; None, with the reason on stderr, where there is no C++ compiler.
    """
    source = _HERE / "instant_engine"
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        _say_missing("instant_engine", "there is no C++ compiler: no c++ on the PATH, nor what CXX names")
        return None
    command = [compiler, "-std=c++17", "-O2", "-o"]
    return _built("instant_engine", source, command, ["engine.cpp"], dict(os.environ))


def _built(
    name: str, source: Path, command: Sequence[str], inputs: Sequence[str], environment: dict[str, str]
) -> Path:
    """The program, built anew unless it was made of the same source by the same command."""
    # Bots are named after their files: what changes with the source is in the folder's name.
    program = _CACHE / f"{name}-{_digest(source, command)}" / name
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    # It gets its name when it is whole: several processes may build at once.
    with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
        unnamed = Path(folder) / name
        built = subprocess.run(
            [*command, str(unnamed), *inputs],
            cwd=source,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            raise RuntimeError(f"{name} does not build:\n{built.stderr}")
        unnamed.rename(program)
    for old in _CACHE.glob(f"{name}-*"):
        if old != program.parent:
            shutil.rmtree(old, ignore_errors=True)
    return program


def _digest(source: Path, command: Sequence[str]) -> str:
    digest = hashlib.sha256("\0".join(command).encode())
    for path in sorted(source.iterdir()):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _say_missing(name: str, why: str) -> None:
    print(f"{name} is left out: {why}", file=sys.stderr)


def main() -> int:
    """Build all; exit code 1 if one of them is not to be had."""
    programs = (go_null_bot(), instant_engine())
    for program in programs:
        if program is not None:
            print(program)
    return int(None in programs)


if __name__ == "__main__":
    sys.exit(main())
