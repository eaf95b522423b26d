"""Messages as JSON text, about ten times as fast as the library makes it: a million views would wait.

From one view to the next almost all parts stay as they were, so the texts of parts are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeAlias

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_Encode: TypeAlias = Callable[[Any], str]

_KEPT = 2048
"""Texts that are kept of each field that holds messages."""
_INTEGERS = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32}


def message_json(message: Message) -> str:
    """The same data as `google.protobuf.json_format` gives: fields that have their default are left out.

    Raises:
        TypeError: it has a field of a kind that no message of a game has.
    """
    pairs = []
    for field, value in message.ListFields():
        head, encode = _plan(field)
        pairs.append(head + encode(value))
    return "{" + ", ".join(pairs) + "}"


@cache
def _plan(field: FieldDescriptor) -> tuple[str, _Encode]:
    """How a field's pair begins, and what makes the text of its value."""
    encode = _encoder(field)
    return f"{json.dumps(field.json_name)}: ", _list_of(encode) if is_repeated(field) else encode


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field holds any number of values, with every protobuf that is allowed."""
    if hasattr(field, "is_repeated"):
        return field.is_repeated
    return bool(field.label == field.LABEL_REPEATED)  # type: ignore[attr-defined]  # protobuf before 6.31


def _encoder(field: FieldDescriptor) -> _Encode:
    if field.cpp_type in _INTEGERS:
        return str
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _bool
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING and field.type == FieldDescriptor.TYPE_STRING:
        return json.dumps
    if field.enum_type is not None:
        names = {value.number: json.dumps(value.name) for value in field.enum_type.values}
        return lambda number: names.get(number) or str(number)
    if field.message_type is not None and not field.message_type.GetOptions().map_entry:
        kind = GetMessageClass(field.message_type)
        text = lru_cache(_KEPT)(lambda data: message_json(kind.FromString(data)))
        return lambda part: text(part.SerializeToString())
    raise TypeError(f"{field.full_name} is of a kind that this does not write")


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _list_of(encode: _Encode) -> _Encode:
    return lambda values: "[" + ", ".join(map(encode, values)) + "]"
