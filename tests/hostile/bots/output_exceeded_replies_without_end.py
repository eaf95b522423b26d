"""Answers decisions that nobody asked, a thousand in each frame, as fast as it can."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.read_decision()
    replies = [bot_pb2.Reply(decision=(1 << 40) + number, action=0) for number in range(1000)]
    data = bot_pb2.FromBot(replies=replies).SerializeToString()
    for _ in range(1000):
        raw.send_bytes(data)
    raw.read_until_the_end()
