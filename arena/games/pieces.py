"""Serialised pieces of messages.

Most of what a bot is shown was shown before: cards lie where they lay. So messages are put together
from pieces that are serialised once and kept. One piece after the other is one message, since
repeated fields append and the parts of a sub-message merge.
"""

from __future__ import annotations


def submessage(number: int, data: bytes) -> bytes:
    """A field that holds a message, as a piece of the message around it.

    Args:
        number: the field's number, 1 to 15.
        data: the inner message, serialised.
    """
    head = bytearray((number << 3 | 2,))
    length = len(data)
    while length > 0x7F:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + data
