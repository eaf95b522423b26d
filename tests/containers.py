"""What tests of bots in containers need: an engine, and an image with Python and the SDK."""

from __future__ import annotations

import gc
import os
import warnings
from functools import cache

import pytest

from arena.bots.engine import EngineError, connect

_IMAGES = ("botarena/python", "botarena-dev-python")


@cache
def engine_problem(runtime: str = "") -> str:
    """Why no bot can be run in a container here; empty if one can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client forgets a socket where nobody answers
        try:
            connect(runtime).close()
        except EngineError as error:
            return str(error)
        finally:
            gc.collect()
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
