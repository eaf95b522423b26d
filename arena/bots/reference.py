"""References to bots: what a person writes on the command line, and what it stands for."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.bots.limits import BOT_KEYS, BotLimits, read_table
from arena.errors import NotFoundError, UsageError

SYNTAX = "./dir (with bot.toml), ./bot.py, module:Class, 'cmd:./mybot --fast', docker:IMAGE or house:NAME"

_NAME = re.compile(r"[\w][\w.+-]{0,39}")
_KEYS = {
    "name": str,
    "version": str,
    "description": str,
    "games": list,
    "language": str,
    "build": list,
    "command": list,
    "image": str,
    "threads": int,
    "limits": dict,
    "author": dict,
}
# Digesting a bot's folder must not take for ever, and these are no part of what it is.
_NOT_CODE = {"__pycache__", ".git", "node_modules", ".venv", "target"}
_MAX_FILES = 2000

MANIFEST = "bot.toml"
"""What says in a bot's folder what the bot is."""


_REMOTE = "remote:"


class BotReferenceError(UsageError):
    """A reference or a bot.toml that cannot mean a bot."""


class BotNotFoundError(NotFoundError):
    """There is nothing where the reference points."""


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot that can be started.

    Attributes:
        reference: what the person wrote, files by their whole path: with the folder, it finds the bot again.
        name: its name in the tournament.
        version: what identifies its code: the author's version and a digest of its files.
        command: the program and its arguments; empty: an image of somebody's own, which has a command itself.
        folder: where it is started.
        games: names of the games that it plays; empty means any.
        description: a line about it.
        threads: how many cores it keeps busy while it thinks.
        language: what it is written in, as its bot.toml says.
        limits: what it may use of the machine.
        build: the command that builds it for a container; empty: what is usual in its language.
        image: the image of a container that it runs in, by digest; empty: none yet.
        sandbox: the level of its sandbox: kept with it, so that it never goes on with less.
    """

    reference: str
    name: str
    version: str
    command: tuple[str, ...]
    folder: str
    games: tuple[str, ...] = ()
    description: str = ""
    threads: int = 1
    language: str = ""
    limits: BotLimits = field(default_factory=BotLimits)
    build: tuple[str, ...] = ()
    image: str = ""
    sandbox: str = "none"

    @property
    def is_remote(self) -> bool:
        """Whether it dials in by itself, and cannot be started."""
        return self.reference.startswith(_REMOTE)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> BotSpec:
        """The bot that `to_json` wrote."""
        limits = BotLimits(**data.get("limits", {}))  # those that were stored before had none
        lists = {key: tuple(data.get(key, ())) for key in ("command", "games", "build")}
        return cls(**{**data, **lists, "limits": limits})


def resolve_all(references: Sequence[str], game: str) -> list[BotSpec]:
    """The bots that references stand for, each with a name of its own.

    Args:
        references: as written by a person.
        game: name of the game that they shall play.

    Raises:
        BotReferenceError: one stands for no bot, or for one that does not play the game.
    """
    specs: list[BotSpec] = []
    for reference in references:
        spec = resolve(reference)
        if spec.games and game not in spec.games:
            raise BotReferenceError(
                f"{reference} does not play {game}",
                f"its bot.toml names {', '.join(spec.games)}",
                "choose another bot, or add the game to its bot.toml",
            )
        specs.append(replace(spec, name=free_name(spec.name, {other.name for other in specs})))
    return specs


def resolve(reference: str) -> BotSpec:
    """The bot that a reference stands for.

    Raises:
        BotReferenceError: it stands for none.
    """
    kind, colon, rest = reference.partition(":")
    if kind == "house" and colon:
        return _house(reference, rest)
    if kind == "cmd" and colon:
        return _command(reference, rest)
    if kind == "docker" and colon:
        return _image(reference, rest)
    path = Path(reference).expanduser()
    if path.is_dir():
        return _folder(reference, path)
    if path.is_file():
        return _script(reference, path)
    if colon and "/" not in reference and all(part.isidentifier() for part in kind.split(".")):
        return _module(reference, kind, rest)
    raise BotNotFoundError(
        f"there is no bot {reference!r}", "no such file or folder", f"give a bot as {SYNTAX}"
    )


def current_version(spec: BotSpec) -> str:
    """The version that a bot's code has now; it differs from the spec's if the code was changed since.

    Raises:
        BotNotFoundError: the code is gone.
    """
    if not spec.command:
        _pinned(spec.image)  # what its name means by now does not matter, but the image must be there
        return spec.version
    if not Path(spec.folder).is_dir():
        raise BotNotFoundError(f"the bot {spec.name} is gone", f"there is no {spec.folder}", "put it back")
    with contextlib.chdir(spec.folder):
        return resolve(spec.reference).version


def code_paths(spec: BotSpec) -> list[Path]:
    """The files and folders that a bot is made of: all that it needs beside its language."""
    kind, colon, _ = spec.reference.partition(":")
    folder = Path(spec.folder)
    if kind == "cmd" and colon:
        return [folder / word for word in spec.command if (folder / word).is_file()]
    if kind == "house" or Path(spec.reference).is_dir():
        return [folder]
    if Path(spec.reference).is_file():
        return [Path(spec.reference)]
    top = kind.partition(".")[0]
    found = (folder / top, folder / f"{top}.py")
    return [path for path in found if path.exists()][:1]  # else it is installed, and part of the language


def house_names() -> list[str]:
    """Names of the bots that come with the arena."""
    folder = _house_folder()
    return sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}"))


def _house_folder() -> Path:
    package = Path(__file__).resolve().parent.parent
    inside = package / "house"
    return inside if inside.is_dir() else package.parent / "bots"


def _house(reference: str, name: str) -> BotSpec:
    if name not in house_names():
        raise BotNotFoundError(
            f"there is no bot {reference!r}",
            "no house bot has this name",
            f"choose one of {', '.join(house_names())}",
        )
    return _folder(reference, _house_folder() / name)


def _folder(reference: str, path: Path) -> BotSpec:
    manifest = path / MANIFEST
    if not manifest.is_file():
        raise BotNotFoundError(
            f"{reference} is no bot",
            f"the folder has no {MANIFEST}",
            "write one with at least name and command",
        )
    values = _read_manifest(manifest)
    image = _pinned(values["image"]) if "image" in values else ""
    code = _digest(code_files(path), path, image.encode())
    threads = values.get("threads", 1)
    # Who keeps several cores busy asks for them, unless he says otherwise.
    limits = {"cpus": threads, **values.get("limits", {})}
    return BotSpec(
        reference=reference if reference.startswith("house:") else str(path.resolve()),
        name=values["name"],
        version="+".join(filter(None, [values.get("version", ""), code])),
        command=tuple(values.get("command", ())),
        folder=str(path.resolve()),
        games=tuple(values.get("games", ())),
        description=values.get("description", ""),
        threads=threads,
        language=values.get("language", ""),
        limits=BotLimits(**read_table(str(manifest), "[limits]", limits, BOT_KEYS, BotReferenceError)),
        build=tuple(values.get("build", ())),
        image=image,
    )


def _read_manifest(manifest: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(manifest.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BotReferenceError(
            f"{manifest} cannot be read", str(error), "mend it: it must be TOML"
        ) from None
    if isinstance(values.get("command"), str):
        values["command"] = _words(values["command"])
    if isinstance(values.get("build"), str):
        values["build"] = ["sh", "-c", values["build"]]
    for key, value in values.items():
        if key not in _KEYS:
            raise BotReferenceError(
                f"{manifest} cannot be used",
                f"it has an unknown key {key!r}",
                f"use only {', '.join(_KEYS)}",
            )
        if not isinstance(value, _KEYS[key]):
            raise BotReferenceError(
                f"{manifest} cannot be used",
                f"{key} is {value!r}",
                f"make it a {_KEYS[key].__name__}",
            )
    if not _NAME.fullmatch(values.get("name", "")):
        raise BotReferenceError(
            f"{manifest} cannot be used",
            f"name is {values.get('name')!r}",
            "give it 1 to 40 letters, digits or .+-_, the first a letter or a digit",
        )
    if values.get("threads", 1) < 1:
        raise BotReferenceError(
            f"{manifest} cannot be used",
            f"threads is {values['threads']}",
            "make it the number of cores that the bot keeps busy, at least 1",
        )
    if "image" in values:
        _check_alone(manifest, values)
    else:
        _check_words(manifest, "command", values.get("command"))
    if "build" in values:
        _check_words(manifest, "build", values["build"])
    return values


def _words(line: str) -> list[str]:
    """The words of a command as a shell would take them."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise BotReferenceError(
            f"{line!r} is no command", str(error).lower(), "close its quotes, or write it as a list of words"
        ) from None


def _check_words(manifest: Path, key: str, words: object) -> None:
    """Whether a command is one."""
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise BotReferenceError(
            f"{manifest} cannot be used",
            f"{key} is {words!r}",
            'make it a list of words such as ["python3", "main.py"]',
        )


def _check_alone(manifest: Path, values: dict[str, Any]) -> None:
    """Whether a bot that is an image says nothing of how one is made or started."""
    if beside := [key for key in ("command", "build", "language") if key in values]:
        raise BotReferenceError(
            f"{manifest} cannot be used",
            f"it has an image, which is built and has its own command, and {' and '.join(beside)}",
            "leave out one or the other",
        )


def _script(reference: str, path: Path) -> BotSpec:
    """A single file: Python by its ending, else whatever the system makes of it."""
    path = path.resolve()
    command = (sys.executable, str(path)) if path.suffix == ".py" else (str(path),)
    return BotSpec(str(path), _clean_name(path.stem), _digest([path], path.parent), command, str(path.parent))


def _module(reference: str, module: str, attribute: str) -> BotSpec:
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    finally:
        sys.path.pop(0)
    if found is None or found.origin is None or not Path(found.origin).is_file():
        raise BotNotFoundError(
            f"there is no bot {reference!r}",
            f"no module {module!r} can be found from here",
            f"give a bot as {SYNTAX}",
        )
    if not attribute.isidentifier():
        raise BotReferenceError(
            f"there is no bot {reference!r}", "it names no class or function", "write it as module:Class"
        )
    origin = Path(found.origin)
    command = (sys.executable, "-m", "botarena", reference)
    return BotSpec(
        reference, _clean_name(attribute), _digest([origin], origin.parent), command, str(Path.cwd())
    )


def _command(reference: str, line: str) -> BotSpec:
    words = _words(line)
    if not words:
        raise BotReferenceError(
            "there is no bot 'cmd:'", "it names no program", "write it as 'cmd:./mybot --fast'"
        )
    files = [Path(word).resolve() for word in words if Path(word).is_file()]
    digest = _digest(files, Path.cwd(), line.encode())
    return BotSpec(reference, _clean_name(Path(words[0]).stem), digest, tuple(words), str(Path.cwd()))


def _image(reference: str, name: str) -> BotSpec:
    """An image that somebody made: what it is now, whatever its name will mean later."""
    image = _pinned(name)
    name = _clean_name(name.partition("@")[0].rpartition("/")[2].partition(":")[0])
    return BotSpec(reference, name, _digest([], Path(), image.encode()), (), str(Path.cwd()), image=image)


def _pinned(name: str) -> str:
    from arena.bots.images import pin  # it talks to the container engine, which no other bot needs

    return pin(name)


def code_files(folder: Path) -> list[Path]:
    """Files that are a bot's code, in their order: no links, nothing that runs or builds leave behind.

    Raises:
        BotReferenceError: they are too many.
    """
    files = sorted(_walk(folder))
    if len(files) > _MAX_FILES:
        raise BotReferenceError(
            f"{folder} is no bot's folder",
            f"it has more than {_MAX_FILES} files",
            "put the bot alone into a folder",
        )
    return files


def is_code(path: str) -> bool:
    """Whether a file with this path in a bot's folder is part of its code."""
    return _NOT_CODE.isdisjoint(path.split("/"))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in _NOT_CODE or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _digest(files: Iterable[Path], base: Path, extra: bytes = b"") -> str:
    """Twelve hex digits that change whenever a file does."""
    digest = hashlib.sha256(extra)
    for path in files:
        name = str(path.relative_to(base)) if path.is_relative_to(base) else str(path)
        digest.update(name.encode(errors="surrogateescape") + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _clean_name(text: str) -> str:
    """A valid name made of any text."""
    name = re.sub(r"[^\w.+-]", "-", text)[:40].lstrip(".+-")
    return name or "bot"


def free_name(name: str, taken: set[str]) -> str:
    """The name, or with the first number from 2 on that makes it free."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name[:36]}-{number}"
    return free
