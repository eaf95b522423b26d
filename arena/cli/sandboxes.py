"""`--sandbox` and `--limits`: how bots are held that nobody vouches for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.bots.sandbox import LEVELS

SandboxOption = Annotated[
    str | None,
    typer.Option("--sandbox", metavar="LEVEL", help=f"How bots are held: {', '.join(LEVELS)}."),
]
LimitsOption = Annotated[
    Path | None,
    typer.Option(
        "--limits", envvar="ARENA_LIMITS", metavar="FILE", help="The organiser's limits.toml: caps, sandbox."
    ),
]
