"""Lists in pages: by the number of the last item that was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from botarena.v1.api_common_pb2 import PageReply, PageRequest

from arena.errors import UsageError

T = TypeVar("T")

_USUAL = 100
_MOST = 1000


def page_of(
    wanted: PageRequest, read: Callable[[int, int], Sequence[T]], number: Callable[[T], int]
) -> tuple[Sequence[T], PageReply]:
    """A page of a list whose items have rising numbers.

    Args:
        wanted: which page.
        read: gives the items after a number, at most so many.
        number: of an item.

    Raises:
        UsageError: the token is none that a page had.
    """
    size = min(wanted.size or _USUAL, _MOST)
    found = read(_after(wanted.token), size + 1)
    more = len(found) > size
    page = found[:size]
    return page, PageReply(next=str(number(page[-1])) if more else "")


def _after(token: str) -> int:
    if not token:
        return 0
    if not (token.isascii() and token.isdecimal() and len(token) < 19):
        raise UsageError(
            "there is no such page", "the token is none that a page had", "begin with an empty one"
        )
    return int(token)
