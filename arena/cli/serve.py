"""`arena serve`."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.common import DEFAULT_DB
from arena.cli.output import OUT
from arena.cli.sandboxes import LimitsOption, SandboxOption

if TYPE_CHECKING:
    from arena.server.settings import ServerSettings

_AT_ONCE = 130
"""Exit code of a server that was told twice to end."""


def serve(
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Listen there; else on 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Listen on this port; 0: any that is free; else 50051.")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db", envvar="ARENA_DB", metavar="FILE|URL", help=f"Database; else the file {DEFAULT_DB}."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings in TOML; all of these and more.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Folder for unpacked bots.")
    ] = None,
    sandbox: SandboxOption = None,
    limits: LimitsOption = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="Chain of certificates in PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Key of the certificate.")
    ] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            "--tls-client-ca", metavar="FILE", help="Let in only whom these have given a certificate."
        ),
    ] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Without TLS also off the loopback.", show_default=False)
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Worker processes; else one per core.")] = None,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics-port", help="Metrics and probes over HTTP on this port.")
    ] = None,
    reflection: Annotated[
        bool | None,
        typer.Option(
            "--reflection/--no-reflection",
            help="Tell anybody which services there are; else on the loopback.",
            show_default=False,
        ),
    ] = None,
    log: Annotated[
        str | None, typer.Option("--log", metavar="json|text", help="How the log is written.")
    ] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error.")
    ] = None,
    drain: Annotated[
        str | None,
        typer.Option("--drain", metavar="TIME", help="How long matches may go on at the end; else 30s."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Write the first token there, and do not tell it."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Take over when the server on this database has ended.")
    ] = False,
    port_file: Annotated[
        Path | None, typer.Option("--port-file", metavar="FILE", help="Write the port there.")
    ] = None,
) -> None:
    """Serve an arena: bots are submitted or dial in, tournaments and leagues run by themselves."""
    from arena.server.logs import set_up
    from arena.server.settings import read_settings

    settings = read_settings(
        {
            "host": host,
            "port": port,
            "db": db,
            "data": data,
            "token_file": token_file,
            "sandbox": sandbox,
            "limits": limits,
            "tls_cert": tls_cert,
            "tls_key": tls_key,
            "tls_client_ca": tls_client_ca,
            "insecure": insecure,
            "jobs": jobs,
            "metrics_port": metrics_port,
            "reflection": reflection,
            "log": log,
            "log_level": log_level,
            "drain": drain,
        },
        config,
    )
    set_up(settings.log, settings.log_level)
    asyncio.run(_serve(settings, wait, port_file))


async def _serve(settings: ServerSettings, wait: bool, port_file: Path | None) -> None:
    from arena.server.house import House

    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _end, stopping)
    house = House(settings, _events if settings.log == "json" else OUT.say)
    await house.run(stopping, wait, partial(_write, port_file) if port_file else _forget)
    OUT.say("everything is stored; the server has ended")


def _events(line: str) -> None:
    """What people are told as lines of the log: whoever reads JSON reads nothing else."""
    import structlog

    structlog.get_logger("arena.serve").info(line)


def _end(stopping: asyncio.Event) -> None:
    """Told once it ends in order, told twice at once: nothing that is stored is lost by that."""
    if stopping.is_set():
        os._exit(_AT_ONCE)
    OUT.say("ends when the matches in play are over; once more ends it at once")
    stopping.set()


def _forget(port: int) -> None:
    """Write it nowhere."""


def _write(path: Path, port: int) -> None:
    """Write the port, so that whoever finds the file finds all of it."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(f"{port}\n")
    part.replace(path)
