"""Text that strangers wrote."""

from __future__ import annotations

import unicodedata

# What is read as one and the same, after case and compatibility forms are gone.
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", **dict.fromkeys("-_.+ ")})


def printable(text: str) -> str:
    """Text that can do nothing to a terminal: control characters are shown as escapes."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def folded(name: str) -> str:
    """What names that look alike have in common: no case, no separators, 0 like o, 1 and i like l."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_ALIKE)
