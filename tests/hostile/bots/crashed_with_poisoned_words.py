"""Says what would harm a terminal, a page or a table, in its hello, its log and its error."""

import sys

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

POISON = "\x1b]0;owned\x07\x1b[2J\x9b31m<script>alert(1)</script>\0\r=cmd|' /C calc'!A0\u202e\ud7ff"

if __name__ == "__main__":
    sys.stdout.buffer.write(POISON.encode() + b"\xff\xfe\n")
    print(POISON, file=sys.stderr, flush=True)
    raw = Raw()
    hello = bot_pb2.Hello(protocol=1, sdk=POISON, sdk_version=POISON, concurrency=64)
    raw.open()
    raw.send(bot_pb2.FromBot(hello=hello))
    raw.read()
    while True:
        for decision in raw.read().decisions:
            raw.send(bot_pb2.FromBot(errors=[bot_pb2.BotError(decision=decision.id, text=POISON)]))
