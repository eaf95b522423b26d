"""Work that would keep the event loop waiting, such as the database's, on threads beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = 8
_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="arena-apart")


async def apart(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do something on a thread; its result, or what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_pool, lambda: work(*args, **kwargs))
