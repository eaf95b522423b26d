"""Following what a server plays: one line that is drawn again on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

from botarena.v1 import api_tournaments_pb2 as api

from arena.cli.output import LINE_EVERY_S, OUT, eta_text
from arena.cli.remote import AGAIN_S, unbroken
from arena.text import printable

if TYPE_CHECKING:
    from botarena.v1.api_tournaments_pb2_grpc import TournamentServiceStub
    from rich.live import Live

OVER = ("finished", "cancelled")
"""States that nothing leads out of."""
_RESTING = (*OVER, "failed")
_STATE = "HOSTED_STATE_"

Told = Callable[[api.HostedProgress], object]
"""Is told how far it is."""


def state_of(progress: api.HostedProgress) -> str:
    """What is going on, in a word."""
    if progress.state not in api.HostedState.values():
        return "unknown"  # the server is newer than this
    return api.HostedState.Name(progress.state).removeprefix(_STATE).lower()


def follow(service: TournamentServiceStub, name: str, told: Told) -> api.HostedProgress:
    """Show how far a tournament or league is until it is over, or has failed.

    Args:
        service: the server's.
        name: of the tournament or league.
        told: is told all that the server tells.

    Returns:
        How far it was last.

    Raises:
        ArenaError: the server refuses to tell, or was away for too long.
    """
    with _shown() as view:

        def show(progress: api.HostedProgress) -> None:
            view.show(progress)
            told(progress)

        last = unbroken(lambda: _listen(service, name, show))
        while state_of(last) not in _RESTING:
            time.sleep(AGAIN_S)  # the server is ending, and another one will go on with it
            last = unbroken(lambda: _listen(service, name, show))
        return last


def _listen(service: TournamentServiceStub, name: str, told: Told) -> api.HostedProgress:
    """What a server tells as long as it does, or until that needs no more following."""
    last = api.HostedProgress()
    answers: Any = service.WatchTournament(api.WatchTournamentRequest(name=name))
    for answer in answers:
        last = answer.progress
        told(last)
        if state_of(last) in _RESTING:
            answers.cancel()
            break
    return last


def progress_text(progress: api.HostedProgress) -> str:
    """How far it is, how fast it goes, when it will be over, and what is going on with it, in a line."""
    parts = [_done(progress)]
    if progress.HasField("rate"):
        parts.append(f"{progress.rate:,.1f}/s")
    parts.append(printable(progress.outlook))
    if progress.HasField("eta_s") and isfinite(progress.eta_s):
        parts.append(f"ETA {eta_text(progress.eta_s)}")
    if not progress.HasField("matches"):
        parts.append(f"{progress.today} today")
    return "  ".join(part for part in (*parts, state_text(progress)) if part)


def state_text(progress: api.HostedProgress) -> str:
    """What is going on, and why as far as there is a reason."""
    return state_of(progress) + (f": {printable(progress.reason)}" if progress.reason else "")


def _done(progress: api.HostedProgress) -> str:
    if not progress.HasField("matches"):
        return f"{progress.played} matches"
    share = f"  {100 * progress.played / progress.matches:.0f} %" if progress.matches else ""
    return f"{progress.played}/{progress.matches}{share}"


class _View:
    """Shows what is told.

    Args:
        live: where it is drawn; None: in lines.
    """

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._said = ""
        self._said_at = 0.0

    def show(self, progress: api.HostedProgress) -> None:
        """Draw it; elsewhere say it if its state is another one, or that is due."""
        if self._live is not None:
            from rich.text import Text

            line = Text(progress_text(progress), no_wrap=True, overflow="ellipsis")
            self._live.update(line, refresh=True)
            return
        state, now = state_text(progress), time.monotonic()
        if state != self._said or now - self._said_at >= LINE_EVERY_S:
            self._said, self._said_at = state, now
            OUT.say(progress_text(progress))


@contextmanager
def _shown() -> Iterator[_View]:
    """A view until the end of the block."""
    if not OUT.live:
        yield _View(None)
        return
    from rich.live import Live

    with Live(console=OUT.stderr(), auto_refresh=False, transient=True) as live:
        yield _View(live)
