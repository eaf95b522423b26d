"""Runs one bot and answers for its whole process tree. Started by the arena as a program of its own.

It reads a marshalled dictionary from standard input, after its length in 4 bytes: not from its arguments,
which everybody on the machine can read, and a token is in it. The keys are command, folder, environment, log
and log_bytes, and for a bot in a sandbox also

    data     bytes that are given to the command to read, by number of the open file
    status   number of the open file in which the command tells about itself
    rlimits  the most that is allowed of a resource, by its number
    groups   folders of control groups that it is put into, and which are removed after it
    killed   file that counts what was killed in these groups for want of memory
    peak     file with the most memory that they had in use

It ends the bot when its standard input closes, which happens however the arena ends; as a
subreaper it inherits whatever the bot forks away, so nothing of it survives. The bot's output goes
to a log of bounded size. When the bot has ended, a marshalled dictionary on standard output tells how.

It imports no more than it needs, since one of these starts before every bot: no JSON, which loads regular
expressions.
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # typing takes long to load
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
_TAIL = 4096
_CHUNK = 1 << 16


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


class Log:
    """A log of bounded size: the first bytes, a mark, and at the end the last ones.

    Each line is stored with its time and with `out` or `err`.
    """

    def __init__(self, path: str, limit: int) -> None:
        self._file = _open_log(path)
        # The lives of a bot share their log, and its bound.
        self._left = limit - os.fstat(self._file).st_size
        self._most = 2 * limit
        self._lost = b""
        self._partial = {"out": b"", "err": b""}
        self.tail = b""

    def add(self, stream: str, data: bytes) -> None:
        """Take what the bot wrote."""
        if stream == "err":
            self.tail = (self.tail + data)[-_TAIL:]
        if self._left <= 0:
            self._lost = (self._lost + self._partial[stream] + data)[-_TAIL:]
            self._partial[stream] = b""
            return
        text = self._partial[stream] + data
        *lines, rest = text.split(b"\n")
        if len(rest) > _TAIL:  # a line without end is cut into several
            lines, rest = [*lines, rest], b""
        self._partial[stream] = rest
        for line in lines:
            self._line(stream, line)

    def close(self) -> None:
        """Write what is left."""
        for stream, rest in self._partial.items():
            if rest:
                self._line(stream, rest)
        if self._lost and os.fstat(self._file).st_size < self._most:
            with contextlib.suppress(OSError):
                os.write(self._file, b"... the log is full; the last bytes were:\n" + self._lost + b"\n")
        os.close(self._file)

    def _line(self, stream: str, line: bytes) -> None:
        if self._left <= 0:
            self._lost = (self._lost + line + b"\n")[-_TAIL:]
            return
        stamp = time.time()
        whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(stamp))
        entry = f"{whole}.{int(stamp % 1 * 1000):03d}Z {stream} ".encode() + line + b"\n"
        room, self._left = self._left, self._left - len(entry)
        with contextlib.suppress(OSError):  # a full disk costs the log, not the bot
            os.write(self._file, entry[:room])


def _open_log(path: str) -> int:
    """The log to append to; where it cannot be written, nothing: that costs the log, not the bot."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        sys.stderr.write(f"no log is kept of this bot: {path}: {error.strerror}\n")
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _start(config: dict[str, Any]) -> tuple[int, int, int, int, str]:
    """Start the bot: process id, its output, error and status pipes, and why it could not be started."""
    command: list[str] = config["command"]
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    status_read, status_write = os.pipe()
    fail_read, fail_write = os.pipe()  # closed by a successful exec, as all pipes of os.pipe are
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it was killed before that held
                return os._exit(127)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out_write, 1)
            os.dup2(err_write, 2)
            if "status" in config:
                os.dup2(status_write, config["status"])
            _confine(config)
            os.chdir(config["folder"])
            os.execvpe(command[0], command, config["environment"])
        except OSError as error:
            os.write(fail_write, f"{command[0]}: {error.strerror}".encode())
        finally:
            os._exit(127)
    for end in (out_write, err_write, status_write, fail_write):
        os.close(end)
    failure = b""
    while chunk := os.read(fail_read, _CHUNK):
        failure += chunk
    return pid, out_read, err_read, status_read, failure.decode(errors="replace")


def _confine(config: dict[str, Any]) -> None:
    """Do to ourselves what a sandbox cannot do from within, and hand it what it wants to read."""
    for number, most in config.get("rlimits", {}).items():
        hard = resource.getrlimit(number)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))
    for folder in config.get("groups", ()):
        _write(f"{folder}/cgroup.procs", b"0")  # whoever writes it
    for number, data in config.get("data", {}).items():
        read, write = os.pipe()
        os.write(write, data)  # it fits into a pipe
        os.dup2(read, number)


def _write(path: str, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, data)
    finally:
        os.close(file)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123 - no pathlib here
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _kill_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_tree(pid: int) -> None:
    """Kill all that is left. Orphans become our children one generation at a time."""
    _kill_group(pid, signal.SIGKILL)
    while True:
        for child in _children():
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


class Supervision:
    """The life of one bot."""

    def __init__(self, pid: int, out: int, err: int, log: Log) -> None:
        self._pid = pid
        self._log = log
        self._pipes = {out: "out", err: "err"}
        self._status: int | None = None
        self._poll = select.poll()
        for end in (0, *self._pipes):
            os.set_blocking(end, False)
            self._poll.register(end, select.POLLIN | select.POLLHUP)
        self._kill_at = 0.0

    def run(self) -> int:
        """Wait for the bot's end; its wait status."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._poll.register(wake_read, select.POLLIN)
        self._reap()  # it may have ended before the handler was there
        while self._status is None:
            for end, _ in self._poll.poll(self._patience()):
                self._ready(end, wake_read)
            if self._kill_at and time.monotonic() >= self._kill_at:
                _kill_group(self._pid, signal.SIGKILL)
            self._reap()
        _end_tree(self._pid)
        for end in list(self._pipes):
            while self._read(end):
                pass
        return self._status

    def _patience(self) -> int | None:
        if not self._kill_at:
            return None
        return max(1, int((self._kill_at - time.monotonic()) * 1000))

    def _ready(self, end: int, wake: int) -> None:
        if end == 0:
            # Nothing is ever written to us: this is the arena's end, or its word to stop.
            self._poll.unregister(0)
            _kill_group(self._pid, signal.SIGTERM)
            self._kill_at = time.monotonic() + GRACE
        elif end == wake:
            os.read(wake, _CHUNK)
        else:
            self._read(end)

    def _read(self, end: int) -> bool:
        if end not in self._pipes:
            return False
        try:
            data = os.read(end, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._log.add(self._pipes[end], data)
            return True
        self._poll.unregister(end)
        del self._pipes[end]
        return False

    def _reap(self) -> None:
        """Collect whoever has ended; orphans of the bot too, since we inherit them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid:
                self._status = status


def _used(config: dict[str, Any]) -> tuple[int, int]:
    """The most memory that the bot had in use, and how many of its processes were killed for want of it."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10  # of its largest process
    killed = 0
    with contextlib.suppress(OSError, KeyError):
        killed = sum(
            int(count) for name, count in map(bytes.split, _lines(config["killed"])) if name == b"oom_kill"
        )
        peak = int(_lines(config["peak"])[0])
    return peak, killed


def _lines(path: str) -> list[bytes]:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _CHUNK).splitlines()
    finally:
        os.close(file)


def _remove_groups(folders: list[str]) -> None:
    """Remove the control groups, which have nothing in them any more."""
    end = time.monotonic() + GRACE
    for folder in folders:
        while time.monotonic() < end:  # the last process may have just been reaped
            try:
                os.rmdir(folder)  # noqa: PTH106 - no pathlib here
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.005)


def main(config: dict[str, Any]) -> int:
    """Run the bot that the configuration names."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    log = Log(config["log"], config["log_bytes"])
    pid, out, err, told, failure = _start(config)
    status = Supervision(pid, out, err, log).run()
    if failure:
        log.add("err", f"cannot be started: {failure}\n".encode())
    log.close()
    code = os.waitstatus_to_exitcode(status)
    peak, killed = _used(config)
    _remove_groups(config.get("groups", []))
    report = {
        "failure": failure,
        "code": code,
        "tail": log.tail.decode(errors="backslashreplace"),
        "memory_peak": peak,
        "memory_killed": killed,
        "status": os.read(told, _CHUNK).decode(errors="replace"),
    }
    try:
        os.write(1, marshal.dumps(report))
    except BrokenPipeError:
        return 1  # whoever wanted to know is gone
    return 0


def _configuration() -> dict[str, Any]:
    """What is written on standard input, and not a byte more."""
    configuration: dict[str, Any] = marshal.loads(_read(int.from_bytes(_read(4), "big")))
    return configuration


def _read(length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = os.read(0, length - len(data))
        if not more:
            raise SystemExit(1)
        data += more
    return data


if __name__ == "__main__":
    sys.exit(main(_configuration()))
