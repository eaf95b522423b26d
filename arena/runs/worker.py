"""The program that a worker process runs: the arena starts it as `python -m arena.runs.worker`."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys


def main() -> None:
    """Run the worker; the arena alone decides when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Loading makes many objects and no cycles: to search for them would take a tenth of its time.
    gc.disable()
    from arena.runs.work import work

    # Nothing here forms cycles worth a search after every few hundred decisions.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    gc.enable()
    try:
        asyncio.run(work())
    except OSError as error:  # the machine refuses what it needs to begin
        print(f"a worker cannot play: {error}", file=sys.stderr, flush=True)
        os._exit(os.EX_OSERR)
    # Bots are gone, and results are in the pipe: taking Python and gRPC apart would only take time.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
