"""Names the largest action that the wire can carry."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0xFFFFFFFF))
