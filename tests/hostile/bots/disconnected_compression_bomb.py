"""Sends a few kilobytes that become a hundred megabytes when they are unpacked."""

import time

import grpc

from tests.hostile.raw import Raw

if __name__ == "__main__":
    raw = Raw(compression=grpc.Compression.Gzip)
    raw.greet()
    raw.read_decision()
    raw.send_bytes(bytes(100 << 20))
    raw.read_until_the_end()
    time.sleep(60)
