"""Fills its frames with fields that the protocol does not know, and with numbers of the wrong kind."""

from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

UNKNOWN = (
    b"\xfa\x3e\x40" + bytes(64) + b"\x98\x3f\x01" + b"\x10\x05"
)  # fields 1007 and 1011, and replies as a number


def frame(decision: bot_pb2.Decision) -> bytes:
    reply = bot_pb2.Reply(decision=decision.id, action=0).SerializeToString() + UNKNOWN[:67]
    return UNKNOWN + b"\x12" + bytes((len(reply),)) + reply + UNKNOWN


if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.play_frames(frame)
