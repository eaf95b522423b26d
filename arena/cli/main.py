"""The program `arena`: starts a worker if one will be needed, then loads and runs the command."""

from __future__ import annotations

import gc
import os
import signal
import sys

from arena.cli import headstart

INTERRUPTED = 130
"""Exit code of a command that was interrupted."""


def main() -> None:
    """Entry of the program."""
    # Whoever ends us by SIGTERM wants the same as by Ctrl-C, also while nothing plays yet or any more.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave(code)


def _run(arguments: list[str]) -> int:
    # Loading makes many objects and no cycles; a search for them after every few hundred takes a tenth of it.
    gc.set_threshold(200_000, 50, 50)
    headstart.begin(arguments)
    try:
        from arena.cli.commands import run  # takes as long to load as a worker: it has to be started by now

        return run(arguments)
    finally:
        headstart.drop()


def _leave(code: int) -> None:
    """End at once: the database is closed, workers are gone, and taking Python apart would take a while."""
    try:
        sys.stdout.flush()  # all that could still be lost
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # whoever read it is gone; Python knows how to end then
    os._exit(code)


if __name__ == "__main__":
    main()
