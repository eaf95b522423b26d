"""Plays on one stream, and opens a thousand more with its token, on ten connections; none is let in."""

import os
import struct
import threading
import time

from botarena.v1 import bot_pb2

from tests.hostile import http2
from tests.hostile.http2 import frame
from tests.hostile.probe import Probe
from tests.hostile.raw import Raw

HELLO = bot_pb2.FromBot(hello=bot_pb2.Hello(protocol=1)).SerializeToString()
MESSAGE = b"\0" + struct.pack(">I", len(HELLO)) + HELLO


def opened_on_a_connection() -> int:
    """How many of a hundred streams got data: that would be a welcome."""
    block = http2.call_headers(os.environ["ARENA_TOKEN"])
    connection = http2.greeted()
    for stream in range(1, 200, 2):
        connection.sendall(frame(http2.HEADERS, http2.END_HEADERS, stream, block))
        connection.sendall(frame(http2.DATA, 0, stream, MESSAGE))
    time.sleep(0.5)
    return http2.kinds(connection).count(http2.DATA)


def attack() -> None:
    probe = Probe()
    for number in range(10):
        probe.attempt(f"connection {number}", opened_on_a_connection)
    probe.done()


if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    attacking = threading.Thread(target=attack)
    attacking.start()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0), before=attacking.join)
