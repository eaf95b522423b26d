"""Images of bots: a folder is built into one, once for each state of its code; others bring their own."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from arena.bots.archive import FOLDER, ArchiveError, digest, pack, repack
from arena.bots.building import BuildFailedError, Tell, container, run_build
from arena.bots.engine import connect, translated
from arena.bots.languages import Recipe, labels, recipe_for
from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotNotFoundError, BotReferenceError, BotSpec, code_files

if TYPE_CHECKING:  # it takes a quarter of a second to load
    from docker import APIClient

REPOSITORY = "botarena/bot"
"""Name of the images of bots; their tags say what they were made of."""

_MOVE_S = 300  # to put a bot into an image; the engine writes as much as a bot may have


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a bot.

    Attributes:
        bot: the bot, which runs in it.
        size_bytes: of all of it, with its base.
        seconds: how long it took to make; 0 if it was there.
        log: what its build wrote; empty if it was there.
    """

    bot: BotSpec
    size_bytes: int
    seconds: float = 0.0
    log: str = ""


def make_image(
    bot: BotSpec, build: BuildLimits, *, fresh: bool = False, tell: Tell = lambda line: None
) -> Image:
    """The image that a bot runs in.

    Args:
        bot: the bot; one at level gvisor is also built there.
        build: limits.
        fresh: whether to build it although there is one for its code.
        tell: takes how far it is, line by line.

    Raises:
        BuildFailedError: it cannot be built, by its own doing.
        BotReferenceError: its reference does not say what belongs to it.
        BotNotFoundError: an image is not there.
        ArenaError: the engine does not do its part.
    """
    client = connect("runsc" if bot.sandbox == "gvisor" else "")
    client.timeout = _MOVE_S
    try:
        return translated(lambda: _Maker(client, build, tell).make(bot, fresh))
    finally:
        client.close()


def pin(name: str) -> str:
    """The digest of an image that is there.

    Args:
        name: as the engine knows it.

    Raises:
        BotNotFoundError: it is not there.
        ArenaError: the engine does not do its part.
    """
    client = connect()
    try:
        return translated(lambda: str(_inspect(client, name)["Id"]))
    finally:
        client.close()


def image_size(name: str) -> int:
    """Size of an image that is there, in bytes.

    Raises:
        BotNotFoundError: it is not there.
        ArenaError: the engine does not do its part.
    """
    client = connect()
    try:
        return translated(lambda: int(_inspect(client, name)["Size"]))
    finally:
        client.close()


@contextmanager
def saved(name: str) -> Iterator[Iterator[bytes]]:
    """An image that is there as `docker save` writes it, piece by piece, until the end of the block.

    Raises:
        BotNotFoundError: it is not there.
        ArenaError: the engine does not do its part.
    """
    client = connect()
    client.timeout = _MOVE_S
    try:
        translated(lambda: _inspect(client, name))
        yield client.get_image(name)
    finally:
        client.close()


def load(archive: IO[bytes], image: str) -> str:
    """Give the engine an image; its digest.

    Args:
        archive: the image as `docker save` writes it, which names no tag: a stranger's would replace ours.
        image: SHA-256 of its configuration, in hexadecimal digits.

    Raises:
        ArenaError: the engine does not do its part, or does not take it.
    """
    client = connect()
    client.timeout = _MOVE_S
    try:
        return translated(lambda: _load(client, archive, image))
    finally:
        client.close()


def _load(client: APIClient, archive: IO[bytes], image: str) -> str:
    for told in client.load_image(archive, quiet=True):
        if "error" in told:
            raise BotReferenceError(
                "the image cannot be used",
                " ".join(str(told["error"]).split()),
                "save it again, and submit it",
            )
    found = str(_inspect(client, f"sha256:{image}")["Id"])
    # Without a name whoever tidies up would remove it.
    client.tag(found, f"{REPOSITORY}-submitted", image[:40])
    return found


class _Maker:
    """Makes images.

    Args:
        client: of the engine.
        build: limits.
        tell: takes how far it is.
    """

    def __init__(self, client: APIClient, build: BuildLimits, tell: Tell) -> None:
        self._client = client
        self._build = build
        self._tell = tell

    def make(self, bot: BotSpec, fresh: bool) -> Image:
        """The image of a bot."""
        if bot.image and not fresh and (found := _find(self._client, bot.image)):
            return Image(bot, found["Size"])
        if not bot.command:
            return Image(bot, _inspect(self._client, bot.image)["Size"])
        files = _code(bot)
        recipe = recipe_for(bot, self._build)
        bases = [_base(self._client, recipe.run_base)]
        if recipe.build:
            bases.append(_base(self._client, recipe.build_base))
        recipe = replace(recipe, run_base=bases[0], build_base=bases[-1])
        with TemporaryFile() as code:
            _pack(bot, files, self._build, code)
            tag = _key(recipe, bot, digest(code))
            if not fresh and (found := _find(self._client, f"{REPOSITORY}:{tag}")):
                return Image(_running(bot, found["Id"]), found["Size"])
            return self._made(bot, recipe, code, tag)

    def _made(self, bot: BotSpec, recipe: Recipe, code: IO[bytes], tag: str) -> Image:
        began, log = time.monotonic(), ""
        with TemporaryFile() as built, TemporaryFile() as content:
            if recipe.build:
                self._tell(f"{recipe.language}, for at most {self._build.seconds:g} s")
                log = run_build(self._client, bot, recipe, code, built, self._build, self._tell)
            try:
                repack(built if recipe.build else code, self._build.size_bytes, content)
            except ArchiveError as error:
                raise BuildFailedError(bot.name, str(error), log) from None
            image = self._put(bot, recipe, content, tag)
        size = self._client.inspect_image(image)["Size"]
        return Image(_running(bot, image), size, time.monotonic() - began, log)

    def _put(self, bot: BotSpec, recipe: Recipe, content: IO[bytes], tag: str) -> str:
        """Put a bot into its base image, where nothing of it is run; the digest of what comes of it."""
        settings: dict[str, Any] = {
            "image": recipe.run_base,
            "entrypoint": [],
            "command": list(_command(bot)),
            "user": "65534:65534",
            "working_dir": f"/{FOLDER}",
            "healthcheck": {"test": ["NONE"]},
            "labels": labels(bot, recipe),
            "host_config": self._client.create_host_config(network_mode="none"),
        }
        with container(self._client, settings, _MOVE_S) as name:
            self._client.put_archive(name, "/", content)
            # One that had this tag keeps its digest: a tournament may be bound to it.
            return str(self._client.commit(name, REPOSITORY, tag)["Id"])


def _find(client: APIClient, name: str) -> dict[str, Any] | None:
    from docker.errors import ImageNotFound

    with suppress(ImageNotFound):
        found: dict[str, Any] = client.inspect_image(name)
        return found
    return None


def _inspect(client: APIClient, name: str) -> dict[str, Any]:
    found = _find(client, name)
    if found is None:
        raise _gone(name)
    return found


def _base(client: APIClient, name: str) -> str:
    """The digest of an image that bots are built or run in."""
    found = _inspect(client, name)
    if found["Config"].get("Volumes"):
        raise BotReferenceError(
            f"nothing can be built in the image {name}",
            "it declares volumes, and what is written to them has no limit",
            "make it without VOLUME",
        )
    return str(found["Id"])


def _gone(name: str) -> BotNotFoundError:
    ours = "make it: make images" if name.startswith("botarena/") else f"fetch it: docker pull {name}"
    return BotNotFoundError(f"there is no image {name}", "the container engine does not have it", ours)


def _code(bot: BotSpec) -> list[Path]:
    """Files of a bot's code.

    Raises:
        BotReferenceError: its reference does not say which they are.
    """
    path = Path(bot.reference)
    if bot.reference.startswith("house:") or path.is_dir():
        return code_files(Path(bot.folder))
    if path.suffix == ".py" and path.is_file():
        return [path]
    raise BotReferenceError(
        f"{bot.reference} cannot be put into a container",
        "it does not say which files belong to it",
        "make a folder of them, with a bot.toml",
    )


def _command(bot: BotSpec) -> tuple[str, ...]:
    """What starts a bot in its folder."""
    is_script = bot.command[1:] == (
        bot.reference,
    )  # by its path on this machine, with the Python of this machine
    return ("python3", Path(bot.reference).name) if is_script else bot.command


def _running(bot: BotSpec, image: str) -> BotSpec:
    return replace(bot, image=image, command=_command(bot))


def _pack(bot: BotSpec, files: list[Path], build: BuildLimits, code: IO[bytes]) -> None:
    try:
        pack(files, Path(bot.folder), build.size_bytes, code)
    except (ArchiveError, OSError) as error:
        raise BotReferenceError(
            f"{bot.name} cannot be put into an image", str(error), "see to its files"
        ) from None


def _key(recipe: Recipe, bot: BotSpec, code: str) -> str:
    """What an image is made of, in 40 digits."""
    parts = [code, recipe.language, recipe.build, recipe.build_base, recipe.run_base, _command(bot)]
    return sha256(json.dumps(parts).encode()).hexdigest()[:40]
