"""Archives of strangers: what may be kept is, the rest is refused whole, and nothing of it stays."""

from __future__ import annotations

import gzip
import io
import random
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.bots.archive import unpack
from arena.server.uploads import Packed, UploadError, UploadLimits, code_upload

LIMITS = UploadLimits(size_bytes=1 << 20, unpacked_bytes=4 << 20, files=50)
TOML = b'name = "mybot"\ncommand = ["python3", "main.py"]\n'
GOOD = {"bot.toml": TOML, "main.py": b"print(1)\n", "data/a.bin": bytes(range(256))}
END = b"\0" * 1024


def member(
    name: str | bytes,
    content: bytes = b"",
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o644,
    size: int | None = None,
    link: str = "x",
) -> bytes:
    info = tarfile.TarInfo("n")
    info.type, info.mode = kind, mode
    info.size = len(content) if size is None else size
    info.linkname = "" if kind in (tarfile.REGTYPE, tarfile.DIRTYPE) else link
    head = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    raw = name if isinstance(name, bytes) else name.encode()
    head[:100] = raw.ljust(100, b"\0")
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + content + b"\0" * (-len(content) % 512)


START = member("bot.toml", TOML)


def tar(*members: bytes) -> bytes:
    return START + b"".join(members) + END


def zipped(*entries: tuple[str, bytes], mode: int = 0, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in (("bot.toml", TOML), *entries):
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = (mode if name != "bot.toml" else 0o100644) << 16
            archive.writestr(info, content)
    return packed.getvalue()


def pax(name: bytes, key: bytes = b"path") -> bytes:
    record = b" " + key + b"=" + name + b"\n"
    length = len(record) + 1
    while length != len(record) + len(str(length)):
        length = len(record) + len(str(length))
    return member("pax", str(length).encode() + record, tarfile.XHDTYPE)


def upload(data: bytes, piece: int = 1 << 16, limits: UploadLimits = LIMITS) -> Packed:
    taking = code_upload(limits)
    try:
        for at in range(0, len(data), piece):
            taking.feed(data[at : at + piece])
        return taking.finish()
    finally:
        taking.close()


def files_of(packed: Packed, folder: Path) -> dict[str, bytes]:
    unpack(io.BytesIO(packed.data), folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def good(kind: str, folder: str = "") -> bytes:
    packed = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in GOOD.items():
                archive.writestr(folder + name, content)
        return packed.getvalue()
    forms = {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
    with tarfile.open(
        fileobj=packed, mode="w:gz" if kind == "gz" else "w", format=forms.get(kind, tarfile.USTAR_FORMAT)
    ) as archive:
        for name, content in reversed(GOOD.items()):
            info = tarfile.TarInfo(folder + name)
            info.size, info.mtime, info.uid = len(content), random.random(), 77
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("piece", [1, 777, 1 << 16])
@pytest.mark.parametrize("folder", ["", "mybot/", "./"])
@pytest.mark.parametrize("kind", ["tar", "gz", "gnu", "pax", "zip"])
def test_the_same_code_is_the_same_archive_however_it_was_packed_and_sent(
    kind: str, folder: str, piece: int, tmp_path: Path
) -> None:
    packed = upload(good(kind, folder), piece)
    assert packed.digest == upload(good("tar")).digest
    assert packed.files == 3
    assert files_of(packed, tmp_path / "bot") == GOOD


class _Pipe(io.RawIOBase):
    """A file that cannot seek: a zip that is written to it tells sizes behind its entries."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self.data += piece
        return len(piece)


def test_a_zip_that_was_written_to_a_pipe() -> None:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in GOOD.items():
            archive.writestr(name, content)
    assert upload(pipe.data, 100).digest == upload(good("tar")).digest


def test_names_that_are_long_and_what_is_no_code() -> None:
    long = "d" * 90 + "/" + "f" * 90 + ".py"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in ("bot.toml", long, "__pycache__/main.pyc", ".git/HEAD"):
            archive.addfile(tarfile.TarInfo(name))
    assert upload(packed.getvalue()).files == 2


def test_rights_are_kept_as_far_as_they_matter(tmp_path: Path) -> None:
    packed = upload(tar(member("run", b"x", mode=0o777), member("main.py", b"y", mode=0o666)))
    files_of(packed, tmp_path / "bot")
    assert stat.S_IMODE((tmp_path / "bot/run").stat().st_mode) == 0o555
    assert stat.S_IMODE((tmp_path / "bot/main.py").stat().st_mode) == 0o444
    assert upload(zipped(("run", b"x"), mode=0o100755)).digest != upload(zipped(("run", b"x"))).digest


def bombs() -> Iterator[tuple[str, bytes, str]]:
    zeros = b"\0" * (3 << 20)
    yield "gzip bomb", gzip.compress(tar(member("zeros", zeros))), "100 times its size"
    yield "zip bomb", zipped(("zeros", zeros)), "100 times its size"
    yield "too much", tar(*(member(f"f{i}", b"x" * 500_000) for i in range(3))), "larger than 1MiB"
    noise = random.Random(1).randbytes(50_000) * 100
    yield "too much unpacked", gzip.compress(tar(member("noise", noise))), "more than 4MiB"
    yield "2 GB said", tar(member("big", b"x", size=2 << 30)), "more than 4MiB"
    yield "2 GB sent", tar() + b"\0" * (2 << 20), "larger than 1MiB"
    yield "many files", gzip.compress(tar(*(member(f"{i}") for i in range(1000)))), "more than 50 files"
    yield "many files in a zip", zipped(*((f"{i}", b"") for i in range(60))), "more than 50 files"
    yield "one folder again and again", tar(*[member("d/", kind=tarfile.DIRTYPE)] * 60), "more than 50 files"
    yield "deep folders", tar(member("/".join("abcdefghij" * 5), b"")[:512]), "more than 50 files"
    yield "endless zeros", gzip.compress(tar() + b"\0" * (8 << 20)), "far more than its files"
    yield "endless heads", gzip.compress(member("g", b"10 a=b\n   ", tarfile.XGLTYPE) * 9000), "far more"


def lies() -> Iterator[tuple[str, bytes, str]]:
    yield "no archive", b"#!/bin/sh\n" * 100, "no archive"
    yield "nothing", b"", "cut off"
    yield "an image", b"\x89PNG\r\n\x1a\n" + b"x" * 600, "no archive"
    yield "no bot", member("main.py", b"x") + END, "no bot.toml"
    yield "empty", END, "no file"
    yield "cut off", tar(member("a", b"x" * 2000))[:2000], "cut off"
    yield "cut off gzip", gzip.compress(tar(member("a", random.Random(2).randbytes(2000))))[:-900], "cut off"
    yield "cut off zip", zipped(("a", b"x"))[:-30], "cut off"
    yield "damaged gzip", gzip.compress(tar())[:20] + b"\xff" * 100, "damaged"
    yield "below zero", _negative(), "below zero"
    yield "a tail", tar() + b"evil", "follows its end"
    yield "size in pax", tar(pax(b"9", b"size"), member("a")), "sizes in a way"
    yield "damaged pax", tar(member("p", b"999 path=a\n", tarfile.XHDTYPE), member("a")), "damaged"
    yield "name without end", tar(member("p", b"x" * 9000, tarfile.XHDTYPE)), "too long"
    honest = zipped(("lie", b"x" * 100))
    at = honest.index(b"lie") - 30
    yield "zip says less", _patched(honest, at + 22, struct.pack("<L", 7)), "not what it says"
    yield "zip says more", _patched(honest, at + 22, struct.pack("<L", 200)), "not what it says"
    yield "zip says 4 GB", _patched(honest, at + 22, b"\xff" * 4), "more than 4MiB"
    stored = zipped(("lie", b"x" * 100), method=zipfile.ZIP_STORED)
    yield "stored lie", _patched(stored, stored.index(b"lie") - 12, b"\x01"), "not what it says"
    yield (
        "zip list differs",
        honest[: honest.rindex(b"lie")] + honest[honest.rindex(b"lie") :].replace(b"lie", b"lye"),
        "differ",
    )
    yield "zip lists more", _listed_twice(honest), "differ"
    yield "encrypted", _patched(honest, at + 6, b"\x01"), "encrypted"
    yield "unusual method", _patched(honest, at + 8, b"\x0e"), "unusual"
    yield "damaged deflate", _patched(honest, at + 33, b"\xff\xff"), "damaged"
    yield "zip tail", honest + b"x" * 5000, "follows its end"


def places() -> Iterator[tuple[str, bytes, str]]:
    for name, why in {
        "../evil": "leads out",
        "a/../../evil": "leads out",
        "/etc/passwd": "absolute",
        "C:evil": "absolute",
        "..\\evil": "backslash",
        "a//b": "empty part",
        "a/./b": "empty part",
        "a\nb": "cannot be shown",
        "a\x1b[31mb": "cannot be shown",
        "a\u202eb": "cannot be shown",
    }.items():
        yield f"tar {name!a}", tar(member(name)), why
        yield f"pax {name!a}", tar(pax(name.encode()), member("a")), why
        yield f"zip {name!a}", zipped((name, b"")), why
    yield "no UTF-8", tar(member(b"a\xff")), "cannot be shown"
    yield "too long for a tar", tar(pax(b"x" * 300), member("a")), "cannot be in an archive"
    kinds = {
        "symlink": (tarfile.SYMTYPE, 0o120777, "link"),
        "hard link": (tarfile.LNKTYPE, 0, "link"),
        "character device": (tarfile.CHRTYPE, 0o020666, "neither"),
        "block device": (tarfile.BLKTYPE, 0o060666, "neither"),
        "fifo": (tarfile.FIFOTYPE, 0o010666, "neither"),
        "socket": (b"9", 0o140666, "neither"),
        "sparse": (tarfile.GNUTYPE_SPARSE, 0, "neither"),
        "setuid": (tarfile.REGTYPE, 0o104755, "rights of another"),
        "setgid": (tarfile.REGTYPE, 0o102755, "rights of another"),
    }
    for what, (kind, mode, why) in kinds.items():
        yield what, tar(member("evil", kind=kind, mode=mode & 0o7777)), why
        if mode:
            yield f"{what} in a zip", zipped(("evil", b"/etc/passwd"), mode=mode), why
    for what, one, two, why in (
        ("case", "Main.py", "main.py", "one name"),
        ("case of folders", "Data/a", "data/b", "one name"),
        ("Unicode form", "caf\u00e9", "cafe\u0301", "one name"),
        ("compatibility form", "\ufb01le", "file", "one name"),
        ("sharp s", "stra\u00dfe", "strasse", "one name"),
        ("twice", "a", "a", "twice"),
        ("file and folder", "a", "a/b", "folder and a file"),
        ("folder and file", "a/b", "a", "folder and a file"),
    ):
        yield what, tar(member(one), member(two)), why
        if what != "twice":  # what writes zips warns of it
            yield f"{what} in a zip", zipped((one, b""), (two, b"")), why


def _patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _negative() -> bytes:
    head = bytearray(member("a"))
    head[124:136] = b"\xff" * 12
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    return START + bytes(head) + END


def _listed_twice(data: bytes) -> bytes:
    first, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    return data[:end] + data[first:end] + data[end:]


@pytest.mark.parametrize("piece", [997, 1 << 16])
@pytest.mark.parametrize(
    ("data", "why"),
    [pytest.param(data, why, id=name) for cases in (bombs, lies, places) for name, data, why in cases()],
)
def test_what_is_refused_is_refused_whole(
    data: bytes, why: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(UploadError) as refused:
        upload(data, piece)
    assert why in refused.value.why
    assert all(part.isprintable() for part in refused.value.args)
    assert list(tmp_path.iterdir()) == []


def test_it_is_refused_as_soon_as_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    taking = code_upload(UploadLimits())
    taking.feed(START)
    with pytest.raises(UploadError, match="leads out"):
        taking.feed(member("../evil"))
    taking = code_upload(UploadLimits())
    with pytest.raises(UploadError, match="more than 128MiB"):
        taking.feed(member("big", size=2 << 30))


def test_archives_in_archives_are_files() -> None:
    inner = zlib.compress(b"\0" * (100 << 20))
    assert upload(tar(member("inner.zip", inner))).files == 2


@settings(max_examples=200)
@given(data=st.data(), kind=st.sampled_from(["tar", "gz", "zip"]))
def test_any_damage_is_refused_or_taken(data: st.DataObject, kind: str) -> None:
    whole = bytearray(good(kind))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        packed = upload(bytes(whole), data.draw(st.sampled_from([100, 1 << 16])))
    except UploadError:
        return
    assert packed.files >= 1
