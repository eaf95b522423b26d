"""How long a run takes that plays one match: mostly the start of the arena, its worker and two bots."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINE = ("play", "koffer", "house:random", "house:random", "--quiet")


def startup_s() -> float:
    """Seconds from the start of `arena play` for one match to its end, with a database that it creates."""
    program = Path(sys.executable).parent / "arena"
    environment = {key: value for key, value in os.environ.items() if key not in ("ARENA_DB", "ARENA_LOGS")}
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(
            [program, *LINE], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=120
        )
        return time.perf_counter() - began
