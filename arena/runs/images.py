"""The images of bots that are about to run in containers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.bots.building import BuildFailedError
from arena.bots.images import Image, make_image
from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotSpec
from arena.runs.custody import Tell
from arena.text import printable

_LAST_LINES = 20


def forget(log: str) -> None:
    """Of what a build says its last lines are shown, which is enough unless somebody asks for more."""


def with_images(bots: Sequence[BotSpec], build: BuildLimits, tell: Tell) -> list[BotSpec]:
    """Bots with the images that they run in; those that are not there are built, one after another.

    Raises:
        ArenaError: one cannot be built.
    """
    return [made(bot, build, tell).bot for bot in bots]


def made(
    bot: BotSpec,
    build: BuildLimits,
    tell: Tell,
    *,
    fresh: bool = False,
    keep: Callable[[str], object] = forget,
) -> Image:
    """The image of a bot, which is built if it is not there.

    Args:
        tell: takes how far it is, and the last lines of a build that failed.
        keep: takes all that the build wrote.

    Raises:
        ArenaError: it cannot be built.
    """
    try:
        image = make_image(bot, build, fresh=fresh, tell=lambda line: tell(f"building {bot.name}: {line}"))
    except BuildFailedError as error:
        keep(error.log)
        for line in error.log.splitlines()[-_LAST_LINES:]:
            tell(printable(line))
        raise
    keep(image.log)
    return image
