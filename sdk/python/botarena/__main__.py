"""`python -m botarena MODULE:NAME` runs a bot class or function that a module defines."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from botarena.runner import run


def main(arguments: list[str]) -> int:
    """Import the module and run what it names.

    Returns:
        Exit code 2 for bad usage, else 0.
    """
    module, colon, name = arguments[0].partition(":") if len(arguments) == 1 else ("", "", "")
    if not colon:
        print("usage: python -m botarena MODULE:NAME", file=sys.stderr)
        return 2
    sys.path.insert(0, str(Path.cwd()))
    run(getattr(importlib.import_module(module), name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
