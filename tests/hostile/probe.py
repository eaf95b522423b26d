"""What a hostile bot tells about its attempts: lines of JSON on stderr, which end in its log.

Runs inside the sandbox, with the standard library and the SDK alone.
"""

from __future__ import annotations

import errno
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

from botarena import Turn, run

PREFIX = "PROBE "
DETAIL = 300


class Probe:
    """Makes attempts, and tells of each whether it reached what nobody may reach."""

    def __init__(self) -> None:
        self._made = 0

    def attempt(self, name: str, action: Callable[..., Any], *arguments: Any) -> None:
        """Try something forbidden.

        Args:
            name: what is tried.
            action: returns what it reached, something false if that is nothing, None if it just did it; an
                error means that it was refused.
            arguments: of the action.
        """
        try:
            value = action(*arguments)
            reached, detail = value is None or bool(value), str(value)
        except OSError as error:
            reached, detail = False, errno.errorcode.get(error.errno or 0, str(error))
        except Exception as error:
            reached, detail = False, repr(error)
        self.found(name, reached, detail)

    def found(self, name: str, reached: bool, detail: str = "") -> None:
        """Tell of one attempt."""
        self._made += 1
        self._tell({"attempt": name, "reached": reached, "detail": detail[:DETAIL]})

    def done(self) -> None:
        """Tell how many attempts were made: a log without this line proves nothing."""
        self._tell({"attempts": self._made})

    def _tell(self, line: dict[str, object]) -> None:
        print(PREFIX + json.dumps(line), file=sys.stderr, flush=True)


def play_probing(attempts: Callable[[Probe], None]) -> None:
    """Play the first legal action for ever, and make the attempts at the first decision."""
    waiting = [attempts]

    def choose(turn: Turn) -> int:
        if waiting:
            probe = Probe()
            try:
                waiting.pop()(probe)
                probe.done()
            except BaseException:  # whatever it is, the log must show it: there is no line of the end then
                traceback.print_exc()
        return 0

    run(choose)
