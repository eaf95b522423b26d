"""Plays, and knocks at its own door with tokens that are not its own."""

import os

import grpc
from botarena.v1 import bot_pb2

from tests.hostile.probe import Probe
from tests.hostile.raw import Raw

OWN = os.environ["ARENA_TOKEN"]
TOKENS = {
    "empty": "",
    "cut": OWN[:-1],
    "longer": OWN + "A",
    "turned": OWN[::-1],
    "twice": f"{OWN} {OWN}",
    "huge": "A" * 7000,
    "percent": "%00",
}


def knock(token: str) -> bool:
    other = Raw(token=token)
    other.greet(read=False)
    try:
        return other.read().HasField("welcome")
    except grpc.RpcError as error:
        raise PermissionError(str(error)[:200]) from None


if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    probe = Probe()
    for name, token in TOKENS.items():
        probe.attempt(name, knock, token)
    probe.done()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0))
