"""Archives of bots: their code as it goes into a build, and what comes out of it, which may be anything."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from arena.units import size_text

FOLDER = PurePosixPath("bot")
"""Where a bot is in its image."""

MAX_MEMBERS = 100_000
"""Most files, folders and links that a built bot may have."""

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 20
_KINDS = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE)


class ArchiveError(Exception):
    """An archive that is not what it should be, or too much; the message says why."""


def pack(files: Sequence[Path], folder: Path, most_bytes: int, packed: IO[bytes]) -> None:
    """Write a bot's code as an archive, the same for the same code.

    Args:
        files: its files, in their order.
        folder: where they are.
        most_bytes: the greatest size of the archive.
        packed: takes it; stands at its beginning then.

    Raises:
        ArchiveError: it is larger, or a file changed while it was read.
        OSError: a file cannot be read.
    """
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in files:
            status = path.stat()
            info = _entry(str(path.relative_to(folder)), status.st_size, bool(status.st_mode & 0o100))
            if packed.tell() + _BLOCK + info.size > most_bytes:
                raise ArchiveError(f"its files are larger than {size_text(most_bytes)}")
            with path.open("rb") as file:
                _add(archive, info, file)
    packed.seek(0)


@dataclass(slots=True)
class Member:
    """A file that is kept within another one.

    Attributes:
        name: its path in the archive.
        start: where its content begins, in bytes.
        size: of its content, in bytes.
        executable: whether it may be executed.
    """

    name: str
    start: int
    size: int
    executable: bool


def pack_members(members: Sequence[Member], content: IO[bytes], packed: IO[bytes]) -> None:
    """Write files as an archive.

    Args:
        members: the files, in their order.
        content: what they are kept in.
        packed: takes the archive.

    Raises:
        ArchiveError: a name cannot be in an archive.
    """
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member in members:
            content.seek(member.start)
            _add(archive, _entry(member.name, member.size, member.executable), content)


def unpack(packed: IO[bytes], folder: Path) -> None:
    """Write the files of an archive that `pack_members` wrote to a folder, where nobody may change them.

    Args:
        packed: the archive, compressed with gzip.
        folder: is made.

    Raises:
        OSError: they cannot be written.
    """
    folder.mkdir()
    with tarfile.open(fileobj=packed, mode="r:gz") as archive:
        for info in archive:
            archive.extract(info, folder, filter="data")
            (folder / info.name).chmod(0o555 if info.mode & 0o100 else 0o444)


def repack(built: IO[bytes], most_bytes: int, packed: IO[bytes]) -> None:
    """Write what a build left as an archive that an engine may unpack: a bot's folder, owned by root.

    It reads plain ustar and nothing else. A bot may have written this archive, and whoever reads every
    kind of it can be made to take any amount of memory.

    Args:
        built: the archive that came out of the build.
        most_bytes: the greatest size of all its files together.
        packed: takes the archive; stands at its beginning then.

    Raises:
        ArchiveError: it is damaged, too large, or holds what a bot does not consist of.
    """
    left = most_bytes
    seen: dict[str, bytes] = {}
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for info in _members(built):
            left -= info.size
            if left < 0 or len(seen) == MAX_MEMBERS:
                what = size_text(most_bytes) if left < 0 else f"{MAX_MEMBERS} files"
                raise ArchiveError(f"what it built is more than {what}")
            end = built.tell() + -(-info.size // _BLOCK) * _BLOCK
            kept = _inside(info)
            _check_place(kept, seen)
            _add(archive, kept, built)
            built.seek(end)
    packed.seek(0)


def digest(archive: IO[bytes]) -> str:
    """SHA-256 of an archive, in hexadecimal digits."""
    found = hashlib.sha256()
    while chunk := archive.read(_CHUNK):
        found.update(chunk)
    archive.seek(0)
    return found.hexdigest()


def _members(built: IO[bytes]) -> Iterator[tarfile.TarInfo]:
    """Heads of an archive's members; the file stands behind each when it is given."""
    size = built.seek(0, 2)
    built.seek(0)
    while len(block := built.read(_BLOCK)) == _BLOCK and block.strip(b"\0"):
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.TarError as error:
            raise ArchiveError(f"what it built is no archive ({error})") from None
        if info.type not in _KINDS:
            raise ArchiveError(f"it built {info.name!a}, which is neither a file, a folder nor a link")
        if not info.isreg():
            info.size = 0
        if not 0 <= info.size <= size - built.tell():
            raise ArchiveError("what it built is cut off")
        yield info
    if len(block) < _BLOCK:
        raise ArchiveError("what it built is cut off")


def _inside(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member as it is kept: in the bot's folder, root's, with no special rights."""
    kept = _entry(_path(info.name), info.size, bool(info.mode & 0o100) or info.isdir())
    kept.type = tarfile.REGTYPE if info.isreg() else info.type
    kept.mtime = info.mtime
    # A link of this kind names a member; a symbolic one means something in the bot's container alone.
    kept.linkname = _path(info.linkname) if info.islnk() else info.linkname
    return kept


def _path(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ArchiveError(f"it built {name!a}, which is outside of its folder")
    return str(FOLDER / path)


def _check_place(info: tarfile.TarInfo, seen: dict[str, bytes]) -> None:
    """Whether a member can be where it says, after those that were seen: their kinds by name."""
    if info.name in seen:
        raise ArchiveError(f"it built {info.name!a} twice")
    if any(
        seen.get(str(parent), tarfile.DIRTYPE) != tarfile.DIRTYPE
        for parent in PurePosixPath(info.name).parents
    ):
        raise ArchiveError(f"it built {info.name!a} in what is no folder")
    if info.islnk() and seen.get(info.linkname) != tarfile.REGTYPE:
        raise ArchiveError(f"it built {info.name!a} as a link to what is no file")
    seen[info.name] = info.type


def _add(archive: tarfile.TarFile, info: tarfile.TarInfo, content: IO[bytes]) -> None:
    try:
        archive.addfile(info, content if info.isreg() else None)
    except ValueError as error:
        raise ArchiveError(f"{info.name!a} cannot be in an archive ({error})") from None
    except OSError as error:
        raise ArchiveError(f"{info.name!a} changed while it was read ({error})") from None


def _entry(name: str, size: int, executable: bool) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o755 if executable else 0o644
    return info
