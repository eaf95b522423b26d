"""`arena status`: what a server is and does now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from arena.cli.output import OUT


def status() -> None:
    """What the server is and does now; with a token of the scope admin also how busy it is."""
    from botarena.v1.api_server_pb2 import GetStatusRequest
    from botarena.v1.api_server_pb2_grpc import ServerServiceStub

    from arena.cli.remote import connected, needed_address

    needed_address()
    with connected() as server:
        answer = server.stub(ServerServiceStub).GetStatus(GetStatusRequest())
    row: dict[str, Any] = {
        "version": answer.version,
        "games": list(answer.games),
        "running": answer.running,
    }
    if answer.HasField("load"):
        load = answer.load
        row |= {
            "started_us": load.started_us,
            "hosted": {each.state: each.count for each in load.hosted},
            "versions": {each.state: each.count for each in load.versions},
            "workers": load.workers,
            "remote_bots": load.remote_bots,
            "matches": load.matches,
            "decisions": load.decisions,
            "lag_us": load.lag_us,
        }
    _show(row)


def _show(row: dict[str, Any]) -> None:
    if OUT.json:
        OUT.lines("status", [row])
    elif OUT.csv:
        OUT.csv_rows([row])
    else:
        for name, value in row.items():
            what, text = _SHOWN.get(name, (name.replace("_", " "), _text))
            OUT.text(f"{what}: {text(value)}")


def _moment(us: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(us / 1e6))


def _milliseconds(us: int) -> str:
    return f"{us / 1000:.1f} ms"


_SHOWN: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "started_us": ("started", _moment),
    "lag_us": ("event loop late by", _milliseconds),
}
"""What people are shown otherwise than by its name and as it is."""


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {state}" for state, number in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)
