"""The log of a server: a line for each event, on stderr. What strangers wrote can do nothing in it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from arena.text import printable

_MOST = 2000
"""Characters of a text that are logged."""
_SECRET = frozenset({"authorization", "metadata", "password", "secret", "token"})
"""Fields that are never logged, whoever asks for it."""


def set_up(form: str, level: str, stream: TextIO | None = None) -> None:
    """Have everything logged that is said through structlog or the standard library.

    Args:
        form: "json", or "text" for people.
        level: the least that is logged: debug, info, warning or error.
        stream: where it goes; None: to stderr.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.format_exc_info,
        _tame,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(form)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for chatty in ("asyncio", "alembic", "docker", "urllib3"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))


def _renderer(form: str) -> structlog.typing.Processor:
    if form == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, timestamp_key="ts")


def _tame(_logger: object, _name: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Texts without control characters and of a bounded length, and no secrets."""
    return {
        key: _text(value) if isinstance(value, str) else value
        for key, value in event.items()
        if key not in _SECRET
    }


def _text(text: str) -> str:
    cut = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    return printable(cut)
