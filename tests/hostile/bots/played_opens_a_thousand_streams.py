"""Plays, and opens a thousand more streams with its token, on ten connections; none is let in."""

import grpc
from botarena.v1 import bot_pb2

from tests.hostile.probe import Probe
from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    probe = Probe()
    for number in range(10):
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.arg", number))
        streams = [Raw(options=options) for _ in range(100)]
        for stream in streams:
            stream.greet(read=False)
        statuses = [stream.read_until_the_end() for stream in streams]
        refused = (grpc.StatusCode.ALREADY_EXISTS.name, grpc.StatusCode.UNAVAILABLE.name)
        let_in = [status for status in statuses if status not in refused]
        probe.found(f"connection {number}", bool(let_in), str(let_in))
        for stream in streams:
            stream.close()
    probe.done()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0))
