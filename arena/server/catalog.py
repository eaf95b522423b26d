"""Bots of a server as they are started: what a reference stands for, and how it is held."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Lock

from arena.bots.images import pin
from arena.bots.organiser import Organiser
from arena.bots.reference import MANIFEST, BotReferenceError, BotSpec, house_names, resolve
from arena.bots.sandbox import CONTAINERS, LEVELS
from arena.errors import StateError, UsageError
from arena.games import find_game
from arena.runs.custody import Custody, Tell, confine, silent
from arena.runs.images import forget, made
from arena.server.shelf import Shelf
from arena.store.roster import ARCHIVE, IMAGE, PLAYABLE, REMOTE, Roster, RosterVersion
from arena.store.stored import StoredBot
from arena.text import printable

_REFERENCE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39})(?:@([1-9][0-9]{0,8}))?", re.ASCII)
_LONGEST_VERSION = 80
_LONGEST_MANIFEST = 64 << 10


class Catalog:
    """The bots that can play on a server.

    Args:
        roster: the submitted ones.
        shelf: where their code lies.
        custody: how they are held; the level of a sandbox that is not named is none.
    """

    def __init__(self, roster: Roster, shelf: Shelf, custody: Custody) -> None:
        self.roster = roster
        self._shelf = shelf
        self._custody = custody
        self._house: dict[str, BotSpec] = {}
        self._lock = Lock()

    @property
    def level(self) -> str:
        """The level of the sandbox that bots are held in."""
        return self._custody.level or LEVELS[0]

    def entrant(self, reference: str, game: str) -> StoredBot:
        """A bot as it takes part in a tournament, checked to be playable.

        Args:
            reference: `house:greedy`, `mybot` for its active version, or `mybot@3`.
            game: name of the game.

        Raises:
            NotFoundError: there is no such bot or version.
            StateError: it may not play now.
            UsageError: the reference means nothing, or the bot does not play the game.
            ArenaError: the machine cannot make it ready.
        """
        find_game(game)
        kind, colon, name = reference.partition(":")
        if colon and kind == "house":
            spec = self.house_bot(name)
            _check_game(spec.name, spec.games, game)
            return StoredBot(spec.name, spec.version, spec.to_json())
        version = self.version(reference)
        self._check_playable(version)
        _check_game(version.reference, version.games, game)
        spec = replace(self.spec(version), name=version.reference)
        return StoredBot(
            version.reference, spec.version, spec.to_json(), owner=version.owner, entry=version.id
        )

    def ready(self, bot: StoredBot) -> StoredBot:
        """A bot of a tournament that goes on, with its code where this server has it.

        Raises:
            ArenaError: the machine cannot make it ready.
        """
        if bot.entry is None:
            return bot
        version = self.roster.version_by_id(bot.entry)
        if version.kind != ARCHIVE or version.digest is None:
            return bot
        folder = str(self._shelf.folder(version.digest))
        return replace(bot, spec={**bot.spec, "reference": folder, "folder": folder})

    def version(self, reference: str) -> RosterVersion:
        """The version that `mybot` or `mybot@3` means.

        Raises:
            UsageError: it means nothing.
            NotFoundError: there is none.
        """
        name, number = split_reference(reference)
        return self.roster.version(name, number)

    def house_bot(self, name: str) -> BotSpec:
        """A bot that comes with the arena.

        Raises:
            NotFoundError: there is none.
            ArenaError: the machine cannot make it ready.
        """
        with self._lock:  # it may have to be built
            if name not in self._house:
                self._house[name] = confine([resolve(f"house:{name}")], self._custody)[0]
            return self._house[name]

    def spec(self, version: RosterVersion) -> BotSpec:
        """A version that was built as it is started, whether it may play or not.

        Raises:
            ArenaError: the machine cannot make it ready.
        """
        spec = BotSpec.from_json(version.spec)
        if version.kind == REMOTE:
            return spec
        if version.kind == ARCHIVE and version.digest is not None:
            folder = str(self._shelf.folder(version.digest))
            spec = replace(spec, reference=folder, folder=folder)
        return confine([spec], self._custody)[0]

    def build(
        self, version: RosterVersion, tell: Tell = silent, keep: Callable[[str], object] = forget
    ) -> BotSpec:
        """Make a version that was submitted ready to be started.

        Args:
            version: the version.
            tell: takes how far it is, line by line.
            keep: takes all that a build wrote.

        Raises:
            UsageError, BuildFailedError, GameError: it cannot be, by its own doing.
            ArenaError: the machine does not do its part.
        """
        spec = self._image(version) if version.kind == IMAGE else self._code(version)
        for game in spec.games:
            find_game(game)
        spec = replace(spec, name=version.reference, sandbox=self.level)
        if self.level in CONTAINERS:
            spec = made(spec, (self._custody.organiser or Organiser()).build, tell, keep=keep).bot
        return confine([spec], self._custody, tell)[0]

    def _code(self, version: RosterVersion) -> BotSpec:
        assert version.digest is not None
        folder = self._shelf.folder(version.digest)
        try:
            _check_manifest((folder / MANIFEST).read_bytes())
            spec = resolve(str(folder))
        except BotReferenceError as error:
            # Where the server keeps it is nobody's business.
            why = (error.what, error.why)
            what, why_text = (text.replace(f"{folder}/", "") for text in why)
            raise BotReferenceError(what, why_text, error.do) from None
        _check_texts(spec)
        if spec.build and self.level not in CONTAINERS:
            raise BotReferenceError(
                f"{version.reference} cannot be built",
                f"this server holds bots at level {self.level}, where nothing is built",
                f"send it built, without build in {MANIFEST}",
            )
        return spec

    def _image(self, version: RosterVersion) -> BotSpec:
        spec = BotSpec.from_json(version.spec)
        return replace(spec, image=pin(spec.image))

    def _check_playable(self, version: RosterVersion) -> None:
        bot = self.roster.bot(version.bot)
        if bot.disabled_us is not None:
            raise StateError(f"{bot.name} cannot play", "it is disabled", "choose another bot, or enable it")
        if version.state not in PLAYABLE:
            raise StateError(
                f"{version.reference} cannot play",
                f"it is {version.state}",
                f"choose another version: arena bot versions {bot.name}",
            )


def split_reference(reference: str) -> tuple[str, int | None]:
    """Name and number of what `mybot@3` or `mybot` means; None: the active version.

    Raises:
        UsageError: it means nothing.
    """
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise UsageError(
            f"{printable(reference[:80])!r} is no bot of a server",
            "it is neither like mybot, mybot@3 nor house:greedy",
            "see what there is: arena bot list",
        )
    return found[1], int(found[2]) if found[2] else None


def reserved_names() -> list[str]:
    """Names that no submitted bot may have, nor one that looks like one of them."""
    return house_names()


def image_spec(name: str, image: str, games: tuple[str, ...]) -> BotSpec:
    """A bot that is an image.

    Args:
        name: of the bot.
        image: the image's digest, as the engine has it.
        games: that it plays; none: any.
    """
    version = image.removeprefix("sha256:")[:12]
    return BotSpec(f"docker:{image}", name, version, (), "/", games, image=image)


def remote_spec(name: str, version: str, games: tuple[str, ...]) -> BotSpec:
    """A bot that dials in.

    Args:
        name: of the bot.
        version: what its author calls this version.
        games: that it plays; none: any.
    """
    return BotSpec(f"remote:{name}", name, version, (), "/", games)


def _check_game(name: str, games: tuple[str, ...], game: str) -> None:
    if games and game not in games:
        raise UsageError(
            f"{name} does not play {game}", f"it plays {', '.join(games)}", "choose another bot, or game"
        )


def _check_manifest(data: bytes) -> None:
    """Whether a stranger's manifest may be read as one: an image in it would be anybody's."""
    refuse = partial(BotReferenceError, f"{MANIFEST} cannot be used")
    if len(data) > _LONGEST_MANIFEST:
        raise refuse(f"it is larger than {_LONGEST_MANIFEST} bytes", "make it shorter")
    try:
        names_image = "image" in tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refuse(str(error), "mend it: it must be TOML") from None
    if names_image:
        raise refuse(
            "it names an image, and this server has images of others",
            "submit the image itself: arena bot submit docker:IMAGE",
        )


def _check_texts(spec: BotSpec) -> None:
    """Whether what others are shown of a bot is short, and nothing but text."""
    refuse = partial(BotReferenceError, f"{MANIFEST} cannot be used")
    for key, text, most in (
        ("version", spec.version, _LONGEST_VERSION),
        ("description", spec.description, 400),
        ("language", spec.language, 40),
    ):
        if len(text) > most or not text.isprintable():
            raise refuse(f"{key} is too long, or has characters that cannot be shown", f"shorten {key}")
    if not all(isinstance(game, str) for game in spec.games):
        raise refuse("games is no list of names", 'write it like games = ["koffer"]')
