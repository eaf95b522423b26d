"""Takes an image of a container while it arrives, and gives the engine what belongs to it and nothing else.

What `docker save` writes may carry names, and would so replace images that others run in; or layers that are
compressed, whose true size nobody knows. Of what comes only the configuration and the layers are passed on.
"""

from __future__ import annotations

import io
import json
import re
import stat
from dataclasses import dataclass
from hashlib import file_digest
from tempfile import TemporaryFile
from typing import IO, Any

from arena.bots.archive import Member, pack_members
from arena.bots.images import image_size, load, pin
from arena.errors import NotAllowedError
from arena.rights import Caller
from arena.server.unpacking import Head, UnpackingError
from arena.server.uploads import Upload, too_large

_FILES = 2000
_JSON = 4 << 20
_MANIFEST = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}(/[A-Za-z0-9][A-Za-z0-9._-]{0,80}){0,3}")
_SAVE = "send what docker save writes, of an engine of version 25 or newer"
_ARCHIVE_BLOCK = 512


@dataclass(frozen=True, slots=True)
class SavedImage:
    """An image as it is given to the engine.

    Attributes:
        file: it; to be closed.
        digest: SHA-256 of its configuration, in hexadecimal digits.
        size: of its layers, in bytes.
    """

    file: IO[bytes]
    digest: str
    size: int


class Images:
    """Images of bots on the engine."""

    def load(self, saved: SavedImage) -> tuple[str, int]:
        """Give the engine an image; its digest there, and its size in bytes.

        Raises:
            ArenaError: the engine does not do its part.
        """
        with saved.file:
            return load(saved.file, saved.digest), saved.size

    def named(self, who: Caller, name: str) -> tuple[str, int]:
        """An image that the engine has, likewise.

        Raises:
            NotAllowedError: whoever asks is no organiser: it may be anybody's.
            ArenaError: it is not there, or the engine does not do its part.
        """
        if not who.is_admin:
            raise NotAllowedError(
                "the image cannot be named",
                "an organiser alone may use what is on the server's engine",
                "send the image itself: arena bot submit docker:IMAGE",
            )
        image = pin(name)
        return image, image_size(image)


def image_upload(size_bytes: int) -> Upload[SavedImage]:
    """Takes an image.

    Args:
        size_bytes: how large it may be.
    """
    return Upload(_Image(size_bytes), size_bytes, size_bytes)


class _Image:
    """Keeps the files of an image.

    Args:
        most: how many bytes they may have together.

    Attributes:
        sent: bytes of it that have come.
    """

    def __init__(self, most: int) -> None:
        self.sent = 0
        self._left = most
        self._most = most
        self._content: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed with this
        self._files: dict[str, Member] = {}
        self._current: Member | None = None

    def begin(self, head: Head) -> None:
        """An entry begins."""
        self._current = None
        if stat.S_ISDIR(head.mode):
            return
        if not stat.S_ISREG(head.mode):
            raise UnpackingError("it is neither a file nor a folder", _SAVE, head.name)
        if not _NAME.fullmatch(head.name) or head.name in self._files or len(self._files) == _FILES:
            raise UnpackingError("an image has no such file", _SAVE, head.name)
        if head.size is None or head.size > self._left:
            raise too_large(self._most)
        self._current = self._files[head.name] = Member(head.name, self._content.tell(), 0, False)

    def write(self, data: bytes) -> None:
        """A piece of its content."""
        self._left -= len(data)
        if self._left < 0:
            raise too_large(self._most)
        if self._current is not None:
            self._content.write(data)
            self._current.size += len(data)

    def describe(self, name: str, mode: int) -> None:
        """Nothing but a zip does so."""
        raise UnpackingError("an image is no zip", _SAVE)

    def packed(self) -> SavedImage:
        """The image, with nothing that it does not consist of."""
        manifest = self._manifest()
        config = self._file(manifest.get("Config"))
        layers = [self._file(name) for name in manifest["Layers"]]
        for layer in layers:
            self._check_layer(layer)
        self._check_config(config)
        told = [{"Config": config.name, "RepoTags": [], "Layers": [layer.name for layer in layers]}]
        saved: IO[bytes] = TemporaryFile()  # noqa: SIM115 - given away
        members = {member.name: member for member in (config, *layers)}
        pack_members([self._added(json.dumps(told).encode()), *members.values()], self._content, saved)
        saved.seek(0)
        self._content.seek(config.start)
        digest = file_digest(io.BytesIO(self._content.read(config.size)), "sha256").hexdigest()
        self.close()
        return SavedImage(saved, digest, sum(layer.size for layer in layers))

    def close(self) -> None:
        """Forget all of it."""
        self._content.close()
        self._files.clear()

    def _manifest(self) -> dict[str, Any]:
        found = self._json(self._file(_MANIFEST))
        if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
            raise UnpackingError("it holds another number of images than one", _SAVE)
        layers = found[0].get("Layers")
        if not isinstance(layers, list) or not 0 < len(layers) <= _FILES:
            raise UnpackingError("it has no layers", _SAVE)
        return found[0]

    def _check_layer(self, layer: Member) -> None:
        """Whether a layer is a plain archive: what it unpacks to is then no more than what came."""
        self._content.seek(layer.start)
        first = self._content.read(_ARCHIVE_BLOCK)
        is_empty = not first.strip(b"\0") and layer.size <= 20 * _ARCHIVE_BLOCK
        if first[257:262] != b"ustar" and not is_empty:
            raise UnpackingError("one of its layers is compressed, or no archive", _SAVE, layer.name)

    def _check_config(self, config: Member) -> None:
        found = self._json(config)
        inner = found.get("config") if isinstance(found, dict) else None
        if isinstance(inner, dict) and inner.get("Volumes"):
            raise UnpackingError(
                "it declares volumes, and what is written to them has no limit", "make it without VOLUME"
            )

    def _json(self, member: Member) -> Any:
        if member.size > _JSON:
            raise UnpackingError(f"it is larger than {_JSON} bytes", _SAVE, member.name)
        self._content.seek(member.start)
        try:
            return json.loads(self._content.read(member.size))
        except (ValueError, RecursionError):
            raise UnpackingError("it is no JSON", _SAVE, member.name) from None

    def _file(self, name: object) -> Member:
        if not isinstance(name, str) or name not in self._files:
            raise UnpackingError(f"a file of it is missing: {str(name)[:80]!a}", _SAVE)
        return self._files[name]

    def _added(self, content: bytes) -> Member:
        """The manifest as it is passed on."""
        start = self._content.seek(0, io.SEEK_END)
        self._content.write(content)
        return Member(_MANIFEST, start, len(content), False)
