"""Serialised pieces of messages.

Most of what a bot is shown was shown before: cards lie where they lay. So messages are put together
from pieces that are serialised once and kept. One piece after the other is one message, since
repeated fields append and the parts of a sub-message merge.
"""

from __future__ import annotations

_LOW = [bytes((number | 0x80,)) for number in range(1 << 7)]
_VARINTS = [bytes((number,)) for number in range(1 << 7)]
_VARINTS += [_LOW[number & 0x7F] + _VARINTS[number >> 7] for number in range(1 << 7, 1 << 12)]
_KEYS = [_VARINTS[number << 3 | 2] for number in range(1 << 8)]


def varint(number: int) -> bytes:
    """A whole number, not negative, as the wire has it."""
    return _VARINTS[number] if number < 1 << 12 else _LOW[number & 0x7F] + varint(number >> 7)


def submessage(number: int, data: bytes) -> bytes:
    """A field that holds a message, as a piece of the message around it.

    Args:
        number: the field's number, 1 to 255.
        data: the inner message, serialised.
    """
    length = len(data)
    return _KEYS[number] + (_VARINTS[length] if length < 1 << 12 else varint(length)) + data
