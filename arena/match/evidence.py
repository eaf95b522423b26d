"""What is known about how a bot's fault came about. Its author and the organiser may know it, nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from botarena.v1.record_pb2 import Evidence, Fault, MatchRecord

MOST_DETAIL = 4096
"""Characters that are kept of a fault's detail."""
MOST_STDERR = 4096
"""Characters that are kept of the end of a bot's stderr."""


class ToldFault(NamedTuple):
    """A fault with what is known about it.

    Attributes:
        fault: seat, decision and kind.
        detail: in words; "" if it was not kept.
        evidence: how it came about; empty if it was not kept.
    """

    fault: Fault
    detail: str
    evidence: Evidence


def made_evidence(
    stderr: str = "", exit_code: int | None = None, signal: str = "", memory_peak_bytes: int = 0
) -> Evidence:
    """Evidence of bounded size out of what a launcher tells; when it was noticed is the match's to say.

    Args:
        stderr: the last that the bot wrote there.
        exit_code: of its process, if that ended by itself.
        signal: name of the signal that ended it; "" if none did.
        memory_peak_bytes: the most memory that it had in use; 0 if that is not known.
    """
    evidence = Evidence(
        stderr=as_text(stderr)[-MOST_STDERR:],
        signal=signal,
        memory_peak_bytes=max(0, memory_peak_bytes),
    )
    if exit_code is not None:
        evidence.exit_code = exit_code
    return evidence


def as_text(text: str) -> str:
    """Text that a message can hold: what is no character is shown as an escape."""
    return text.encode(errors="backslashreplace").decode()


def told_faults(record: MatchRecord) -> Iterator[ToldFault]:
    """The faults of a record, each with what the record has about it."""
    known = record.circumstances
    for fault, detail, evidence in zip_longest(record.faults, known.fault_details, known.evidence):
        if fault is not None:
            yield ToldFault(fault, detail or "", evidence or Evidence())


def public_record(record: MatchRecord) -> MatchRecord:
    """A copy of a record with what everybody may know: it has the same identity, and replays alike."""
    public = MatchRecord()
    public.CopyFrom(record)
    public.circumstances.ClearField("fault_details")
    public.circumstances.ClearField("evidence")
    return public
