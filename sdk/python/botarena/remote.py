"""Play on a server from anywhere: dial in, be seated, and dial again for ever when the line breaks."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from botarena.runner import OPTIONS, Conversation, load_grpc
from botarena.table import NewBot, Table

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 30.0
"""How long a broken line is left alone; each further try waits twice as long, up to the second, and at random
up to a half more, so that a thousand bots do not all come at once to a server that is back."""
TOLD_EVERY_S = 10.0
"""How many matches were played is told when none is running, and no more often than this."""

_ALWAYS = ("UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED")
_AT_HELLO = ("NOT_FOUND", "INVALID_ARGUMENT", "FAILED_PRECONDITION")
"""Statuses that another try does not change: in any case, and before a welcome."""
_SESSION_OVER = ("FAILED_PRECONDITION", "PERMISSION_DENIED")
_ALIVE = (
    # A line that is dead without a word is found out within a minute.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 15_000),
)


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and as whom to play there.

    Attributes:
        address: HOST:PORT.
        token: the owner's, with the scope bot:play.
        bot: name of the bot; "": the only remote one of the owner.
        version: the author's name for the version; "": the one that the program gives.
        tls: whether the line is encrypted.
        roots: certificates that the server's is checked by; None: the system's.
    """

    address: str
    token: str
    bot: str = ""
    version: str = ""
    tls: bool = False
    roots: bytes | None = None

    def __repr__(self) -> str:  # the token is nobody's business
        return f"Server({self.address!r}, bot={self.bot!r})"


def server_in(arguments: Sequence[str]) -> Server | None:
    """The server that a command line or the environment names; None: none.

    What else the line has is the bot's own business.

    Raises:
        SystemExit: with code 0 after `--help`, 2 if what it says cannot be used.
    """
    given, _ = _parser().parse_known_args(arguments)
    if not given.server:
        return None
    host, colon, port = given.server.rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit()):
        _fail(
            2,
            f"{given.server!r} is no server",
            "it is not HOST:PORT",
            "name it like --server example.org:50051",
        )
    is_local = host in ("localhost", "127.0.0.1", "[::1]")
    roots = _read(given.tls_ca, "the file of certificates").encode() if given.tls_ca else None
    tls = roots is not None or not (is_local or given.insecure)
    return Server(given.server, _token(given.token_file), given.name, given.bot_version, tls, roots)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="A bot of Bot Arena. Where no arena has started it, it plays on a server.",
        epilog="It plays whenever it is seated, comes back when the line breaks, and ends on Ctrl-C.",
        allow_abbrev=False,
    )
    for option, variable, text in (
        ("--server", "ARENA_SERVER", "the server, as HOST:PORT"),
        ("--name", "ARENA_BOT", "name of the bot there; without one, your only remote bot"),
        ("--bot-version", "", "your own name for this version of the bot: a new one is rated anew"),
        ("--token-file", "", "file with a token that has the scope bot:play; without one, ARENA_TOKEN"),
        ("--tls-ca", "", "file of certificates that the server's is checked by; without one, the system's"),
    ):
        hint = f"{text} [{variable}]" if variable else text
        parser.add_argument(option, default=os.environ.get(variable, "") if variable else "", help=hint)
    parser.add_argument("--insecure", action="store_true", help="no TLS, also to a server elsewhere")
    return parser


def _token(file: str) -> str:
    token = _read(file, "the token").strip() if file else os.environ.get("ARENA_TOKEN", "")
    if not token or not token.isascii() or not token.isprintable():
        why = f"there is none in {file}" if file else "neither --token-file nor ARENA_TOKEN gives one"
        _fail(2, "this bot has no token", why, "make one: arena token create --scope bot:play")
    return token


def _read(file: str, what: str) -> str:
    try:
        return Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        _fail(2, f"{what} cannot be read", str(error), "name a file that can be")


class NotWantedError(Exception):
    """A server does not let a bot play, and another try would not change that: what, why, and what to do."""

    def __init__(self, what: str, why: str, do: str) -> None:
        super().__init__(what)
        self.what, self.why, self.do = what, why, do


def _fail(code: int, what: str, why: str, do: str) -> NoReturn:
    print(f"error: {what}\nwhy: {why}\ndo: {do}", file=sys.stderr)
    raise SystemExit(code)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def play_remotely(
    server: Server, new_bot: NewBot, games: Sequence[str], concurrency: int, version: str = ""
) -> None:
    """Play on a server until this process is to end.

    Raises:
        SystemExit: with code 1 if the server does not want the bot, 130 on Ctrl-C.
    """
    visit = Visit(server, lambda: Table(new_bot), games, concurrency, version)
    try:
        asyncio.run(visit.go_on())
    except KeyboardInterrupt:
        _tell(f"gone after {_matches(visit.played)}")
        raise SystemExit(130) from None
    except NotWantedError as refused:
        _fail(1, refused.what, refused.why, refused.do)


class Visit(Conversation):
    """On a server, over as many conversations as it takes.

    Args:
        server: the server.
        new_table: makes what plays the matches of a conversation.
        games: names of the games that the bot plays; empty means any.
        concurrency: how many matches it plays at once.
        version: the author's name for the version, if the server's description gives none.
        tell: takes what happens, in a line each.
    """

    def __init__(
        self,
        server: Server,
        new_table: Callable[[], Table],
        games: Sequence[str],
        concurrency: int,
        version: str = "",
        tell: Callable[[str], None] = _tell,
    ) -> None:
        super().__init__(server.address, server.token, new_table(), games, concurrency)
        self._server = server
        self._new_table = new_table
        self._tell = tell
        self._hello.bot = server.bot
        self._hello.bot_version = server.version or version
        self._pause_s = FIRST_PAUSE_S
        self._before = 0
        self._told = 0
        self._told_s = monotonic()
        self._lost = ""

    @property
    def played(self) -> int:
        """Matches that have ended."""
        return self._before + self._table.played

    async def go_on(self) -> None:
        """Play, and come back, for ever.

        Raises:
            NotWantedError: the server does not let the bot play.
        """
        load_grpc()
        while True:
            error = await self._stream()
            code = error.code().name if error is not None else "CLOSED"
            text = (error.details() or "") if error is not None else "the server said goodbye"
            if self._hello.session and not self._welcomed and code in _SESSION_OVER:
                self._forget()  # as the server has
                continue
            if code in _ALWAYS or (code in _AT_HELLO and not self._welcomed):
                raise _not_wanted(self._server.address, code, text)
            self._say_lost(code, text)
            await self._wait()

    def _forget(self) -> None:
        """Begin anew: whatever was being played is over."""
        self._before += self._table.played
        self._table = self._new_table()
        self._hello.session = ""

    async def _wait(self) -> None:
        await asyncio.sleep(self._pause_s * (1 + random.random() / 2))
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)

    def _channel(self) -> Any:
        import grpc

        options = OPTIONS + _ALIVE
        if not self._server.tls:
            return grpc.aio.insecure_channel(self._address, options=options)
        credentials = grpc.ssl_channel_credentials(self._server.roots)
        return grpc.aio.secure_channel(self._address, credentials, options=options)

    # what is told

    def _note(self, frame: bytes) -> None:
        super()._note(frame)
        self._pause_s = FIRST_PAUSE_S
        self._tell(f"{'back' if self._lost else 'connected'} as {self._bot}, waiting for matches")
        self._lost = ""

    def _handled(self) -> None:
        played = self.played
        if played > self._told and self._table.idle and monotonic() - self._told_s >= TOLD_EVERY_S:
            self._told, self._told_s = played, monotonic()
            self._tell(f"{_matches(played)} played")

    def _say_lost(self, code: str, text: str) -> None:
        """Tell that the line is gone: once, until something else is so."""
        if self._lost != code:
            self._tell(f"lost after {_matches(self.played)} ({code}: {text}), dialling again")
        self._lost = code


def _not_wanted(address: str, code: str, text: str) -> NotWantedError:
    """What a status means; servers say in its text why, and after a semicolon what to do."""
    why, _, do = text.rpartition("; ")
    what = f"{address} does not let this bot play ({code})"
    return NotWantedError(what, why, do) if why else NotWantedError(what, text, "look at --server and --name")


def _matches(count: int) -> str:
    return f"{count} match" if count == 1 else f"{count} matches"
