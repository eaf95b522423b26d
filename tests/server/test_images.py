"""Images of strangers: only what belongs to the one image reaches the engine, under no name of theirs."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.server.images import SavedImage, image_upload
from arena.server.uploads import UploadError

CONFIG = "blobs/sha256/" + "c" * 64
LAYER = "blobs/sha256/" + "d" * 64
MOST = 1 << 20


def layer() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("bin/bot"))
    return packed.getvalue()


def saved(kind: bytes = tarfile.REGTYPE, **changed: bytes | None) -> bytes:
    """An image as an engine saves it; files are changed by their names, with _ for what no name can have."""
    files: dict[str, bytes | None] = {
        "index.json": b"{}",
        "repositories": b'{"botarena/python": {"trixie": "x"}}',
        CONFIG: json.dumps({"config": {"Cmd": ["bot"]}}).encode(),
        LAYER: layer(),
        "manifest.json": manifest(),
    }
    files |= {
        {"config": CONFIG, "layer": LAYER, "manifest": "manifest.json"}.get(n, n): d
        for n, d in changed.items()
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(_info("blobs", b"", tarfile.DIRTYPE))
        for name, data in files.items():
            if data is not None:
                archive.addfile(
                    _info(name, data, kind if name == LAYER else tarfile.REGTYPE), io.BytesIO(data)
                )
    return packed.getvalue()


def _info(name: str, data: bytes, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data) if kind == tarfile.REGTYPE else 0
    return info


def manifest(**changed: Any) -> bytes:
    told = {"Config": CONFIG, "RepoTags": ["botarena/python:trixie"], "Layers": [LAYER], **changed}
    return json.dumps([told]).encode()


def sent(data: bytes) -> SavedImage:
    upload = image_upload(MOST)
    try:
        for at in range(0, len(data), 5000):
            upload.feed(data[at : at + 5000])
        return upload.finish()
    finally:
        upload.close()


def test_what_is_passed_on_has_no_names() -> None:
    kept = sent(saved())
    assert kept.size == len(layer())
    with kept.file, tarfile.open(fileobj=kept.file) as archive:
        assert archive.getnames() == ["manifest.json", CONFIG, LAYER]
        member = archive.extractfile("manifest.json")
        assert member is not None
        assert json.loads(member.read()) == [{"Config": CONFIG, "RepoTags": [], "Layers": [LAYER]}]


def cases() -> Iterator[tuple[str, bytes, str]]:
    yield (
        "two images",
        saved(manifest=b"[" + manifest()[1:-1] + b"," + manifest()[1:-1] + b"]"),
        "number of images",
    )
    yield "no manifest", saved(manifest=None), "missing"
    yield "no JSON", saved(manifest=b"{" * 9), "no JSON"
    yield "deep JSON", saved(manifest=b"[" * 100_000), "no JSON"
    yield "another kind", saved(manifest=b"7"), "number of images"
    yield "no layers", saved(manifest=manifest(Layers=[])), "no layers"
    yield "a layer that is missing", saved(manifest=manifest(Layers=["x"])), "missing"
    yield "a layer that is no name", saved(manifest=manifest(Layers=[{}])), "missing"
    yield "a configuration that is missing", saved(manifest=manifest(Config="../x")), "missing"
    yield "compressed", saved(layer=b"\x1f\x8b" + b"x" * 600), "compressed"
    yield "zeros", saved(layer=b"\0" * 50_000), "compressed"
    yield "volumes", saved(config=b'{"config": {"Volumes": {"/data": {}}}}'), "volumes"
    yield "too large", saved(layer=layer() + b"\0" * MOST), "larger than"
    yield "a link", saved(tarfile.SYMTYPE), "neither"
    yield "a name", saved(**{"../x": b""}), "no such file"
    yield "an archive of code", layer(), "missing"
    yield "rubbish", b"x" * 1000, "no archive"


@pytest.mark.parametrize(("data", "why"), [pytest.param(data, why, id=name) for name, data, why in cases()])
def test_what_is_refused(data: bytes, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(UploadError) as refused:
        sent(data)
    assert why in refused.value.why
    assert list(tmp_path.iterdir()) == []
