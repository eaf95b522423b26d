"""Claims cargo that there is not, and a port that no enumeration knows."""

from botarena.v1 import bot_pb2, game_pb2

from tests.hostile.raw import Raw

# Cards 0 and 2**32 - 1, and port 12345.
CLAIM = game_pb2.GameClaim.FromString(b"\x1a\x0b\x0a\x06\x00\xff\xff\xff\xff\x0f\x10\xb9\x60")

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0, claim=CLAIM))
