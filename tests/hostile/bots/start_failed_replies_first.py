"""Answers before it greets."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.open()
    raw.send(bot_pb2.FromBot(replies=[bot_pb2.Reply(decision=1, action=0)]))
    raw.read_until_the_end()
