"""The gRPC gateway: a server and a socket for each bot, where it dials in for its conversation.

What a bot can open at all is bounded here; what it says on a stream is `conversation.py`'s business.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import grpc

from arena.bots.conversation import MAX_FRAME_BYTES, Context, Conversations, Guest, play_handlers
from arena.bots.launcher import SOCKET
from arena.bots.orphans import LOCK, abandoned
from arena.match.host import Absent, TableHost

_FAREWELL_S = 0.5

_OPTIONS = (
    # Somewhat more than the protocol allows, so that a bot which sends too much hears why.
    ("grpc.max_receive_message_length", 4 * MAX_FRAME_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),
    # A bot needs one connection and one stream, and while it resumes another of each.
    ("grpc.max_allowed_incoming_connections", 8),
    ("grpc.max_concurrent_streams", 8),
    ("grpc.max_metadata_size", 4 << 10),
    ("grpc.absolute_max_metadata_size", 8 << 10),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 2),
)


class Gateway:
    """gRPC servers for the bots of one host: each life of a bot has a socket and a folder of its own."""

    def __init__(self, host: TableHost) -> None:
        self._conversations = Conversations(host)
        self._doors: dict[Guest, grpc.aio.Server] = {}
        self._folder = _SocketFolder()

    async def stop(self) -> None:
        """Say goodbye to everybody and close all sockets."""
        for guest in self._doors:
            self._conversations.say_goodbye(guest, "the arena is closing")
        await asyncio.gather(*(self.dismiss(guest) for guest in list(self._doors)))
        self._folder.remove()

    async def expect(
        self, name: str, lost: Callable[[Absent | None], None], stuck: Callable[[], None]
    ) -> Guest:
        """Open a socket, and let the bot in that shows the token of the guest that is returned."""
        guest = Guest(name, self._folder.make(), lost, stuck, asyncio.get_running_loop().create_future())
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers((play_handlers(partial(self._play, guest)),))
        socket = guest.folder / SOCKET
        server.add_insecure_port(f"unix:{socket}")
        self._doors[guest] = server
        await server.start()
        # Bots may run as other users; what keeps strangers out is the token.
        socket.chmod(0o666)
        return guest

    def expect_no_return(self, guest: Guest) -> None:
        """Its process has ended, so it will not resume."""
        self._conversations.expect_no_return(guest)

    async def dismiss(self, guest: Guest) -> None:
        """Its token is good for nothing from now on, and its socket is gone."""
        self._conversations.part(guest)
        server = self._doors.pop(guest, None)
        if server is not None:
            await server.stop(_FAREWELL_S)
            shutil.rmtree(guest.folder, ignore_errors=True)

    async def _play(self, guest: Guest, _requests: object, context: Context) -> None:
        await self._conversations.play(guest, context)


class _SocketFolder:
    """A folder for sockets, with an unguessable name, locked for as long as we live.

    Folders that nobody holds locked were left by an arena that was killed; they are removed here.
    """

    _PREFIX = "arena-sock-"
    _UNNAMED = "arena-new-"
    _NAMED_WITHIN_S = 60

    def __init__(self) -> None:
        base = Path("/tmp")  # TMPDIR may be long, and the path of a unix socket must be short
        for old in base.glob(self._PREFIX + "*"):
            with abandoned(old) as is_orphan:
                if is_orphan:
                    shutil.rmtree(old, ignore_errors=True)
        for unfinished in base.glob(self._UNNAMED + "*"):
            self._remove_if_old(unfinished)
        # It gets its name once it is locked, so that nobody can take it for an orphan.
        unnamed = Path(tempfile.mkdtemp(prefix=self._UNNAMED, dir=base))
        self._lock = os.open(unnamed / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.chmod(0o711)
        self.path = unnamed.rename(base / (self._PREFIX + secrets.token_urlsafe(12)))

    def _remove_if_old(self, unnamed: Path) -> None:
        """Remove a folder whose arena was killed before it gave it a name."""
        with suppress(OSError):  # it has got it, or is gone
            if time.time() - unnamed.stat().st_mtime > self._NAMED_WITHIN_S:
                shutil.rmtree(unnamed, ignore_errors=True)

    def make(self) -> Path:
        """A folder in it for one socket, which only those find who are told its name."""
        folder = self.path / secrets.token_urlsafe(6)
        folder.mkdir(mode=0o711)
        return folder

    def remove(self) -> None:
        """Remove it at the end."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
