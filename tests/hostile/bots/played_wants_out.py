"""Asks the kernel for all that only a ruler of the machine may do, and looks for ways out of its sandbox."""

import ctypes
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.hostile.probe import Probe, play_probing

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NAMESPACES = {
    "mounts": 0x20000, "users": 0x10000000, "network": 0x40000000, "processes": 0x20000000,
    "names": 0x4000000, "ipc": 0x8000000, "cgroups": 0x2000000,
}  # fmt: skip
# Numbers of x86-64, with arguments that do little where they are allowed.
CALLS = {
    "reboot": (169, 0xFEE1DEAD, 672274793, 0, 0),
    "bpf": (321, 0, 0, 0),
    "add_key": (248, b"user", b"hostile", b"x", 1, -3),
    "keyctl": (250, 0, -3, 1),
    "request_key": (249, b"user", b"hostile", None, -3),
    "init_module": (175, 0, 0, b""),
    "finit_module": (313, -1, b"", 0),
    "delete_module": (176, b"none", 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "perf_event_open": (298, (ctypes.c_uint32 * 32)(1, 112), 0, -1, -1, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 4, (ctypes.c_uint32 * 32)()),
    "open_by_handle_at": (304, -100, (ctypes.c_uint32 * 8)(8, 1), 0),
    "fanotify_init": (300, 0, 0),
    "syslog": (103, 3, ctypes.create_string_buffer(16), 16),
    "iopl": (172, 3),
    "ioperm": (173, 0x80, 1, 1),
    "acct": (163, None),
    "swapon": (167, b"/tmp/none", 0),
    "settimeofday": (164, None, (ctypes.c_int * 2)()),
    "sethostname": (170, b"hostile", 7),
    "setdomainname": (171, b"hostile", 7),
    "quotactl": (179, 0x80000700, None, 0, None),
    "pivot_root": (155, b"/tmp", b"/tmp"),
    "chroot": (161, b"/tmp"),
    "vhangup": (153,),
    "setuid": (105, 0 if os.getuid() else 1234),
    "setgid": (106, 0 if os.getgid() else 1234),
    "setgroups": (116, 1, (ctypes.c_uint32 * 1)(0)),
    "setns": (308, -1, 0),
    "lookup_dcookie": (212, 0, None, 0),
    "move_pages": (279, 1, 0, 0, 0, 0, 0),
    "mount_setattr": (442, -100, b"/", 0, None, 0),
    "open_tree": (428, -100, b"/", 1),
    "fsopen": (430, b"tmpfs", 0),
    "memfd_secret": (447, 0),
    "modify_ldt": (154, 0, None, 0),
    "process_madvise": (440, -1, None, 0, 0, 0),
}
REACHED = 200
REFUSED = {1, 13, 38, 19, 95}  # EPERM, EACCES, ENOSYS, ENODEV, EOPNOTSUPP
ENGINES = (
    "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/notify",
)  # fmt: skip
DEVICES = ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/vda",
           "/dev/sda", "/dev/vsock", "/dev/loop-control", "/dev/kmsg", "/dev/mapper/control")  # fmt: skip
FILES = ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/kcore",
         "/sys/kernel/uevent_helper", "/proc/sys/vm/drop_caches", "/sys/fs/cgroup/release_agent",
         "/etc/passwd", "/etc/ld.so.preload", "/usr/bin/python3")  # fmt: skip


def call(name: str, *arguments: object) -> bool:
    """Whether a call was let through to where its arguments are looked at."""
    if getattr(LIBC, name)(*arguments) >= 0:
        return True
    number = ctypes.get_errno()
    if number in REFUSED:
        raise OSError(number, name)
    return True


def in_child(action: Callable[..., object], *arguments: object) -> bool:
    """Whether it worked, in a process that ends with it."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(REACHED if action(*arguments) else 0)
        except OSError as error:
            os._exit(error.errno or 0)
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (0, REACHED):
        raise OSError(code, "in a child")
    return code == REACHED


def made_device() -> bool:
    path = os.path.join(tempfile.gettempdir(), "device")
    os.mknod(path, stat.S_IFBLK | 0o666, os.makedev(8, 0))
    os.unlink(path)
    return True


def status(key: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next((line.split()[1] for line in lines if line.startswith(key + ":")), "")


def setuid_files() -> Iterator[str]:
    for folder in ("/usr/bin", "/usr/sbin", "/usr/lib", "/bin", "/opt"):
        for path in Path(folder).glob("*"):
            if path.is_file() and path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
                yield str(path)


def opened(path: str) -> None:
    os.close(os.open(path, os.O_RDWR))


def writable(path: str) -> bool:
    with open(path, "ab"):
        return True


def mounted() -> bool:
    return call("mount", b"none", tempfile.gettempdir().encode(), b"tmpfs", 0, None)


def remounted() -> bool:
    return call("mount", b"none", b"/", b"", 0x20 | 0x1000, None)


def attempts(probe: Probe) -> None:
    probe.attempt("mount", in_child, mounted)
    probe.attempt("remount", in_child, remounted)
    probe.attempt("unmount", in_child, call, "umount2", b"/proc", 2)
    for name, flag in NEW_NAMESPACES.items():
        probe.attempt(f"unshare {name}", in_child, call, "unshare", flag)
    for name, arguments in CALLS.items():
        probe.attempt(name, in_child, call, "syscall", *arguments)
    probe.attempt("device node", made_device)
    for path in ENGINES:
        probe.attempt(path, os.path.exists, path)
    for path in DEVICES:
        probe.attempt(path, opened, path)
    for path in FILES:
        probe.attempt(f"write {path}", writable, path)
    probe.found("new privileges", status("NoNewPrivs") != "1", status("NoNewPrivs"))
    probe.found("capabilities", int(status("CapEff"), 16) != 0, status("CapEff"))
    probe.found("capabilities to gain", int(status("CapPrm"), 16) != 0, status("CapPrm"))
    probe.found("no filter of calls", status("Seccomp") != "2", status("Seccomp"))
    probe.found("setuid files that work", status("NoNewPrivs") != "1" and any(setuid_files()))
    probe.found("group of root", 0 in os.getgroups() and os.getuid() != 0, str(os.getgroups()))


if __name__ == "__main__":
    play_probing(attempts)
