"""Which system calls a bot may make: one table, as a program for bubblewrap and as JSON for engines.

What is not in the table answers ENOSYS, as on a kernel that does not have it: programs and runtimes know
how to do without, where a refusal for lack of permission would end some of them. So whatever a kernel
learns later is shut from the beginning.
"""

from __future__ import annotations

import errno
import fcntl
import json
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_ALLOWED = {
    "files": """
        open openat openat2 creat close close_range read write readv writev pread64 pwrite64 preadv pwritev
        preadv2 pwritev2 lseek _llseek stat lstat fstat newfstatat fstatat64 statx statfs fstatfs access
        faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir
        unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod fchmod fchmodat
        fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat truncate ftruncate fallocate
        fsync fdatasync sync_file_range dup dup2 dup3 pipe pipe2 splice sendfile copy_file_range
        umask ioctl fadvise64 readahead getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
        memfd_create
    """,
    "memory": """
        brk mmap munmap mremap mprotect madvise msync mincore mlock mlock2 munlock membarrier get_mempolicy
        pkey_alloc pkey_free pkey_mprotect
    """,
    "processes and threads": """
        fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill pidfd_open
        pidfd_send_signal getpid getppid gettid getpgid getpgrp setpgid getsid setsid set_tid_address
        set_robust_list get_robust_list rseq arch_prctl prctl restart_syscall sched_yield
        sched_getaffinity sched_getscheduler sched_setscheduler sched_getparam sched_get_priority_max
        sched_get_priority_min sched_rr_get_interval getpriority setpriority getcpu
    """,
    # Without capabilities these give nothing that a process has not; who starts it gives up root with them.
    "users": """
        getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid
        setresuid setresgid setgroups capget capset
    """,
    "limits and what there is": """
        getrlimit setrlimit prlimit64 getrusage sysinfo uname times
    """,
    "signals": """
        rt_sigaction rt_sigprocmask rt_sigpending rt_sigqueueinfo rt_tgsigqueueinfo rt_sigreturn
        rt_sigsuspend rt_sigtimedwait sigaltstack signalfd signalfd4 pause
    """,
    "time": """
        time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
        timer_create timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create
        timerfd_settime timerfd_gettime
    """,
    "waiting": """
        futex futex_waitv futex_wait futex_wake futex_requeue poll ppoll select pselect6 epoll_create
        epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
    """,
    "sockets, once there is one": """
        bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt sendto
        recvfrom sendmsg recvmsg sendmmsg recvmmsg
    """,
    "chance": "getrandom",
}

_F_SETPIPE_SZ, _F_GETPIPE_SZ, _F_ADD_SEALS, _F_GET_SEALS = range(1031, 1035)

# CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET: in a namespace of its own a process is root.
_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

_EQ, _NE, _MASKED = "SCMP_CMP_EQ", "SCMP_CMP_NE", "SCMP_CMP_MASKED_EQ"


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of some system calls.

    Attributes:
        names: the system calls.
        error: what they answer; 0: they are allowed.
        index: the argument that it depends on.
        compare: how that is compared with the value; empty: the rule holds for any arguments.
        value: what it is compared with.
        mask: bits of it that are compared.
    """

    names: tuple[str, ...]
    error: int = 0
    index: int = 0
    compare: str = ""
    value: int = 0
    mask: int = 0


# Of fcntl all but locks, leases and notices: bots that see the same file could signal by them. For the same
# reason there is no flock and no inotify.
_FCNTL = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL),
    *(fcntl.F_SETOWN, fcntl.F_GETOWN, _F_SETPIPE_SZ, _F_GETPIPE_SZ, _F_ADD_SEALS, _F_GET_SEALS),
)

DEFAULT_ERROR = errno.ENOSYS

RULES = (
    *(Rule(tuple(names.split())) for names in _ALLOWED.values()),
    *(Rule(("fcntl",), 0, 1, _EQ, command) for command in _FCNTL),
    # Whole registers are compared where the kernel looks at half of one, so odd upper halves are refused.
    Rule(("socket", "socketpair"), 0, 0, _EQ, socket.AF_UNIX),
    Rule(("socket", "socketpair"), errno.EAFNOSUPPORT, 0, _NE, socket.AF_UNIX),
    # The arguments of clone3 are out of a filter's sight: it stays shut, and libraries fall back on this.
    Rule(("clone",), 0, 0, _MASKED, 0, _NAMESPACES),
    # The usual one, and the question which one it is; others switch off what protects a process.
    Rule(("personality",), 0, 0, _EQ, 0),
    Rule(("personality",), 0, 0, _EQ, 0xFFFFFFFF),
)

# Engines before 23 do not read the default's error: without this one no bot of theirs could start a thread.
_FALL_BACK = Rule(("clone3",), errno.ENOSYS)


def docker_profile() -> str:
    """The table as a seccomp profile in JSON, as container engines read it."""
    profile = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": DEFAULT_ERROR,
        "syscalls": [_entry(rule) for rule in (*RULES, _FALL_BACK)],
    }
    return json.dumps(profile)


def _entry(rule: Rule) -> dict[str, Any]:
    entry: dict[str, Any] = {"names": rule.names, "action": "SCMP_ACT_ALLOW"}
    if rule.error:
        entry |= {"action": "SCMP_ACT_ERRNO", "errnoRet": rule.error}
    if rule.compare == _MASKED:
        entry["args"] = [_argument(rule, rule.mask) | {"valueTwo": rule.value}]
    elif rule.compare:
        entry["args"] = [_argument(rule, rule.value)]
    return entry


def _argument(rule: Rule, value: int) -> dict[str, Any]:
    return {"index": rule.index, "value": value, "op": rule.compare}


def program() -> bytes:
    """The table as a program for the kernel's filter, for the machine that we run on.

    Raises:
        ImportError, OSError, RuntimeError: there is no libseccomp.
    """
    import pyseccomp

    filter_ = pyseccomp.SyscallFilter(pyseccomp.ERRNO(DEFAULT_ERROR))
    for rule in RULES:
        action = pyseccomp.ERRNO(rule.error) if rule.error else pyseccomp.ALLOW
        for name in _known(pyseccomp, rule.names):
            filter_.add_rule(action, name, *_arguments(pyseccomp, rule))
    with tempfile.TemporaryFile() as file:
        filter_.export_bpf(file)
        file.seek(0)
        return file.read()


def _known(library: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Those that this libseccomp knows: an old one lacks new system calls, which then stay shut."""
    unknown = -1
    return (name for name in names if library.resolve_syscall(library.system_arch(), name) != unknown)


def _arguments(library: Any, rule: Rule) -> list[Any]:
    if not rule.compare:
        return []
    if rule.compare == _MASKED:
        return [library.Arg(rule.index, library.MASKED_EQ, rule.mask, rule.value)]
    return [library.Arg(rule.index, library.EQ if rule.compare == _EQ else library.NE, rule.value)]
