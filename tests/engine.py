"""A Docker engine of the tests' own: its data, its socket and its end are nobody else's.

Usage: python -m tests.engine FOLDER    (runs until it is ended; DOCKER_HOST=unix://FOLDER/docker.sock)
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_PATIENCE_S = 60.0
# It plays with bots over unix sockets that we make, and needs no network.
_ARGUMENTS = ("--bridge=none", "--iptables=false", "--ip-masq=false", "--log-level=error")
_RUNSC = Path("/usr/bin/runsc")


def missing() -> str:
    """Why no engine can be started here; empty if one can."""
    if shutil.which("dockerd") is None:
        return "dockerd is not installed"
    return "" if os.geteuid() == 0 else "only root can start dockerd"


class Engine:
    """A dockerd that can be killed and started again.

    Args:
        folder: for all that it keeps; its path must be short, since a socket is in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = f"unix://{folder}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the running engine."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers.

        Raises:
            RuntimeError: it does not.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "daemon.json"
        runsc = {"path": str(_RUNSC), "runtimeArgs": ["--host-uds=open", "--network=none"]}
        config.write_text(json.dumps({"runtimes": {"runsc": runsc}} if _RUNSC.exists() else {}))
        (self.folder / "pid").unlink(missing_ok=True)  # one that was killed leaves it behind
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    "dockerd",
                    f"--config-file={config}",
                    f"--data-root={self.folder}/data",
                    f"--exec-root={self.folder}/exec",
                    f"--pidfile={self.folder}/pid",
                    f"--host={self.host}",
                    *_ARGUMENTS,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_it_answers()

    def kill(self) -> None:
        """SIGKILL, as a machine that fails would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it in order, and unmount what it had mounted if it was killed before."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.kill()
        mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for path in reversed([path for path in mounted if path.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "--lazy", path], check=False)

    def _wait_until_it_answers(self) -> None:
        assert self._process is not None
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and self._process.poll() is None:
            if _answers(self.folder / "docker.sock"):
                return
            time.sleep(0.05)
        raise RuntimeError(f"dockerd does not answer; see {self.folder}/log")


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        try:
            connection.connect(str(path))
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b"200" in connection.recv(64)
        except OSError:
            return False


def main() -> int:
    """Run an engine until SIGTERM or SIGINT."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if reason := missing():
        print(f"error: {reason}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    engine = Engine(Path(sys.argv[1]))
    try:
        engine.start()
        print(engine.host, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        return 0
    finally:
        engine.stop()
    return 1


if __name__ == "__main__":
    sys.exit(main())
