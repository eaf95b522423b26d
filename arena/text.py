"""Text that strangers wrote."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text that can do nothing to a terminal: control characters are shown as escapes."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
