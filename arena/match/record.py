"""The stored form of a record: bytes that prove by themselves that none of them was changed."""

from __future__ import annotations

import hashlib

from botarena.v1.record_pb2 import MatchRecord
from google.protobuf.message import DecodeError

FORMAT = 1

_DIGEST_BYTES = 32
# The field `digest` as it stands at the end of every record: its tag, then its length.
_DIGEST_HEAD = MatchRecord(digest=bytes(_DIGEST_BYTES)).SerializeToString()[:-_DIGEST_BYTES]


class RecordDamagedError(ValueError):
    """Stored bytes that are not a whole, unchanged record."""


def seal(record: MatchRecord) -> bytes:
    """Serialise a record and add its digest: equal records give equal bytes."""
    record.ClearField("digest")
    body = record.SerializeToString(deterministic=True)
    return body + _DIGEST_HEAD + hashlib.sha256(body).digest()


def unseal(data: bytes) -> MatchRecord:
    """The record that `seal` stored.

    Raises:
        RecordDamagedError: a byte was changed, added or lost.
    """
    body, head, digest = _split(data)
    if head != _DIGEST_HEAD or hashlib.sha256(body).digest() != digest:
        raise RecordDamagedError("the record's bytes do not match its digest: it was changed or cut")
    try:
        record = MatchRecord.FromString(data)
    except DecodeError:
        raise RecordDamagedError("the record is no MatchRecord message") from None
    if record.format != FORMAT:
        raise RecordDamagedError(f"the record has format {record.format}, and this arena reads {FORMAT}")
    return record


def identity(data: bytes) -> bytes:
    """SHA-256 of what a match was, without when and how fast: equal for a match played again alike.

    Raises:
        RecordDamagedError: the bytes are no whole record.
    """
    record = unseal(data)
    record.ClearField("circumstances")
    return hashlib.sha256(seal(record)).digest()


def _split(data: bytes) -> tuple[bytes, bytes, bytes]:
    end = len(data) - _DIGEST_BYTES
    start = end - len(_DIGEST_HEAD)
    return (data[:start], data[start:end], data[end:]) if start >= 0 else (data, b"", b"")
