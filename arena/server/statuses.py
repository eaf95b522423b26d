"""How errors travel: as a canonical status with a Problem among its details, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import grpc
from botarena.v1.api_common_pb2 import Problem
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from arena.errors import (
    ArenaError,
    CheckFailedError,
    NotAllowedError,
    NotFoundError,
    StateError,
    TakenError,
    TooMuchError,
    UnknownCallerError,
    UsageError,
)

_CODES: Final[Sequence[tuple[type[ArenaError], grpc.StatusCode]]] = (
    (UsageError, grpc.StatusCode.INVALID_ARGUMENT),
    (NotFoundError, grpc.StatusCode.NOT_FOUND),
    (UnknownCallerError, grpc.StatusCode.UNAUTHENTICATED),
    (NotAllowedError, grpc.StatusCode.PERMISSION_DENIED),
    (TakenError, grpc.StatusCode.ALREADY_EXISTS),
    (StateError, grpc.StatusCode.FAILED_PRECONDITION),
    (CheckFailedError, grpc.StatusCode.FAILED_PRECONDITION),
    (TooMuchError, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ArenaError, grpc.StatusCode.INTERNAL),
)
"""The status of each kind of error; the first that fits."""
_LONGEST = 1000
"""Characters of each part of a refusal: a status has to fit into headers."""


def code_of(error: ArenaError) -> grpc.StatusCode:
    """The canonical status of an error."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def status_of(error: ArenaError) -> grpc.Status:
    """An error as it is sent to a caller."""
    what, why, do = (_header(part) for part in (error.what, error.why, error.do))
    problem = Problem(what=what, why=why, do=do, exit_code=error.code)
    status = Status(code=code_of(error).value[0], message=f"{what}: {why}; {do}")
    status.details.add().Pack(problem)
    return rpc_status.to_status(status)  # type: ignore[no-any-return]


def _header(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def error_of(refused: grpc.RpcError) -> ArenaError | None:
    """The error that a server sent; None: it sent none, so it was not one of its refusals."""
    try:
        status = rpc_status.from_call(refused)
    except ValueError:  # the code and the details contradict each other
        return None
    problem = Problem()
    if status is None or not any(detail.Unpack(problem) for detail in status.details):
        return None
    return _kind(refused.code(), problem.exit_code)(problem.what, problem.why, problem.do)


def _kind(code: grpc.StatusCode, exit_code: int) -> type[ArenaError]:
    kinds = [kind for kind, its in _CODES if its == code]
    return next((kind for kind in kinds if kind.code == exit_code), ArenaError)
