"""`arena bot build`, and the images of bots that a command is about to run in containers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.bots.building import BuildFailedError
from arena.bots.images import Image, make_image
from arena.bots.languages import language_of
from arena.bots.organiser import BuildLimits, read_organiser
from arena.bots.reference import BotSpec, resolve
from arena.cli.output import OUT, printable
from arena.cli.sandboxes import LimitsOption
from arena.cli.tables import plain_table
from arena.errors import ArenaError

app = typer.Typer(help="Bots and their images.", no_args_is_help=True)

_LAST_LINES = 20


@app.callback()
def _bot() -> None:
    """Keeps `build` a command of its own while it is the only one."""


@app.command("build")
def build(
    bot: Annotated[str, typer.Argument(metavar="DIR", help="./dir (with bot.toml), ./bot.py or house:NAME.")],
    base: Annotated[
        str | None, typer.Option("--base", metavar="IMAGE", help="What it is built and run in.")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Let the build reach the network.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Build it although there is an image of its code.")
    ] = False,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Write there what the build says.")
    ] = None,
    limits: LimitsOption = None,
) -> None:
    """Build a bot into an image, in a container that can do no harm."""
    spec = resolve(bot)
    allowed = read_organiser(limits).build
    allowed = replace(allowed, network=network or allowed.network)
    if base is not None:
        allowed = replace(allowed, base={language_of(spec): base})
    image = _made(spec, allowed, fresh=fresh, keep=partial(_write, log) if log else _forget)
    row = {
        "bot": image.bot.name,
        "version": image.bot.version,
        "image": image.bot.image,
        "size_bytes": image.size_bytes,
        "seconds": round(image.seconds, 3),
        "built": image.seconds > 0,
    }
    cells = [
        [image.bot.name, image.bot.version, image.bot.image, f"{image.size_bytes / 1e6:.0f} MB", _time(image)]
    ]
    OUT.table("image", [row], lambda: plain_table(("bot", "version", "image", "size", "built in"), cells))


def _write(path: Path, log: str) -> None:
    try:
        path.write_text(log, encoding="utf-8")
    except OSError as error:
        raise ArenaError(f"{path} cannot be written", str(error.strerror), "name another --log") from None


def _forget(log: str) -> None:
    """Of what a build says its last lines are shown, which is enough unless somebody asks for more."""


def _time(image: Image) -> str:
    return f"{image.seconds:.1f} s" if image.seconds else "was there"


def with_images(bots: Sequence[BotSpec], build: BuildLimits) -> list[BotSpec]:
    """Bots with the images that they run in; those that are not there are built, one after another.

    Raises:
        ArenaError: one cannot be built.
    """
    return [_made(bot, build).bot for bot in bots]


def _made(
    bot: BotSpec,
    build: BuildLimits,
    *,
    fresh: bool = False,
    keep: Callable[[str], object] = _forget,
) -> Image:
    def tell(line: str) -> None:
        OUT.say(f"building {bot.name}: {line}")

    try:
        image = make_image(bot, build, fresh=fresh, tell=tell)
    except BuildFailedError as error:
        keep(error.log)
        for line in error.log.splitlines()[-_LAST_LINES:]:
            OUT.say(printable(line))
        raise
    keep(image.log)
    return image
