"""Takes a bot's archive while it arrives, and keeps of it what a bot consists of, or nothing.

What is kept is written anew: files in the order of their names, with no owner, time or right but that to be
executed. So the same code is the same archive, however it was packed.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import unicodedata
from dataclasses import dataclass, field
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO, Generic, Protocol, TypeVar, cast

from arena.bots.archive import ArchiveError, Member, pack_members
from arena.bots.reference import MANIFEST, is_code
from arena.errors import UsageError
from arena.server.unpacking import Arriving, Head, Taker, UnpackingError, read_archive
from arena.text import printable
from arena.units import size_text

_DRIVE = re.compile(r"[A-Za-z]:")
_RATIO_FROM = 1 << 20
_SHOWN = 120
_PER_ENTRY = 4 << 10


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What an archive may be.

    Attributes:
        size_bytes: as it is sent.
        unpacked_bytes: all its files together.
        files: files and folders.
        image_bytes: of an image, which is not compressed.
        ratio: unpacked bytes for each byte that was sent; beyond a MiB no more than this.
    """

    size_bytes: int = 32 << 20
    unpacked_bytes: int = 128 << 20
    files: int = 2000
    image_bytes: int = 1 << 30
    ratio: int = 100


class UploadError(UsageError):
    """An archive that is refused; nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What is kept of an archive.

    Attributes:
        data: the archive, written anew.
        digest: its SHA-256 in hexadecimal digits.
        files: how many there are.
    """

    data: bytes = field(repr=False)
    digest: str
    files: int


T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Keeper(Taker, Protocol[T_co]):
    """Takes the entries of an archive and makes something of them.

    Attributes:
        sent: bytes of the archive that have come.
    """

    sent: int

    def packed(self) -> T_co:
        """What is kept of it, now that all of it has come.

        Raises:
            UnpackingError: it cannot be.
        """
        ...

    def close(self) -> None:
        """Forget all of it."""
        ...


class Upload(Generic[T]):
    """An archive that arrives.

    Args:
        kept: keeps what is kept of it.
        size_bytes: how large it may be, as it is sent.
        most: how many bytes it may unpack to, with all that is no content of a file.
    """

    def __init__(self, kept: Keeper[T], size_bytes: int, most: int) -> None:
        self._kept = kept
        self._size_bytes = size_bytes
        self._source = Arriving()
        self._reading = read_archive(self._source, kept, most)
        self._is_read = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of it.

        Raises:
            UploadError: it is refused.
        """
        self._kept.sent += len(data)
        if self._kept.sent > self._size_bytes:
            raise self._refused(too_large(self._size_bytes))
        self._source.put(data)
        self._go_on()

    def finish(self) -> T:
        """What is kept of it, now that all of it has come.

        Raises:
            UploadError: it is refused.
        """
        self._source.close()
        self._go_on()
        try:
            return self._kept.packed()
        except UnpackingError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Leave nothing behind."""
        self._reading.close()
        self._kept.close()

    def _go_on(self) -> None:
        if self._is_read:
            return
        try:
            next(self._reading)
        except StopIteration:
            self._is_read = True
        except UnpackingError as error:
            raise self._refused(error) from None

    def _refused(self, error: UnpackingError) -> UploadError:
        self.close()
        name = printable(error.entry.encode(errors="backslashreplace").decode())
        entry = f" ({name[:_SHOWN]!r})" if name else ""
        return UploadError(f"the archive is refused{entry}", error.why, error.do)


def code_upload(limits: UploadLimits) -> Upload[Packed]:
    """Takes an archive of a bot's code.

    Args:
        limits: what it may be.
    """
    most = limits.unpacked_bytes + (limits.files + 1) * _PER_ENTRY
    return Upload(_Code(limits), limits.size_bytes, most)


def too_large(most: int) -> UnpackingError:
    """Something is larger than it may be."""
    return UnpackingError(
        f"it is larger than {size_text(most)}", "leave out what the bot does not need, or ask the organiser"
    )


class _Code:
    """Keeps files of an archive, in a file that nobody can find and that is gone with this.

    Args:
        limits: what the archive may be.

    Attributes:
        sent: bytes of the archive that have come.
    """

    def __init__(self, limits: UploadLimits) -> None:
        self.sent = 0
        self._limits = limits
        self._content: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed with this
        self._files: dict[str, Member] = {}
        self._named: dict[str, str] = {}  # the name that was kept, by what makes names equal
        self._folders: set[str] = set()
        self._unpacked = self._entries = 0
        self._current = ""

    def begin(self, head: Head) -> None:
        """An entry begins."""
        name = _checked(head.name)
        _check_kind(head.name, head.mode)
        self._current = head.name
        self._entries += 1
        if self._entries > self._limits.files + 1:  # its own folder may be one of them
            raise self._too_many()
        if head.size is not None and self._unpacked + head.size > self._limits.unpacked_bytes:
            raise self._too_much()
        if name:
            self._place(name, stat.S_ISDIR(head.mode))
            if not stat.S_ISDIR(head.mode):
                self._files[name] = Member(name, self._content.tell(), 0, bool(head.mode & 0o100))

    def write(self, data: bytes) -> None:
        """A piece of its content."""
        self._unpacked += len(data)
        if self._unpacked > self._limits.unpacked_bytes:
            raise self._too_much()
        if self._unpacked > max(_RATIO_FROM, self._limits.ratio * self.sent):
            raise UnpackingError(
                f"it unpacks to more than {self._limits.ratio} times its size",
                "send what the bot needs and no more",
                self._current,
            )
        self._content.write(data)

    def describe(self, name: str, mode: int) -> None:
        """An entry that was there is of this kind."""
        if not mode:
            return
        is_folder = name.endswith("/")
        _check_kind(name, mode if stat.S_IFMT(mode) else mode | stat.S_IFREG)
        if stat.S_ISDIR(mode) != is_folder and stat.S_IFMT(mode):
            raise UnpackingError("it is a folder and a file at once", "make an ordinary zip", name)
        if not is_folder and mode & 0o100:
            self._files[_checked(name)].executable = True

    def packed(self) -> Packed:
        """All of it as an archive."""
        self._measure()
        kept = sorted((file for file in self._files.values() if is_code(file.name)), key=lambda f: f.name)
        if not kept:
            raise UnpackingError("there is no file in it", f"send a folder with a {MANIFEST}")
        _strip_folder(kept)
        if not any(file.name == MANIFEST for file in kept):
            raise UnpackingError(f"it has no {MANIFEST}", "write one with at least name and command")
        packed = io.BytesIO()
        try:
            with gzip.GzipFile(
                fileobj=packed, mode="wb", compresslevel=6, mtime=0, filename=""
            ) as compressed:
                pack_members(kept, self._content, cast("IO[bytes]", compressed))
        except ArchiveError as error:
            raise UnpackingError(str(error), "give it a shorter name") from None
        self.close()
        data = packed.getvalue()
        return Packed(data, sha256(data).hexdigest(), len(kept))

    def close(self) -> None:
        """Forget all of it."""
        self._content.close()
        self._files.clear()

    def _measure(self) -> None:
        """How large each file was: up to where the next begins."""
        end = self._content.tell()
        for file in reversed(self._files.values()):
            file.size, end = end - file.start, file.start

    def _place(self, name: str, is_folder: bool) -> None:
        """Whether an entry may be where it says, after those that came before."""
        parts = name.split("/")
        for depth in range(1, len(parts)):
            self._place_one("/".join(parts[:depth]), True, name)
        if name in self._files:
            raise UnpackingError("it is there twice", "send each file once", name)
        self._place_one(name, is_folder, name)

    def _place_one(self, path: str, is_folder: bool, entry: str) -> None:
        key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
        if self._named.setdefault(key, path) != path:
            raise UnpackingError(
                f"{self._named[key]!a} and {path!a} are one name to some systems", "rename one", entry
            )
        if len(self._named) > self._limits.files:
            raise self._too_many()
        if path in (self._files if is_folder else self._folders):
            raise UnpackingError("it is a folder and a file at once", "rename one", entry)
        if is_folder:
            self._folders.add(path)

    def _too_many(self) -> UnpackingError:
        return UnpackingError(
            f"it has more than {self._limits.files} files and folders", "leave out what the bot does not need"
        )

    def _too_much(self) -> UnpackingError:
        return UnpackingError(
            f"it unpacks to more than {size_text(self._limits.unpacked_bytes)}",
            "leave out what the bot does not need, or ask the organiser",
            self._current,
        )


def _checked(name: str) -> str:
    """The name of an entry as it is kept; empty: the archive's own folder."""
    kept = name.removesuffix("/")
    while kept.startswith("./"):
        kept = kept[2:]
    if kept == ".":
        return ""
    if why := _fault(kept):
        raise UnpackingError(why, "pack the bot's own folder, with ordinary names", name)
    return kept


def _fault(name: str) -> str:
    """What is wrong with a name; empty if nothing is."""
    if name.startswith("/") or _DRIVE.match(name):
        return "it is an absolute path"
    if "\\" in name:
        return "its name has a backslash"
    if ".." in name.split("/"):
        return "it leads out of the archive"
    if any(part in ("", ".") for part in name.split("/")):
        return "its path has an empty part"
    # Surrogates stand for bytes that are no UTF-8.
    if not name.isprintable():
        return "its name has characters that cannot be shown"
    return ""


def _check_kind(name: str, mode: int) -> None:
    """Whether an entry is a file or a folder, and nothing that gives somebody more rights."""
    if stat.S_ISLNK(mode):
        raise UnpackingError("it is a link", "put the file itself there", name)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UnpackingError("it is neither a file nor a folder", "leave it out", name)
    if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
        raise UnpackingError("it would run with the rights of another", "take its setuid bit away", name)


def _strip_folder(files: list[Member]) -> None:
    """If all is in one folder, which is the bot's, leave that out."""
    top, slash, _ = files[0].name.partition("/")
    if not slash or any(not file.name.startswith(f"{top}/") for file in files):
        return
    for file in files:
        file.name = file.name[len(top) + 1 :]
