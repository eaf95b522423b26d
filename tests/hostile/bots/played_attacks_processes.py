"""Asks whether it could end, trace or read other processes. It sends none of them anything."""

import ctypes
import os
from pathlib import Path

from tests.hostile.probe import Probe, play_probing

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE = 0x4206
OWN = {os.getpid()}


def call(function: str, *arguments: object) -> bool:
    result: int = getattr(LIBC, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), function)
    return True


def visible() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if int(folder.name) not in OWN]


def strangers() -> list[str]:
    """Processes that are neither it nor the first of its own sandbox."""
    init = Path("/proc/1/comm").read_text().strip()
    first = {1} if init not in ("systemd", "init", "sh", "bash") else set()
    return [
        f"{one} {Path('/proc', str(one), 'comm').read_text().strip()}"
        for one in visible()
        if one not in first
    ]


def traced(one: int) -> bool:
    if call("ptrace", PTRACE_SEIZE, one, 0, 0):
        LIBC.ptrace(17, one, 0, 0)  # let go again
    return True


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def read_memory(one: int) -> bool:
    start = int(Path("/proc", str(one), "maps").read_text().split("-")[0], 16)
    buffer = ctypes.create_string_buffer(64)
    local, remote = Vector(ctypes.addressof(buffer), 64), Vector(start, 64)
    return call("process_vm_readv", one, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)


def attempts(probe: Probe) -> None:
    probe.attempt("see strangers", strangers)
    for one in {*visible(), os.getppid(), 2, 100} - {0, 1} - OWN:
        probe.attempt(f"signal {one}", os.kill, one, 0)
    for one in {*visible(), os.getppid()} - {0} - OWN:
        probe.attempt(f"trace {one}", traced, one)
        probe.attempt(f"read {one}", read_memory, one)
    probe.attempt("raise its priority", os.setpriority, os.PRIO_PROCESS, 0, -5)
    probe.attempt("real time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))


if __name__ == "__main__":
    play_probing(attempts)
