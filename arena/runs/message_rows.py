"""Rows of plain data as messages whose fields are named alike, and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from arena.tournament.message_json import is_repeated

M = TypeVar("M", bound=Message)


def filled(message: M, row: Mapping[str, Any]) -> M:
    """A message after its fields have got what a row has of them; what is None stays as it is."""
    for field in message.DESCRIPTOR.fields:
        value = row.get(field.name)
        if value is not None:
            _fill(message, field, value)
    return message


def row_of(message: Message) -> dict[str, Any]:
    """A message as a row, in the order of its fields; what is not set is None."""
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _fill(message: Any, field: Any, value: Any) -> None:
    if _is_map(field):
        getattr(message, field.name).update(value)
    elif is_repeated(field) and field.message_type is not None:
        for each in value:
            filled(getattr(message, field.name).add(), each)
    elif is_repeated(field):
        getattr(message, field.name).extend(value)
    elif field.message_type is not None:
        part = getattr(message, field.name)
        part.SetInParent()
        filled(part, value)
    else:
        setattr(message, field.name, value)


def _value(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if _is_map(field):
        return dict(sorted(value.items()))
    if is_repeated(field):
        return [row_of(each) for each in value] if field.message_type is not None else list(value)
    if field.has_presence and not message.HasField(field.name):
        return None
    return row_of(value) if field.message_type is not None else value


def _is_map(field: Any) -> bool:
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry
