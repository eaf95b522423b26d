"""The one function that all executors share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from botarena.v1.record_pb2 import Block, BlockResult

from arena.match.spec import MatchSpec, specs_of

Play: TypeAlias = Callable[[MatchSpec], Awaitable[bytes]]
"""Plays one match to its stored record."""


async def run_block(block: Block, play: Play) -> BlockResult:
    """Play all matches of a block at once.

    What comes back depends on the block alone, but for the circumstances in its records, as far as
    the bots repeat themselves.
    """
    records = await asyncio.gather(*(play(spec) for spec in specs_of(block)))
    return BlockResult(block=block.index, records=records)
