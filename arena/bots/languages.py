"""What bots of a language need: the images that they are built and run in, and what usually builds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotReferenceError, BotSpec

SUITE = "trixie"
"""Release of Debian whose packages our images are made of, unless the organiser names others."""

# What they build goes to a folder `target`: it is no part of a bot's code.
_BUILDS: Mapping[str, str] = {
    "python": "",
    "cpp": "cmake -S . -B target -DCMAKE_BUILD_TYPE=Release && cmake --build target --parallel",
    "go": "go build -o target/bot .",
    "rust": "cargo build --release --target-dir /tmp/target && mkdir -p target"
    " && find /tmp/target/release -maxdepth 1 -type f -executable -exec cp -t target {} +",
    "typescript": "if [ -f tsconfig.json ]; then tsc --project .; fi",
    "java": "mvn --batch-mode -Duser.home=/tmp package",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a bot is made into an image.

    Attributes:
        language: what it is written in.
        build: the command that builds it, started in its folder; empty: none is needed.
        build_base: name of the image that it is built in.
        run_base: name of the image that it runs in.
    """

    language: str
    build: tuple[str, ...]
    build_base: str
    run_base: str


def recipe_for(bot: BotSpec, build: BuildLimits) -> Recipe:
    """How a bot is made into an image.

    Raises:
        BotReferenceError: nothing says what it is written in, or no image is known for that.
    """
    language = language_of(bot)
    if language not in _BUILDS and language not in build.base:
        raise BotReferenceError(
            f"{bot.name} cannot be built",
            f"there is no image for the language {language!r}",
            f"name one of {', '.join(_BUILDS)} in its bot.toml, or an image in the organiser's [build.base]",
        )
    usual = _BUILDS.get(language, "")
    return Recipe(
        language,
        bot.build or (("sh", "-c", usual) if usual else ()),
        _build_base(language, build.base),
        build.base.get(language, f"botarena/{language}:{SUITE}"),
    )


def labels(bot: BotSpec, recipe: Recipe) -> dict[str, str]:
    """What is written on a bot's image, and on the container that it is built in."""
    values = {"name": bot.name, "version": bot.version, "language": recipe.language}
    return {f"org.botarena.{key}": value for key, value in values.items()}


def _build_base(language: str, named: Mapping[str, str]) -> str:
    # An image of somebody's own has a compiler of its own: what another one makes may not run in it.
    own = named.get(f"{language}-build") or named.get(language)
    return own or f"botarena/{language}-build:{SUITE}"


def language_of(bot: BotSpec) -> str:
    """What a bot is written in; empty if nothing tells."""
    is_python = any(word.endswith(".py") or word in ("python", "python3") for word in bot.command[:2])
    return bot.language or ("python" if is_python else "")
