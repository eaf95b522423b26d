"""`arena bot submit|register|watch`: bots on their way to a server."""

from __future__ import annotations

import gzip
import shutil
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from botarena.v1 import api_bots_pb2 as api

from arena.bots.archive import ArchiveError, pack
from arena.bots.reference import MANIFEST, BotReferenceError, BotSpec, code_files, resolve
from arena.cli.common import leave
from arena.cli.output import OUT
from arena.cli.remote import AGAIN_S, unbroken
from arena.cli.roster import VersionArgument, catalog, state_of, state_text, version_row
from arena.cli.tables import plain_table
from arena.errors import CheckFailedError, UsageError
from arena.text import printable
from arena.units import size_text

if TYPE_CHECKING:
    from botarena.v1.api_bots_pb2_grpc import BotCatalogServiceStub

_PIECE = 64 << 10
_MOST = 1 << 30
_LAST_LINES = 20
_ON_ITS_WAY = ("uploaded", "building", "checking")

NameOption = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What it is called there; as here if left out.")
]
NotesOption = Annotated[str, typer.Option("--notes", metavar="TEXT", help="A line about this version.")]
GameOption = Annotated[
    list[str] | None,
    typer.Option("--game", metavar="GAME", help="A game that it plays; any if left out. Not for code."),
]


def submit(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="DIR|FILE.py|docker:IMAGE", help="./dir (with bot.toml), ./bot.py or an image."
        ),
    ],
    name: NameOption = None,
    notes: NotesOption = "",
    game: GameOption = None,
    activate: Annotated[
        bool, typer.Option("--activate/--no-activate", help="Let it play once it is checked.")
    ] = True,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Follow it until it plays, or failed.")
    ] = True,
    on_engine: Annotated[
        bool, typer.Option("--on-engine", help="For organisers: the server's engine has the image.")
    ] = False,
) -> None:
    """Send a bot to a server, where it is built, checked, and plays from then on."""
    head = api.SubmissionHead(bot=name or "", notes=notes, inactive=not activate)
    with catalog() as bots:
        if on_engine:
            version = _name_image(bots, bot, head, game or [])
        elif bot.startswith("docker:"):
            version = _send_image(bots, resolve(bot), head, game or [])
        else:
            version = _send_code(bots, bot, head)
        if watch:
            _follow(bots, version.reference)
        else:
            _show(version)


def register(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the bot is called.")],
    version: Annotated[str, typer.Option("--as", metavar="TEXT", help="What you call this version.")] = "",
    game: GameOption = None,
    notes: NotesOption = "",
    mixed: Annotated[
        bool | None,
        typer.Option("--mixed/--not-mixed", help="Let it play beside bots that run on the server."),
    ] = None,
) -> None:
    """Make a bot, or a version of one, that dials in from somewhere else."""
    request = api.RegisterRemoteBotRequest(
        bot=name, version=version, games=game or [], notes=notes, mixed=mixed
    )
    with catalog() as bots:
        _show(bots.RegisterRemoteBot(request).version)
    OUT.say("let it dial in: python mybot.py --server HOST:PORT")


def watch(version: VersionArgument) -> None:
    """Follow a version until it plays, or failed; without @N the newest."""
    with catalog() as bots:
        _follow(bots, version)


def _send_code(bots: BotCatalogServiceStub, reference: str, head: api.SubmissionHead) -> api.ServerBotVersion:
    path = Path(reference).expanduser()
    if not path.exists() or reference.startswith(("house:", "cmd:")):
        raise UsageError(
            f"{reference} cannot be submitted",
            "it is neither a folder nor a file of Python",
            "give ./dir (with bot.toml), ./bot.py or docker:IMAGE",
        )
    spec = resolve(reference)
    if spec.image:
        return _send_image(bots, spec, head, spec.games)
    head.bot = head.bot or spec.name
    with _packed(spec, path) as (archive, size):
        head.size = size

        def send() -> api.SubmitBotResponse:
            archive.seek(0)
            pieces = _tracked(iter(lambda: archive.read(_PIECE), b""), head)
            return bots.SubmitBot(_requests(api.SubmitBotRequest, head, pieces))

        return _taken(unbroken(send))


def _send_image(
    bots: BotCatalogServiceStub, spec: BotSpec, head: api.SubmissionHead, games: Sequence[str]
) -> api.ServerBotVersion:
    from arena.bots.images import image_size, saved  # it talks to the container engine

    head.bot = head.bot or spec.name
    head.size = image_size(spec.image)
    first = api.ImageHead(submission=head, games=games)

    def send() -> api.SubmitImageResponse:
        with saved(spec.image) as pieces:
            told = _tracked(_cut(pieces), head)
            return bots.SubmitImage(_requests(api.SubmitImageRequest, first, told))

    return _taken(unbroken(send))


def _name_image(
    bots: BotCatalogServiceStub, image: str, head: api.SubmissionHead, games: Sequence[str]
) -> api.ServerBotVersion:
    if not head.bot:
        raise UsageError("the bot has no name", "an image of the server's says none", "add --name NAME")
    first = api.ImageHead(submission=head, games=games, image=image.removeprefix("docker:"))
    return _taken(bots.SubmitImage(_requests(api.SubmitImageRequest, first, ())))


def _taken(reply: api.SubmitBotResponse | api.SubmitImageResponse) -> api.ServerBotVersion:
    OUT.say(f"it is {reply.version.reference}" + (", which was there already" if reply.again else ""))
    return reply.version


def _requests(kind: Any, head: Any, pieces: Iterator[bytes] | Sequence[bytes]) -> Iterator[Any]:
    yield kind(head=head)
    for piece in pieces:
        yield kind(chunk=piece)


def _cut(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Bytes in pieces of one size."""
    held = b""
    for piece in pieces:
        held += piece
        while len(held) >= _PIECE:
            yield held[:_PIECE]
            held = held[_PIECE:]
    if held:
        yield held


def _tracked(pieces: Iterator[bytes], head: api.SubmissionHead) -> Iterator[bytes]:
    """Pieces as they are sent, while it is shown how far that is."""
    title = f"sending {head.bot} ({head.size / 1e6:.1f} MB, pieces of {size_text(_PIECE)})"
    return OUT.track(pieces, max(1, -(-head.size // _PIECE)), title)


@contextmanager
def _packed(spec: BotSpec, path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A bot's code as it is sent, and its size in bytes, until the end of the block."""
    with TemporaryDirectory() as made, TemporaryFile() as plain, TemporaryFile() as archive:
        folder = Path(spec.folder)
        if path.is_file():
            folder = _folder_of(spec, path, Path(made))
        try:
            pack(code_files(folder), folder, _MOST, plain)
        except (ArchiveError, OSError) as error:
            raise BotReferenceError(f"{spec.name} cannot be sent", str(error), "see to its files") from None
        with gzip.GzipFile(fileobj=archive, mode="wb", mtime=0, filename="") as compressed:
            shutil.copyfileobj(plain, compressed)
        size = archive.tell()
        archive.seek(0)
        yield archive, size


def _folder_of(spec: BotSpec, script: Path, folder: Path) -> Path:
    """A folder for a bot that is a single file."""
    if script.suffix != ".py":
        raise UsageError(
            f"{script} cannot be submitted",
            "a single file must be one of Python",
            f"put it into a folder with a {MANIFEST}",
        )
    shutil.copyfile(script, folder / "main.py")
    (folder / MANIFEST).write_text(
        f'name = "{spec.name}"\nlanguage = "python"\ncommand = ["python3", "main.py"]\n'
    )
    return folder


def _follow(bots: BotCatalogServiceStub, reference: str) -> None:
    """Follow a version to the end of its way, show it, and leave with what came of it."""
    following = _Following(bots, reference)
    version = unbroken(following.step)
    while state_of(version) in _ON_ITS_WAY:
        time.sleep(AGAIN_S)  # the server is ending, and another one will go on with it
        version = unbroken(following.step)
    if state_of(version) == "failed":
        _show_log(bots, version, following.said)
    _show(version)
    leave(CheckFailedError.code if state_of(version) in ("failed", "barred") else 0)


class _Following:
    """Follows a version, perhaps over several servers.

    Args:
        bots: the service.
        reference: of the version; without a number the newest.

    Attributes:
        said: the last lines that were said about it.
    """

    def __init__(self, bots: BotCatalogServiceStub, reference: str) -> None:
        self._bots = bots
        self._reference = reference
        self.said: deque[str] = deque(maxlen=_LAST_LINES)

    def step(self) -> api.ServerBotVersion:
        """Follow it as long as the server tells of it; the version as it is then."""
        version = api.ServerBotVersion()
        for news in self._bots.WatchVersion(api.WatchVersionRequest(reference=self._reference)):
            if news.HasField("version"):
                version = news.version
                self._reference = version.reference
                OUT.say(state_text(version_row(version)))
            else:
                self.said.append(news.line)
                OUT.say(f"  {printable(news.line)}")
        return version


def _show_log(bots: BotCatalogServiceStub, version: api.ServerBotVersion, said: Collection[str]) -> None:
    """The last lines of what is known of a failure, unless they were said just now."""
    found = bots.GetVersion(api.GetVersionRequest(reference=version.reference))
    lines = (found.build_log + found.check_log).splitlines()[-_LAST_LINES:]
    for line in lines:
        if line not in said:
            OUT.say(f"  {printable(line)}")
    OUT.say(f"see all of it: arena bot logs {version.reference}")


def _show(version: api.ServerBotVersion) -> None:
    row = version_row(version)
    if OUT.json or OUT.csv:
        OUT.table("version", [row], lambda: plain_table((), ()))
    else:
        OUT.text(state_text(row))
