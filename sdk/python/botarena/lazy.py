"""The arena's frames with turns left as bytes: a turn is taken apart when the bot looks at it.

The messages are those of bot.proto but for the type of the fields that hold a `GameTurn`: on the
wire a message and its bytes are the same. They are made from the real descriptor, so they cannot
differ from it in anything else.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from botarena.v1 import bot_pb2, game_pb2

_PACKAGE = "botarena.lazy"
_TURN = f".{game_pb2.GameTurn.DESCRIPTOR.full_name}"


def _frames() -> Any:
    file = descriptor_pb2.FileDescriptorProto()
    bot_pb2.DESCRIPTOR.CopyToProto(file)
    own = {f".{file.package}.{message.name}": f".{_PACKAGE}.{message.name}" for message in file.message_type}
    file.name, file.package = "botarena/lazy.proto", _PACKAGE
    file.ClearField("service")
    for field in (field for message in file.message_type for field in message.field):
        if field.type_name == _TURN:
            field.type = field.TYPE_BYTES
            field.ClearField("type_name")
        elif field.type_name in own:
            field.type_name = own[field.type_name]
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.FromArena"))


FromArena: Any = _frames()
"""`FromArena` whose turns are bytes."""
