"""Frames that no bot would send: made of messages with wrong contents, and of bytes that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from botarena.v1.bot_pb2 import FromBot, Hello, Reply
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

EXTREMES = (0, 1, 2, 127, 128, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TEXTS = ("", "x", "koffer", "\0", "\x1b[31m", "=1+1", "<b>", "\u202e", "ü" * 200, "x" * 5000)

Ids = Sequence[int]
"""Ids of decisions that are, or were, open: the fuzzer's own and, as ids are counted through, others'."""


def frame(dice: Random, ids: Ids) -> bytes:
    """One frame, of any kind."""
    return dice.choices(_MAKERS, _WEIGHTS)[0](dice, ids)


def hello(session: str = "") -> bytes:
    """A hello as it should be."""
    return FromBot(hello=Hello(protocol=1, concurrency=8, session=session)).SerializeToString()


def fill(dice: Random, message: Any, ids: Ids, depth: int = 0) -> Any:
    """Fill a message at random: any field of it may be there, whatever it makes together."""
    for field in message.DESCRIPTOR.fields:
        if dice.random() > (0.5 if depth < 2 else 0.25):
            continue
        if field.is_repeated:
            for _ in range(dice.choice((1, 1, 2, 5))):
                _append(dice, message, field, ids, depth)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            fill(dice, getattr(message, field.name), ids, depth + 1)
        else:
            setattr(message, field.name, _value(dice, field, ids))
    return message


def _append(dice: Random, message: Message, field: Any, ids: Ids, depth: int) -> None:
    values = getattr(message, field.name)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        fill(dice, values.add(), ids, depth + 1)
    else:
        values.append(_value(dice, field, ids))


def _value(dice: Random, field: Any, ids: Ids) -> Any:
    if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        text = dice.choice(TEXTS)
        return text if field.type == FieldDescriptor.TYPE_STRING else text.encode()
    if field.type == FieldDescriptor.TYPE_BOOL:
        return dice.random() < 0.5
    if field.name == "decision" and ids and dice.random() < 0.8:
        return _id(dice, ids)
    bits = 64 if field.cpp_type in (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64) else 32
    number = dice.choice((*EXTREMES, dice.randrange(8), dice.randrange(8)))
    signed = field.type not in (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64)
    number &= (1 << (bits - signed)) - 1
    return -number if signed and dice.random() < 0.5 else number


def _id(dice: Random, ids: Ids) -> int:
    return max(0, dice.choice(ids) + dice.choice((0, 0, 0, 0, 0, 1, -1, 5, -50, 1000)))


def _random_message(dice: Random, ids: Ids) -> bytes:
    message = fill(dice, FromBot(), ids)
    if dice.random() < 0.95:
        message.ClearField("hello")
    data: bytes = message.SerializeToString()
    return data


def _replies(dice: Random, ids: Ids) -> bytes:
    """Answers as they might be, to whatever decision: the first may even be right."""
    frame = FromBot()
    for _ in range(dice.choice((1, 1, 1, 3, 20))):
        reply = Reply(decision=_id(dice, ids) if ids else dice.choice(EXTREMES))
        if dice.random() < 0.95:
            reply.action = dice.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, 2, dice.choice(EXTREMES) & 0xFFFFFFFF))
        frame.replies.append(reply)
    return frame.SerializeToString()


def _claim(dice: Random, ids: Ids) -> bytes:
    """An answer with a claim of any game, or of several."""
    reply = Reply(decision=_id(dice, ids) if ids else 1, action=0)
    fill(dice, reply.claim, ids)
    return FromBot(replies=[reply]).SerializeToString()


def _nothing(_dice: Random, _ids: Ids) -> bytes:
    return b""


def _unknown(dice: Random, _ids: Ids) -> bytes:
    """Fields that the protocol does not have."""
    number = dice.choice((4, 15, 100, 1 << 28))
    key = number << 3 | dice.choice((0, 1, 2, 3, 4, 5, 6, 7))
    return _varint(key) + _varint(dice.choice(EXTREMES[:5])) + dice.randbytes(dice.randrange(8))


def _nested(dice: Random, _ids: Ids) -> bytes:
    """Groups or messages in each other, deeper than anybody reads."""
    depth = dice.choice((3, 30, 99, 101, 5000))
    return bytes((0x0B,)) * depth + (bytes((0x0C,)) * depth if dice.random() < 0.7 else b"")


def _flip(data: bytearray, dice: Random) -> None:
    for _ in range(dice.choice((1, 1, 2, 8))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _cut(data: bytearray, dice: Random) -> None:
    del data[dice.randrange(len(data)) :]


def _splice(data: bytearray, dice: Random) -> None:
    at, length = dice.randrange(len(data)), dice.randrange(len(data))
    data[at:at] = data[length:] + dice.randbytes(dice.randrange(4))


def _stretch(data: bytearray, dice: Random) -> None:
    """A varint that is longer, larger or never ends."""
    at = dice.randrange(len(data))
    data[at : at + 1] = dice.choice((b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\x80" * 9 + b"\x02", b"\x80\x00"))


def _damaged(dice: Random, ids: Ids) -> bytes:
    """A frame that was one before."""
    data = bytearray(dice.choice((_replies, _claim, _random_message))(dice, ids) or b"\x12\x00")
    dice.choice((_flip, _flip, _flip, _cut, _splice, _stretch))(data, dice)
    return bytes(data)


def _large(dice: Random, _ids: Ids) -> bytes:
    size = dice.choice((1 << 16, (1 << 20) - 8, (1 << 20) + 1))
    return b"\x7a" + _varint(size) + bytes(size)


def _varint(number: int) -> bytes:
    low = number & 0x7F
    return bytes((low | 0x80,)) + _varint(number >> 7) if number >> 7 else bytes((low,))


_WEIGHTED: dict[Callable[[Random, Ids], bytes], float] = {
    _replies: 50,
    _claim: 8,
    _random_message: 20,
    _nothing: 3,
    _unknown: 4,
    _nested: 1,
    _damaged: 10,
    _large: 0.02,
}
_MAKERS, _WEIGHTS = tuple(_WEIGHTED), tuple(_WEIGHTED.values())
