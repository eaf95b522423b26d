"""Text that strangers wrote."""

from __future__ import annotations

import re
import unicodedata

from arena.errors import UsageError

NAME_LONGEST = 40
"""Characters of a name of a user or a bot."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_LOOK_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l"})


def printable(text: str) -> str:
    """Text that can do nothing to a terminal: control characters are shown as escapes."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def folded(name: str) -> str:
    """The same text for all names that people may take for one another.

    They may differ in case, in the form of their characters, in accents, in 0 and o, in 1, l and i, and in
    what is neither letter nor digit.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(c for c in plain.translate(_LOOK_ALIKE) if c.isalnum())


def checked_name(name: str, whose: str) -> str:
    """A name that somebody chose, if it may be one.

    Args:
        name: as it was given.
        whose: what has it, such as "a user".

    Raises:
        UsageError: it may not.
    """
    if len(name) > NAME_LONGEST or not _NAME.fullmatch(name):
        shown = printable(name[: NAME_LONGEST + 1])
        raise UsageError(
            f"{shown!r} is no name of {whose}",
            f"a name has 1 to {NAME_LONGEST} letters, digits, dots, hyphens and underscores (ASCII), "
            "and begins and ends with a letter or a digit",
            "choose another name",
        )
    return name
