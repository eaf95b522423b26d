"""What tests of bots in containers need: an engine, and an image with Python and the SDK."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
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
def python_image() -> str:
    """The id of an image with Python and the SDK: the one that ARENA_TEST_IMAGE names, or what is there.

    Skips the test if there is none.
    """
    need_engine()
    client = connect()
    try:
        wanted = os.environ.get("ARENA_TEST_IMAGE")
        names = [wanted] if wanted else _IMAGES
        for name in names:
            if found := client.images(name=name, quiet=True):
                return str(found[0])
    finally:
        client.close()
    pytest.skip(f"the container engine has no image {' or '.join(names)}")


def shell_image(client: APIClient) -> str:
    """The id of a small image with this machine's shell and `sleep`, made without a registry."""
    programs = [shutil.which(name) for name in ("sh", "sleep")]
    files = {Path(program).resolve() for program in programs if program}
    told = subprocess.run(["ldd", *files], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"(/\S+\.so[.\d]*)", told))
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for program in programs:
            assert program
            tar.add(Path(program).resolve(), f"bin/{Path(program).name}")
        for library in libraries:
            tar.add(Path(library).resolve(), library.lstrip("/"))
    answer = json.loads(client.import_image_from_data(data.getvalue(), repository="arena-test-shell"))
    return str(answer["status"])
