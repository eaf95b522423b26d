"""The chance stream: every random event of a match, reproducible in any language from 32 bytes.

Block i of a seed is SHA-256(seed, i as 8 bytes big-endian) and yields eight 32-bit big-endian
words. A stream is fully described by its seed and the number of words used.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence
from struct import Struct
from typing import TypeVar

_T = TypeVar("_T")
_WORDS = Struct(">8I")
_RANGE = 1 << 32

SEED_BYTES = 32


class Chance:
    """A position in the chance stream of a seed.

    Args:
        seed: 32 bytes.
        used: number of 32-bit words already drawn.

    Raises:
        ValueError: the seed is not 32 bytes long.
    """

    __slots__ = ("_block", "_block_index", "seed", "used")

    def __init__(self, seed: bytes, used: int = 0) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed is {SEED_BYTES} bytes, not {len(seed)}")
        self.seed = seed
        self.used = used
        self._block: tuple[int, ...] = ()
        self._block_index = -1

    def copy(self) -> Chance:
        """An independent stream at the same position."""
        return Chance(self.seed, self.used)

    def word(self) -> int:
        """The next 32-bit word."""
        index = self.used >> 3
        if index != self._block_index:
            self._open_block(index)
        word = self._block[self.used & 7]
        self.used += 1
        return word

    def _open_block(self, index: int) -> None:
        self._block = _WORDS.unpack(hashlib.sha256(self.seed + index.to_bytes(8, "big")).digest())
        self._block_index = index

    def below(self, n: int) -> int:
        """An integer, uniform over 0..n-1. For n = 1 nothing is drawn.

        Raises:
            ValueError: n < 1.
        """
        if n < 2:
            if n < 1:
                raise ValueError(f"nothing can be drawn below {n}")
            return 0
        # Words from the incomplete last run of n are drawn again, so no value is favoured.
        limit = _RANGE - _RANGE % n
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % n

    def shuffle(self, items: MutableSequence[_T]) -> None:
        """Shuffle in place; index 0 becomes the top of the pile."""
        # From the last item to the second, each is swapped with the one at `below` its number. That is
        # written out here with a block's words at hand: most of what a deal costs is this.
        left = len(items)
        while left > 1:
            if (index := self.used >> 3) != self._block_index:
                self._open_block(index)
            for word in self._block[self.used & 7 :]:
                self.used += 1
                if word < _RANGE - _RANGE % left:
                    j = word % left
                    left -= 1
                    items[left], items[j] = items[j], items[left]
                    if left < 2:
                        return


def deal_seed(tournament_seed: bytes, game: str, deal: int) -> bytes:
    """Seed of a deal of a game in a tournament, 32 bytes."""
    message = b"botarena deal\0" + tournament_seed + game.encode("ascii") + b"\0" + deal.to_bytes(8, "big")
    return hashlib.sha256(message).digest()


def bot_seed(seed: bytes, seat: int) -> bytes:
    """Seed that a bot is given for its own choices: it depends on the deal and the seat alone, so
    that any bot put there repeats itself, and the deal cannot be told from it."""
    return hashlib.sha256(b"botarena bot\0" + seed + seat.to_bytes(8, "big")).digest()


def stand_in_seed(seed: bytes, seat: int) -> bytes:
    """Seed of the stand-in that plays a forfeited seat to the end."""
    return hashlib.sha256(b"botarena stand-in\0" + seed + seat.to_bytes(8, "big")).digest()
