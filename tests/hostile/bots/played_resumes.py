"""Breaks its stream with a decision open, and resumes with its session."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw


def reply(decision: bot_pb2.Decision) -> bot_pb2.Reply:
    return bot_pb2.Reply(decision=decision.id, action=0)


if __name__ == "__main__":
    first = Raw()
    session = first.greet()
    for _ in range(2):
        first.send(bot_pb2.FromBot(replies=[reply(first.read_decision())]))
    first.read_decision()
    first.close()
    second = Raw()
    second.greet(session=session)
    second.play(reply)
