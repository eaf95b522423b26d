"""HTTP/2 by hand, to send what no library would."""

from __future__ import annotations

import contextlib
import os
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    """One frame."""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def field(name: str, value: str) -> bytes:
    """A header field, neither compressed nor indexed; both texts shorter than 127 bytes."""
    return bytes((0, len(name))) + name.encode() + bytes((len(value),)) + value.encode()


def call_headers(token: str) -> bytes:
    """The header block of a call of BotService.Play."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/botarena.v1.BotService/Play",
        ":authority": "localhost",
        "content-type": "application/grpc",
        "te": "trailers",
        "authorization": f"Bearer {token}",
    }
    return b"".join(field(name, value) for name, value in fields.items())


def dial() -> socket.socket:
    """A connection to the arena, on which nothing has been said yet."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(2)
    connection.connect(os.environ["ARENA_ADDR"].removeprefix("unix:"))
    return connection


def greeted() -> socket.socket:
    """A connection with the preface and empty settings sent."""
    connection = dial()
    connection.sendall(PREFACE + frame(SETTINGS))
    return connection


def kinds(connection: socket.socket) -> list[int]:
    """Kinds of all frames that have come."""
    connection.setblocking(False)
    data, found = b"", []
    with contextlib.suppress(OSError):
        while more := connection.recv(1 << 16):
            data += more
    while len(data) >= 9:
        found.append(data[3])
        data = data[9 + int.from_bytes(data[:3], "big") :]
    return found


def flood(connection: socket.socket, data: bytes, times: int) -> bool:
    """Send the same again and again, and read nothing; whether all of it was taken."""
    try:
        for _ in range(times):
            connection.sendall(data)
    except OSError:
        return False
    finally:
        connection.close()
    return True
