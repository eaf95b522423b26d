"""A small disk of the experiment's own, which can be full, turn read-only, or lose its power.

An ext4 file system in a file, mounted in a mount namespace that ends with the script: so what happens to it
is what happens to a real disk, and happens to nobody else.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

_FILES_S = 20.0
"""How long files may stay open of processes that have ended."""
_SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN
_LOSE_WHAT_IS_NOT_SYNCED = 2


def missing() -> str:
    """Why there can be no such disk here; empty if there can."""
    if os.geteuid() != 0:
        return "only root can mount a disk"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return next(
        (f"{tool} is not installed" for tool in ("mkfs.ext4", "unshare") if not shutil.which(tool)), ""
    )


def enter_namespace(arguments: list[str]) -> None:
    """Go on as the same program in a mount namespace of its own: what is mounted there ends with it."""
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", *arguments])


class Disk:
    """A disk, mounted until it is closed.

    Args:
        folder: holds its image and the place where it is mounted.
        size_bytes: how much goes onto it.

    Attributes:
        path: where it is mounted.
    """

    def __init__(self, folder: Path, size_bytes: int) -> None:
        self._image = folder / "disk.img"
        self.path = folder / "disk"
        self.path.mkdir(parents=True)
        with self._image.open("wb") as image:
            image.truncate(size_bytes)
        _run("mkfs.ext4", "-q", "-m", "0", str(self._image))
        self._mount()

    def fill(self) -> None:
        """Leave no room on it."""
        with self._ballast.open("ab", buffering=0) as ballast:
            size = shutil.disk_usage(self.path).free
            while size:
                try:
                    os.posix_fallocate(ballast.fileno(), ballast.seek(0, os.SEEK_END), size)
                except OSError:
                    size //= 2

    def free(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)

    def turn_read_only(self) -> None:
        """Refuse writes from now on, also to open files, as a disk does that has an error."""
        _run("mount", "-o", "remount,abort", str(self.path))

    def cut_power(self) -> None:
        """Lose what is not synced, and refuse everything from now on."""
        end = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(end, _SHUTDOWN, struct.pack("I", _LOSE_WHAT_IS_NOT_SYNCED))
        finally:
            os.close(end)

    def mend(self) -> None:
        """Have it back as it is after a restart of the machine; nobody may have a file open on it."""
        self.close()
        self._mount()
        self.free()  # a power cut may have undone that

    def close(self) -> None:
        """Unmount it, once nobody has a file open on it.

        A process that ends gives up its memory, by which it is known to be there, before its files.
        """
        until = time.monotonic() + _FILES_S
        while True:
            try:
                _run("umount", str(self.path))
            except subprocess.CalledProcessError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.path))

    @property
    def _ballast(self) -> Path:
        return self.path / "ballast"


def private_tmp() -> None:
    """An empty /tmp of this namespace's own: whatever is in it at the end was left over."""
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
