"""Answers decisions that were not asked yet, and those of other matches and bots, before each of its own."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw


def answers(decision: bot_pb2.Decision) -> list[bot_pb2.Reply]:
    guesses = [decision.id + 1, decision.id + 2, 0, (1 << 64) - 1]
    replies = [bot_pb2.Reply(decision=guess, action=guess % 7) for guess in guesses]
    return [*replies, bot_pb2.Reply(decision=decision.id, action=0)]


if __name__ == "__main__":
    raw = Raw()
    raw.greet(concurrency=1)
    raw.play(answers)
