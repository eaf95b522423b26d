"""What tests of bots in containers need: an engine, and an image with Python and the SDK."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena.bots.engine import EngineError, connect

if TYPE_CHECKING:
    from docker import APIClient

_IMAGES = ("botarena/python", "botarena-dev-python")


@cache
def engine_problem(runtime: str = "") -> str:
    """Why no bot can be run in a container here; empty if one can."""
    try:
        connect(runtime).close()
    except EngineError as error:
        return str(error)
    return ""


def need_engine(runtime: str = "") -> None:
    """Skip a test where the part is missing that it needs."""
    if problem := engine_problem(runtime):
        pytest.skip(problem)


@cache
def find_python_image() -> str:
    """The id of an image with Python and the SDK: that which ARENA_TEST_IMAGE names, or what is there."""
    wanted = os.environ.get("ARENA_TEST_IMAGE")
    client = connect()
    try:
        found = [
            image for name in ([wanted] if wanted else _IMAGES) for image in client.images(name, quiet=True)
        ]
    finally:
        client.close()
    return str(found[0]) if found else ""


def python_image() -> str:
    """The same; it skips a test that needs one where there is none."""
    need_engine()
    return find_python_image() or pytest.skip("the container engine has no image with Python and the SDK")


def program_image(client: APIClient, name: str, programs: Mapping[str, Path]) -> str:
    """The id of an image of programs of this machine and the libraries that they need; no registry is.

    Args:
        name: under which the engine keeps it.
        programs: by their paths in the image.
    """
    files = [program.resolve() for program in programs.values()]
    told = subprocess.run(["ldd", *files], capture_output=True, text=True, check=False)  # 1: some need none
    libraries = set(re.findall(r"(/\S+\.so[.\d]*) \(", told.stdout))
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for path, file in zip(programs, files, strict=True):
            tar.add(file, path.lstrip("/"))
        for library in libraries:
            tar.add(Path(library).resolve(), library.lstrip("/"))
    answer = json.loads(client.import_image_from_data(data.getvalue(), repository=name))
    return str(answer["status"])


def shell_image(client: APIClient) -> str:
    """The id of a small image with a shell and `sleep`."""
    return program_image(
        client, "botarena-test-shell", {"/bin/sh": Path("/bin/sh"), "/bin/sleep": Path("/bin/sleep")}
    )
