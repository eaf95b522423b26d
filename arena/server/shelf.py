"""Where the code of submitted bots lies, so that it can be started: a folder for each archive."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from pathlib import Path

from arena.bots.archive import unpack
from arena.errors import ArenaError
from arena.store.roster import Roster

_UNDONE = ".undone-"


class Shelf:
    """Folders with the code of bots, by its digest.

    Args:
        roster: where the archives are.
        data: folder of the server.
    """

    def __init__(self, roster: Roster, data: Path) -> None:
        self._roster = roster
        self._folder = data.resolve() / "bots"

    def clear(self) -> None:
        """Remove what a server that was killed left half done."""
        for path in self._folder.glob(f"{_UNDONE}*"):
            shutil.rmtree(path, ignore_errors=True)

    def folder(self, digest: str) -> Path:
        """Where the code of an archive lies; it is unpacked if it is not there.

        Args:
            digest: of the archive.

        Raises:
            NotFoundError: there is no such archive.
            ArenaError: it cannot be unpacked.
        """
        folder = self._folder / digest
        if not folder.is_dir():
            data = self._roster.data(digest)
            try:
                self._unpack(data, folder)
            except OSError as error:
                raise ArenaError(
                    f"a bot's code cannot be unpacked to {folder}", str(error), "make room there"
                ) from None
        return folder

    def _unpack(self, data: bytes, folder: Path) -> None:
        # A sandbox may run bots as somebody else: that one must be able to come this far.
        self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        undone = self._folder / f"{_UNDONE}{secrets.token_hex(8)}"
        try:
            unpack(io.BytesIO(data), undone)
            if not folder.is_dir():  # somebody else may have been quicker
                undone.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(undone, ignore_errors=True)
        _sync(self._folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
