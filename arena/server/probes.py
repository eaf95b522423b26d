"""Metrics and probes over HTTP, on a thread of their own, so that they answer while all else is busy."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from arena.errors import UsageError

_Answer: TypeAlias = Callable[..., Iterable[bytes]]


class Probes:
    """An HTTP server with `/metrics`, `/healthz` (the process lives) and `/readyz` (it serves).

    Args:
        registry: what `/metrics` tells.
        ready: whether it serves.
    """

    def __init__(self, registry: CollectorRegistry, ready: Callable[[], bool]) -> None:
        self._metrics: _Answer = make_wsgi_app(registry)
        self._ready = ready
        self._server: WSGIServer | None = None

    def start(self, host: str, port: int) -> int:
        """Begin; the port, which is another one if it was 0.

        Raises:
            UsageError: it cannot be listened on.
        """
        try:
            self._server = make_server(host, port, self._answer, _Server, _Silent)
        except OSError as error:
            raise UsageError(
                f"metrics cannot be served on {host}:{port}", str(error), "choose another --metrics-port"
            ) from None
        threading.Thread(target=self._server.serve_forever, name="arena-probes", daemon=True).start()
        return int(self._server.server_address[1])

    def stop(self) -> None:
        """End."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _answer(self, environment: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if path == "/metrics":
            return self._metrics(environment, start)
        status, text = {
            "/healthz": ("200 OK", "alive"),
            "/readyz": ("200 OK", "ready") if self._ready() else ("503 Service Unavailable", "not ready"),
        }.get(path, ("404 Not Found", "there is /metrics, /healthz and /readyz"))
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{text}\n".encode()]


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    timeout = 10
    """Seconds that whoever asks may be silent."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: probes ask all the time."""
