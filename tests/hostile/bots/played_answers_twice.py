"""Answers every decision three times, and decisions that nobody asked."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.play(
        lambda decision: [
            bot_pb2.Reply(decision=number, action=action)
            for number, action in ((decision.id, 0), (decision.id, 1), (decision.id - 1, 3), (1 << 60, 0))
        ]
    )
