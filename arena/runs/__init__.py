"""What a person describes, turned into what is stored and played: definitions, sandboxes, workers.

The commands use it on this machine, and the server for those who ask it to.
"""

from __future__ import annotations

import sys

WORKER_COMMAND = (sys.executable, "-m", "arena.runs.worker")
"""The program that a worker process runs."""
