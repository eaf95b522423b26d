"""Says hello so slowly that it never gets there."""

import time

from tests.hostile import http2

if __name__ == "__main__":
    connection = http2.dial()
    for byte in http2.PREFACE:
        connection.sendall(bytes((byte,)))
        time.sleep(1)
