"""The levels of sandboxes as the corpus uses them: whether one is here, and the image for containers."""

from __future__ import annotations

import io
import secrets
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.bots.engine import connect
from arena.bots.sandbox import check_available
from arena.errors import ArenaError
from tests.hostile.cases import DOCKER, GVISOR

CONTAINERS = (DOCKER, GVISOR)
_BASES = ("botarena/python", "botarena-dev-python")
_IMAGE = "arena-hostile-corpus"


def missing(level: str) -> str:
    """Why a level cannot be used here; empty if it can, with all that it promises."""
    try:
        lacking = check_available(level)
        if level in CONTAINERS and not _base():
            lacking = f"the container engine has no image {' or '.join(_BASES)}: make images"
    except ArenaError as error:
        return f"{error.what}: {error.why}"
    return lacking


def _base() -> str:
    """The id of an image with Python and the SDK; empty if there is none."""
    client = connect()
    try:
        return next((str(found[0]) for name in _BASES if (found := client.images(name=name, quiet=True))), "")
    finally:
        client.close()


@contextmanager
def image_of(folder: Path) -> Iterator[str]:
    """An image with the bots that were laid out in a folder; removed at the end."""
    client = connect()
    client.timeout = 120
    # Runs at the same time make the same image: each has its own name for it, and takes that away alone.
    tag = f"{_IMAGE}:{secrets.token_hex(6)}"
    try:
        lines = list(
            client.build(fileobj=_context(folder), custom_context=True, tag=tag, rm=True, decode=True)
        )
        built = [line["aux"]["ID"] for line in lines if "aux" in line]
        if not built:
            raise RuntimeError(f"the image of the corpus cannot be built: {lines[-1:]}")
        try:
            yield str(built[-1])
        finally:
            client.remove_image(tag)
    finally:
        client.close()


def _context(folder: Path) -> io.BytesIO:
    """What is sent to the engine: the bots, and what to do with them."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        tar.add(folder / "tests", "tests")
        words = f"FROM {_base()}\nCOPY tests /bot/tests\n".encode()
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(words)
        tar.addfile(entry, io.BytesIO(words))
    data.seek(0)
    return data
