"""Reads archives of strangers while they arrive: tar, tar.gz and zip, nothing of which is believed.

Each reader is a generator: it yields where it needs more bytes than have come, and goes on when they are
there. So an archive is refused at the first byte that is wrong, and no more than a piece of it is in memory.
"""

from __future__ import annotations

import stat
import tarfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]
"""Yields where more bytes are needed."""

PIECE = 1 << 16
_BLOCK = tarfile.BLOCKSIZE
_LONGEST = 4096  # bytes of a name, or of a head that only carries names
_GZIP = b"\x1f\x8b"
_ENTRY, _LISTED, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_DESCRIPTOR = b"PK\x07\x08"
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _DESCRIBED, _UTF8 = 0x1, 0x8, 0x800
_WHOLE = "send the archive whole, as tar, tar.gz or zip"


class UnpackingError(Exception):
    """An archive that cannot be taken.

    Args:
        why: one line.
        do: one line that begins with a verb.
        entry: name of the entry that is wrong; empty: the archive as such.
    """

    def __init__(self, why: str, do: str, entry: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.do = do
        self.entry = entry


@dataclass(frozen=True, slots=True)
class Head:
    """What an archive says of an entry.

    Attributes:
        name: as it stands there.
        mode: kind and rights, as in `stat`.
        size: of its content in bytes; None: only its end tells.
    """

    name: str
    mode: int
    size: int | None


class Taker(Protocol):
    """Takes the entries of an archive one after the other, and refuses what it does not want."""

    def begin(self, head: Head) -> None:
        """An entry begins."""
        ...

    def write(self, data: bytes) -> None:
        """A piece of its content."""
        ...

    def describe(self, name: str, mode: int) -> None:
        """An entry that was there is of this kind, and has these rights: a zip says so at its end."""
        ...


class Source(ABC):
    """Bytes that come bit by bit."""

    def __init__(self) -> None:
        self._held = b""
        self._at = 0

    def some(self, most: int = PIECE) -> Reading[bytes]:
        """Bytes, at least one and at most so many; none at the end."""
        if self._at == len(self._held):
            self._held, self._at = (yield from self._more()), 0
        data = self._held[self._at : self._at + most]
        self._at += len(data)
        return data

    def exactly(self, size: int) -> Reading[bytes]:
        """So many bytes.

        Raises:
            UnpackingError: the archive ends before.
        """
        data = yield from self.some(size)
        while len(data) < size:
            more = yield from self.some(size - len(data))
            if not more:
                raise UnpackingError("it is cut off", _WHOLE)
            data += more
        return data

    def unread(self, data: bytes) -> None:
        """Give back the last bytes that were read."""
        self._held, self._at = data + self._held[self._at :], 0

    @abstractmethod
    def _more(self) -> Reading[bytes]:
        """The next bytes; none at the end."""


class Arriving(Source):
    """Bytes that somebody sends."""

    def __init__(self) -> None:
        super().__init__()
        self._arrived = b""
        self._is_all = False

    def put(self, data: bytes) -> None:
        """More have come; what came before was read."""
        self._arrived += data

    def close(self) -> None:
        """No more will come."""
        self._is_all = True

    def _more(self) -> Reading[bytes]:
        while not self._arrived and not self._is_all:
            yield
        data, self._arrived = self._arrived, b""
        return data


class Gunzipped(Source):
    """What was compressed with gzip.

    Args:
        packed: the compressed bytes.
        most: how many bytes that may be.
    """

    def __init__(self, packed: Source, most: int) -> None:
        super().__init__()
        self._packed = packed
        self._unzip = zlib.decompressobj(31)
        self._left = most

    def _more(self) -> Reading[bytes]:
        while True:
            if self._unzip.eof and not (yield from self._next_member()):
                return b""
            packed = self._unzip.unconsumed_tail or (yield from self._packed.some())
            if not packed and not self._unzip.eof:
                raise UnpackingError("it is cut off", _WHOLE)
            if data := _inflated(self._unzip, packed):
                self._left -= len(data)
                if self._left < 0:
                    raise UnpackingError("it unpacks to far more than its files", _WHOLE)
                return data

    def _next_member(self) -> Reading[bool]:
        """Go on with what follows the end of a compressed stream: another one, or zeros up to the end."""
        rest = self._unzip.unused_data
        while not rest.strip(b"\0"):
            rest = yield from self._packed.some()
            if not rest:
                return False
        self._packed.unread(rest)
        self._unzip = zlib.decompressobj(31)
        return True


def _inflated(unzip: zlib._Decompress, packed: bytes) -> bytes:
    """Some of what is packed; never more than a piece at once."""
    try:
        return unzip.decompress(packed, PIECE)
    except zlib.error as error:
        raise UnpackingError(f"its compressed data is damaged ({error})", _WHOLE) from None


def read_archive(source: Source, taker: Taker, most: int) -> Reading[None]:
    """Read an archive of any of the kinds.

    Args:
        source: its bytes.
        taker: takes its entries.
        most: how many bytes it may unpack to with all that is around its files.

    Raises:
        UnpackingError: it cannot be taken.
    """
    first = yield from source.exactly(4)
    source.unread(first)
    if first in (_ENTRY, _END):
        yield from _read_zip(source, taker)
    elif first.startswith(_GZIP):
        yield from _read_tar(Gunzipped(source, most), taker)
    else:
        yield from _read_tar(source, taker)


# tar


def _read_tar(source: Source, taker: Taker) -> Reading[None]:
    name = ""
    while (block := (yield from source.exactly(_BLOCK))).strip(b"\0"):
        info = _tar_head(block)
        if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
            if info.size > _LONGEST:
                raise UnpackingError(
                    "a name is too long", f"use names of at most {_LONGEST} bytes", info.name[:80]
                )
            text = (yield from source.exactly(_padded(info.size)))[: info.size]
            if info.type != tarfile.XGLTYPE:
                name = _long_name(info.type, text) or name
            continue
        taker.begin(Head(name or info.name, _tar_mode(info), info.size if info.isreg() else 0))
        name = ""
        if info.isreg():
            yield from _copy(source, info.size, taker)
            yield from source.exactly(_padded(info.size) - info.size)
    # What follows the end means nothing, but it has to be read: it may not be endless either.
    while rest := (yield from source.some()):
        if rest.strip(b"\0"):
            raise UnpackingError("something follows its end", _WHOLE)


def _tar_head(block: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.TarError as error:
        raise UnpackingError(f"it is no archive, or a damaged one ({error})", _WHOLE) from None
    if info.size < 0:
        raise UnpackingError("its size is below zero", _WHOLE, info.name)
    return info


def _tar_mode(info: tarfile.TarInfo) -> int:
    kinds = {
        tarfile.REGTYPE: stat.S_IFREG,
        tarfile.AREGTYPE: stat.S_IFREG,
        tarfile.DIRTYPE: stat.S_IFDIR,
        tarfile.SYMTYPE: stat.S_IFLNK,
        tarfile.LNKTYPE: stat.S_IFLNK,
        tarfile.CHRTYPE: stat.S_IFCHR,
        tarfile.BLKTYPE: stat.S_IFBLK,
        tarfile.FIFOTYPE: stat.S_IFIFO,
    }
    return kinds.get(info.type, 0) | stat.S_IMODE(info.mode)


def _long_name(kind: bytes, text: bytes) -> str:
    """The name that a head carries for the entry behind it; empty if it carries something else."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return text.rstrip(b"\0").decode(errors="surrogateescape")
    found = ""
    while text:
        length, _, _ = text.partition(b" ")
        if not length.isdigit() or not 0 < int(length) <= len(text):
            raise UnpackingError("one of its heads is damaged", _WHOLE)
        key, _, value = text[len(length) + 1 : int(length) - 1].partition(b"=")
        text = text[int(length) :]
        if key == b"path":
            found = value.decode(errors="surrogateescape")
        elif key == b"size" or key.startswith(b"GNU.sparse"):
            raise UnpackingError("it gives sizes in a way that is not taken", "make an ordinary tar", found)
    return found


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


# zip: what an entry is stands at the end, in a list of all of them. Entries are read as they come, so none
# can lie over another; those of the list have to be the same.


def _read_zip(source: Source, taker: Taker) -> Reading[None]:
    came: list[str] = []
    mark = yield from source.exactly(4)
    while mark == _ENTRY:
        came.append((yield from _read_entry(source, taker)))
        mark = yield from source.exactly(4)
    listed = 0
    while mark == _LISTED:
        name, mode = yield from _read_listed(source)
        if listed == len(came) or name != came[listed]:
            raise UnpackingError("its entries and its list of them differ", _WHOLE, name)
        taker.describe(name, mode)
        listed += 1
        mark = yield from source.exactly(4)
    if mark != _END or listed != len(came):
        raise UnpackingError(
            "it is damaged, or of a kind that is not taken", "make an ordinary zip, or a tar"
        )
    yield from source.exactly(18)
    comment = 0
    while rest := (yield from source.some()):
        comment += len(rest)
        if comment > _LONGEST:
            raise UnpackingError("something follows its end", _WHOLE)


def _read_entry(source: Source, taker: Taker) -> Reading[str]:
    head = yield from source.exactly(26)
    flags, method = _number(head, 2, 2), _number(head, 4, 2)
    packed, size = _number(head, 14, 4), _number(head, 18, 4)
    name = _zip_name((yield from source.exactly(_length(head, 22))), flags)
    yield from source.exactly(_length(head, 24))
    if flags & _ENCRYPTED or method not in (_STORED, _DEFLATED):
        raise UnpackingError("it is encrypted, or packed in an unusual way", "make an ordinary zip", name)
    is_open = bool(flags & _DESCRIBED)
    if method == _STORED and (is_open or packed != size):
        raise UnpackingError("its size is not what it says", "make an ordinary zip, or a tar", name)
    mode = stat.S_IFDIR if name.endswith("/") else stat.S_IFREG | 0o644
    taker.begin(Head(name, mode, None if is_open else size))
    if method == _STORED:
        yield from _copy(source, size, taker)
    else:
        sizes = yield from _inflate(source, taker, None if is_open else (packed, size), name)
        if is_open:
            yield from _read_descriptor(source, sizes, name)
    return name


def _inflate(
    source: Source, taker: Taker, said: tuple[int, int] | None, name: str
) -> Reading[tuple[int, int]]:
    """Unpack an entry; how many bytes it had, packed and unpacked, which must be what it says of them."""
    unzip = zlib.decompressobj(-15)
    packed = size = 0
    while not unzip.eof:
        piece = unzip.unconsumed_tail
        if not piece:
            piece = yield from source.some()
            packed += len(piece)
            if not piece:
                raise UnpackingError("it is cut off", _WHOLE, name)
        data = _inflated(unzip, piece)
        size += len(data)
        if said is not None and size > said[1]:
            break
        taker.write(data)
    packed -= len(unzip.unused_data)
    source.unread(unzip.unused_data)
    if said is not None and (packed, size) != said:
        raise UnpackingError("its size is not what it says", "make an ordinary zip, or a tar", name)
    return packed, size


def _read_descriptor(source: Source, sizes: tuple[int, int], name: str) -> Reading[None]:
    """What follows an entry whose sizes were not known at its beginning."""
    first = yield from source.exactly(4)
    if first == _DESCRIPTOR:
        yield from source.exactly(4)
    told = yield from source.exactly(8)
    if (_number(told, 0, 4), _number(told, 4, 4)) != sizes:
        raise UnpackingError("its size is not what it says", "make an ordinary zip, or a tar", name)


def _read_listed(source: Source) -> Reading[tuple[str, int]]:
    """An entry of the list: its name, and its kind and rights if it has any."""
    head = yield from source.exactly(42)
    flags = _number(head, 4, 2)
    name = _zip_name((yield from source.exactly(_length(head, 24))), flags)
    yield from source.exactly(_length(head, 26) + _length(head, 28))
    on_unix = head[1] == 3
    return name, _number(head, 34, 4) >> 16 if on_unix else 0


def _zip_name(name: bytes, flags: int) -> str:
    return name.decode("utf-8" if flags & _UTF8 or name.isascii() else "cp437", "surrogateescape")


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _length(head: bytes, at: int) -> int:
    """A length of something that belongs to a head."""
    length = _number(head, at, 2)
    if length > _LONGEST:
        raise UnpackingError("a name or a note in it is too long", f"use at most {_LONGEST} bytes")
    return length


def _copy(source: Source, size: int, taker: Taker) -> Reading[None]:
    while size:
        data = yield from source.some(min(size, PIECE))
        if not data:
            raise UnpackingError("it is cut off", _WHOLE)
        size -= len(data)
        taker.write(data)
