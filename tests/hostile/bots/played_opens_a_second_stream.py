"""Tries a second stream with its token; the arena refuses it and the first plays on."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    second = Raw()
    second.greet(read=False)
    assert second.read_until_the_end() == "ALREADY_EXISTS"
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0))
