"""Answers with the first half of a frame, and keeps the second."""

import os
import struct
import time

from botarena.v1 import bot_pb2

from tests.hostile import http2
from tests.hostile.http2 import frame

HELLO = bot_pb2.FromBot(hello=bot_pb2.Hello(protocol=1, concurrency=64)).SerializeToString()

if __name__ == "__main__":
    connection = http2.greeted()
    connection.sendall(
        frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers(os.environ["ARENA_TOKEN"]))
    )
    connection.sendall(frame(http2.DATA, 0, 1, b"\0" + struct.pack(">I", len(HELLO)) + HELLO))
    connection.sendall(frame(http2.SETTINGS, 1))
    connection.sendall(frame(http2.DATA, 0, 1, b"\0" + struct.pack(">I", 1000) + b"\x12"))
    time.sleep(60)
