"""Serialised pieces of messages.

Most of what a bot is shown was shown before: cards lie where they lay. So messages are put together
from pieces that are serialised once and kept. One piece after the other is one message, since
repeated fields append and the parts of a sub-message merge.
"""

from __future__ import annotations


def _varint(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


_VARINTS = [_varint(number) for number in range(1 << 12)]
_KEYS = [_varint(number << 3 | 2) for number in range(1 << 8)]


def varint(number: int) -> bytes:
    """A whole number, not negative, as the wire has it."""
    return _VARINTS[number] if number < len(_VARINTS) else _varint(number)


def submessage(number: int, data: bytes) -> bytes:
    """A field that holds a message, as a piece of the message around it.

    Args:
        number: the field's number, 1 to 255.
        data: the inner message, serialised.
    """
    return _KEYS[number] + varint(len(data)) + data
