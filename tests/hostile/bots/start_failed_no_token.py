"""Shows no token at all."""

import grpc
from botarena.v1 import bot_pb2

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw(token="")
    raw.send(bot_pb2.FromBot(hello=bot_pb2.Hello(protocol=1)))
    raw.open(metadata=())
    assert raw.read_until_the_end() == grpc.StatusCode.UNAUTHENTICATED.name
    raise SystemExit("no token")
