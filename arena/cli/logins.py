"""Tokens that this user has logged in with, by server: a file that nobody else may read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from arena.errors import ArenaError


def token_for(target: str) -> str | None:
    """The token to show a server: the environment's, or the one that was logged in with; None: neither.

    Args:
        target: HOST:PORT.
    """
    return os.environ.get("ARENA_TOKEN") or _read().get(target)


def keep(target: str, token: str) -> Path:
    """Keep a token for a server; where."""
    return _write(_read() | {target: token})


def forget(target: str) -> bool:
    """Forget the token for a server; whether there was one."""
    logins = _read()
    if logins.pop(target, None) is None:
        return False
    _write(logins)
    return True


def _path() -> Path:
    from platformdirs import user_config_path

    return user_config_path("arena") / "logins.json"


def _read() -> dict[str, str]:
    path = _path()
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from None
    if not isinstance(found, dict) or not all(isinstance(token, str) for token in found.values()):
        raise _broken(path, "it is not a map from servers to tokens")
    return found


def _broken(path: Path, why: str) -> ArenaError:
    return ArenaError(f"{path} cannot be read", why, "remove it and log in again: arena login --server HOST")


def _write(logins: dict[str, str]) -> Path:
    """Replace the file at once: whoever reads it has all of the old or all of the new one."""
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)  # also if somebody made it before
        json.dump(logins, file, indent=1)
    new.replace(path)
    return path
