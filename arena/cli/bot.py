"""`arena bot`: making images of bots, and bots of a server."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from arena.bots.images import Image
from arena.bots.languages import language_of
from arena.bots.organiser import read_organiser
from arena.bots.reference import resolve
from arena.cli import roster, submit
from arena.cli.output import OUT
from arena.cli.sandboxes import LimitsOption
from arena.cli.tables import plain_table
from arena.errors import ArenaError
from arena.runs.images import forget, made

app = typer.Typer(help="Bots of a server, and images of bots.", no_args_is_help=True)


app.command("submit")(submit.submit)
app.command("register")(submit.register)
app.command("watch")(submit.watch)
app.command("list")(roster.list_)
app.command("show")(roster.show)
app.command("versions")(roster.versions)
app.command("logs")(roster.logs)
app.command("disable")(roster.disable)
app.command("enable")(roster.enable)
app.command("rollback")(roster.rollback)


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
    image = made(spec, allowed, OUT.say, fresh=fresh, keep=partial(_write, log) if log else forget)
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


def _time(image: Image) -> str:
    return f"{image.seconds:.1f} s" if image.seconds else "was there"
