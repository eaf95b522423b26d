"""A worker's process and its pipes.

It loads no more than it needs, not even the event loop: the first worker starts before all else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from arena.tournament.frames import pack

if TYPE_CHECKING:
    import asyncio

_PATIENCE_S = 20.0
"""How long a worker may take to end its bots and itself, in seconds."""


class WorkerProcess:
    """A worker's process, which may be started before there is an event loop.

    Args:
        command: program and arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # nothing may be left in a buffer of ours when the event loop takes the pipe
            start_new_session=True,  # Ctrl-C is for us: we end the workers in order
        )
        self._is_set_up = False
        self._input: asyncio.WriteTransport | None = None

    def set_up(self, setup: bytes) -> None:
        """Send it its first frame, if it has none yet."""
        if self._is_set_up:
            return
        self._is_set_up = True
        assert self._process.stdin is not None
        data = pack(setup)
        with suppress(OSError):  # it died: whoever reads from it is told
            while data:
                data = data[os.write(self._process.stdin.fileno(), data) :]

    async def attach(self) -> asyncio.StreamReader:
        """Take its pipes onto the running event loop; what it writes."""
        import asyncio

        loop = asyncio.get_running_loop()
        output = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(output), self._process.stdout)
        self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._process.stdin)
        return output

    def send(self, data: bytes) -> None:
        """Send it a frame, once its pipes are on the event loop."""
        assert self._input is not None
        self._input.write(pack(data))

    def close_input(self) -> None:
        """Close its input, which ends it and its bots."""
        if self._input is not None:
            self._input.close()

    async def wait(self, seconds: float = _PATIENCE_S) -> int:
        """Wait until it has ended, and end it if that takes too long; its exit code."""
        import asyncio

        ending = asyncio.create_task(asyncio.to_thread(self._process.wait))
        ended, _ = await asyncio.wait({ending}, timeout=seconds)
        if not ended:
            self._process.kill()
        return await ending

    def end(self) -> None:
        """End it before it was taken onto an event loop."""
        if self._is_set_up:
            assert self._process.stdin is not None
            self._process.stdin.close()
        else:
            self._process.kill()  # it has no bots yet: nothing is left behind
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
