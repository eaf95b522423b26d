"""The filter of system calls, from the inside: a process under it tries what it must not do."""

from __future__ import annotations

import errno
import json
import platform
import socket
import subprocess
import sys
import tempfile

import pytest

from arena.bots import seccomp
from tests.bots.parts import needs_bwrap

FAMILIES = {"INET": 2, "INET6": 10, "NETLINK": 16, "PACKET": 17, "BLUETOOTH": 31, "ALG": 38, "VSOCK": 40}
# Of x86-64; each with arguments that would do something, or fail otherwise than by not being allowed.
FORBIDDEN = {
    "ptrace": (101, 0, 0, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "umount2": (166, 0, 0),
    "pivot_root": (155, 0, 0),
    "chroot": (161, 0),
    "unshare user": (272, 0x10000000),
    "setns": (308, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "io_uring_setup": (425, 1, 0),
    "io_uring_enter": (426, 0, 0, 0, 0, 0),
    "io_uring_register": (427, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 0),
    "add_key": (248, 0, 0, 0, 0, 0),
    "request_key": (249, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0, 0, 0),
    "init_module": (175, 0, 0, 0),
    "finit_module": (313, 0, 0, 0),
    "delete_module": (176, 0, 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "kexec_file_load": (320, 0, 0, 0, 0, 0),
    "reboot": (169, 0, 0, 0, 0),
    "clock_settime": (227, 0, 0),
    "sethostname": (170, 0, 0),
    "swapon": (167, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0),
    "mknod": (133, 0, 0, 0),
    "quotactl": (179, 0, 0, 0, 0),
    "syslog": (103, 0, 0, 0),
    "seccomp": (317, 0, 0, 0),
    "modify_ldt": (154, 0, 0, 0),
    "sched_setaffinity": (203, 0, 0, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "mq_open": (240, 0, 0, 0, 0),
    "vmsplice": (278, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "clone into a user namespace": (56, 0x10000000, 0, 0, 0, 0),
    "clone into a network namespace": (56, 0x40000000, 0, 0, 0, 0),
    "clone with an odd upper half": (56, 0xFFFFFFFF_10000000, 0, 0, 0, 0),
    "personality without layout randomisation": (135, 0x0040000),
    "a system call of tomorrow": (9999,),
    "socket of a family with an odd upper half": (41, 0x1_00000001, 1, 0),
    **{f"socket of {name}": (41, family, socket.SOCK_DGRAM, 0) for name, family in FAMILIES.items()},
    **{f"socketpair of {name}": (53, family, 1, 0, 0) for name, family in FAMILIES.items()},
}
REFUSALS = {errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT}

# Makes the calls and tells the error of each.
PROBE = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
errors = {}
for name, (number, *arguments) in json.load(sys.stdin).items():
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(a & 2**64 - 1) for a in arguments))
    errors[name] = ctypes.get_errno() if done == -1 else 0
print(json.dumps(errors))
"""

ORDINARY = """
import os, platform, socket, subprocess, sys, threading, time
here, there = socket.socketpair(socket.AF_UNIX)
here.sendall(b"x")
assert there.recv(1) == b"x"
server = socket.socket(socket.AF_UNIX)
server.bind("\\0" + str(os.getpid()))
worker = threading.Thread(target=time.sleep, args=(0.01,))
worker.start(), worker.join()
assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0
import asyncio, grpc
asyncio.run(asyncio.sleep(0))
print("fine")
"""


def filtered(code: str, given: str = "") -> str:
    """What Python code prints under the filter."""
    with tempfile.TemporaryFile() as file:
        file.write(seccomp.program())
        file.flush()
        file.seek(0)
        line = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--seccomp", str(file.fileno())]
        done = subprocess.run(
            [*line, sys.executable, "-c", code],
            input=given,
            pass_fds=[file.fileno()],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestFilter:
    pytestmark = needs_bwrap

    @pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86-64")
    def test_what_is_refused(self) -> None:
        errors = json.loads(filtered(PROBE, json.dumps(FORBIDDEN)))
        assert errors.keys() == FORBIDDEN.keys()
        assert {name: code for name, code in errors.items() if code not in REFUSALS} == {}
        # Libraries fall back only on this answer, and programs without a network know this one.
        assert errors["clone3"] == errno.ENOSYS
        assert errors["socket of INET"] == errno.EAFNOSUPPORT

    def test_what_an_ordinary_bot_does(self) -> None:
        assert filtered(ORDINARY) == "fine\n"


def test_engines_read_the_same_table() -> None:
    profile = json.loads(seccomp.docker_profile())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = [entry for entry in profile["syscalls"] if entry["action"] == "SCMP_ACT_ALLOW"]
    always = {name for entry in allowed if "args" not in entry for name in entry["names"]}
    assert {"read", "execve", "futex"} <= always
    # One rule without arguments would undo those with them.
    assert always.isdisjoint({"socket", "socketpair", "clone", "personality", "ptrace", "mount", "bpf"})
    (sockets,) = [entry for entry in allowed if "socket" in entry["names"]]
    assert sockets["args"] == [{"index": 0, "value": socket.AF_UNIX, "op": "SCMP_CMP_EQ"}]
