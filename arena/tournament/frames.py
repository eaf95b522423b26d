"""Frames between the arena and its workers: a length in 4 bytes, then that many bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever only packs has no event loop yet
    import asyncio


def pack(data: bytes) -> bytes:
    """A frame with these bytes."""
    return len(data).to_bytes(4, "big") + data


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """The next frame's bytes; None at the end, also if the other side died in the middle of one."""
    try:
        length = int.from_bytes(await reader.readexactly(4), "big")
        return await reader.readexactly(length)
    except (EOFError, ConnectionError):
        return None
