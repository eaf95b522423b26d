"""Archives of bots: what a build hands back may be anything, and is read all the same."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bots.archive import ArchiveError, digest, pack, repack

MOST = 1 << 20


def member(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mode = kind, len(content), link, 0o6777
    info.uid = info.gid = 1234
    return info.tobuf(tarfile.USTAR_FORMAT) + content + b"\0" * (-len(content) % 512)


END = b"\0" * 1024


def repacked(data: bytes) -> list[tarfile.TarInfo]:
    packed = io.BytesIO()
    repack(io.BytesIO(data), MOST, packed)
    with tarfile.open(fileobj=packed) as archive:
        return archive.getmembers()


def test_what_was_built_is_kept_in_the_bots_folder_as_roots_and_without_rights() -> None:
    data = member("./", tarfile.DIRTYPE) + member("./target/bot", content=b"x" * 600)
    data += member("./same", tarfile.LNKTYPE, link="./target/bot")
    data += member("./python", tarfile.SYMTYPE, link="/usr/bin/python3") + END
    kept = repacked(data)
    assert [(info.name, info.linkname) for info in kept] == [
        ("bot", ""),
        ("bot/target/bot", ""),
        ("bot/same", "bot/target/bot"),
        ("bot/python", "/usr/bin/python3"),
    ]
    assert {(info.uid, info.gid, info.mode) for info in kept} == {(0, 0, 0o755)}
    assert kept[1].size == 600


def _huge(kind: bytes) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 1 << 32
    return info.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (member("../x") + END, "outside"),
        (member("/x") + END, "outside"),
        (member("x", tarfile.LNKTYPE, link="../y") + END, "outside"),
        (member("x", tarfile.LNKTYPE, link="y") + END, "no file"),
        (member("x", tarfile.CHRTYPE) + END, "neither"),
        (member("x", tarfile.FIFOTYPE) + END, "neither"),
        (_huge(tarfile.XHDTYPE), "neither"),
        (_huge(tarfile.GNUTYPE_LONGNAME), "neither"),
        (_huge(tarfile.GNUTYPE_SPARSE), "neither"),
        (_huge(tarfile.REGTYPE), "cut off"),
        (member("x", content=b"1") + member("x", content=b"2") + END, "twice"),
        (member("x") + member("x/y") + END, "no folder"),
        (member("x", tarfile.SYMTYPE, link="/etc") + member("x/passwd") + END, "no folder"),
        (member("x", content=bytes(MOST)) + member("y", content=b"1") + END, "more than 1MiB"),
        (member("x", content=b"1"), "cut off"),
        (b"", "cut off"),
        (b"make: done\n", "cut off"),
        (b"no archive at all" * 100, "no archive"),
        (member("x")[:400] + b"7" * 112, "no archive"),
    ],
)
def test_what_is_no_bot_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        repacked(data)


def _packed(folder: Path, most: int = MOST) -> io.BytesIO:
    packed = io.BytesIO()
    pack(sorted(path for path in folder.rglob("*") if path.is_file()), folder, most, packed)
    return packed


def test_the_same_code_gives_the_same_archive_and_other_code_another(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "main.py").write_text("print('ä')")
        (tmp_path / name / "sub" / "wörter").write_text("x")
    (tmp_path / "b" / "main.py").touch()
    first = digest(_packed(tmp_path / "a"))
    assert digest(_packed(tmp_path / "b")) == first
    assert [info.name for info in repacked(_packed(tmp_path / "a").getvalue())] == [
        "bot/main.py",
        "bot/sub/wörter",
    ]
    (tmp_path / "b" / "main.py").chmod(0o755)
    assert digest(_packed(tmp_path / "b")) != first


def _long_name(folder: Path) -> None:
    (folder / ("n" * 150)).write_text("")


def _large(folder: Path) -> None:
    (folder / "weights").write_bytes(bytes(MOST))


@pytest.mark.parametrize(("add", "why"), [(_long_name, "name is too long"), (_large, "larger than 1MiB")])
def test_code_that_fits_no_archive_is_refused(tmp_path: Path, add: Callable[[Path], None], why: str) -> None:
    add(tmp_path)
    with pytest.raises(ArchiveError, match=why):
        _packed(tmp_path)
