"""How much of everything a user may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from arena.errors import UsageError
from arena.text import printable

_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Quotas:
    """How much a user may have.

    Attributes:
        bots: bots of all kinds.
        remote_bots: of them, those that dial in.
        versions_per_day: submissions of all bots together, in 24 hours.
        stored_bytes: bytes of all archives together.
        tournaments: tournaments and leagues that are not over, at once.
        matches: matches of one tournament.
        tokens: tokens that can be used.
    """

    bots: int = 10
    remote_bots: int = 5
    versions_per_day: int = 20
    stored_bytes: int = 1 << 30
    tournaments: int = 3
    matches: int = 1_000_000
    tokens: int = 50

    def changed(self, own: Mapping[str, int]) -> Quotas:
        """These, with some of them replaced.

        Raises:
            UsageError: there is no such quota, or it cannot be so much.
        """
        return Quotas(**{**asdict(self), **checked_quotas(own)})


QUOTAS = tuple(field.name for field in fields(Quotas))
"""Names of the quotas."""
_CHOOSE = f"choose among {', '.join(QUOTAS)}"


def checked_quotas(own: Mapping[str, int]) -> dict[str, int]:
    """Quotas by name.

    Raises:
        UsageError: there is no such quota, or it cannot be so much.
    """
    for name, most in own.items():
        if name not in QUOTAS:
            raise UsageError(
                f"there is no quota {printable(name)!r}", "it is none of those that are kept", _CHOOSE
            )
        if not 0 <= most <= _MOST:
            raise UsageError(f"{name} cannot be {most}", "a quota is a number from 0 up", "give another one")
    return dict(own)
