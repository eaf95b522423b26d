"""`arena status`: what a server is and does now."""

from __future__ import annotations

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
            OUT.text(f"{name.replace('_', ' ')}: {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {state}" for state, number in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)
