"""What a bot may use of the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BotLimits:
    """What a bot may use of the machine.

    Attributes:
        memory_bytes: memory of all its processes together.
        cpus: cores that they keep busy together.
        pids: its processes and threads.
        tmp_bytes: what it may write to /tmp, which is all that it may write.
        start_us: longest time from its start to its hello, in microseconds; 0: the tournament's.
        log_bytes: how much of its output is kept, per worker.
    """

    memory_bytes: int = 512 << 20
    cpus: float = 1.0
    pids: int = 64
    tmp_bytes: int = 16 << 20
    start_us: int = 0
    log_bytes: int = 256 << 10
