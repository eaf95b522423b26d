"""Plays on one connection, floods the arena with frames of HTTP/2 on others, and reads no answer there."""

import os
import threading

from botarena.v1 import bot_pb2

from tests.hostile import http2
from tests.hostile.http2 import flood, frame, greeted
from tests.hostile.raw import Raw


def resets() -> bytes:
    """A thousand calls that are given up at once, the first thousand of a connection."""
    block = http2.call_headers(os.environ["ARENA_TOKEN"])
    calls = range(1, 2001, 2)
    return b"".join(
        frame(http2.HEADERS, http2.END_HEADERS, number, block)
        + frame(http2.RST_STREAM, 0, number, b"\0\0\0\x08")
        for number in calls
    )


def headers_without_end() -> bytes:
    return frame(http2.HEADERS, 0, 1, http2.call_headers("x"))


def attack() -> None:
    filler = http2.field("x-filler", "y" * 100) * 100
    ping = frame(http2.PING, 0, 0, bytes(8))
    flood(greeted(), ping * 1000, 200)
    flood(greeted(), frame(http2.SETTINGS, 0, 0, b"\0\x04\0\0\xff\xff") * 1000, 100)
    flood(greeted(), frame(http2.WINDOW_UPDATE, 0, 0, b"\0\0\0\1") * 1000, 100)
    flood(greeted(), frame(http2.PRIORITY, 0, 3, b"\0\0\0\0\1") * 1000, 100)
    flood(greeted(), frame(99, 0, 0, bytes(1000)) * 100, 100)
    for _ in range(5):
        flood(greeted(), resets(), 1)
    endless = greeted()
    endless.sendall(headers_without_end())
    flood(endless, frame(http2.CONTINUATION, 0, 1, filler), 4000)
    flood(http2.dial(), os.urandom(1 << 16), 100)
    flood(http2.dial(), http2.PREFACE[:10], 1)


if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    flooding = threading.Thread(target=attack)
    flooding.start()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0), before=flooding.join)
