"""The chance stream against check values that were computed elsewhere."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.chance import Chance, bot_seed, deal_seed, stand_in_seed

ZEROS = bytes(32)
COUNTING = bytes(range(32))


@pytest.mark.parametrize(
    ("seed", "words"),
    [(ZEROS, "2c34ce1d f23b838c 5abf2a7f"), (COUNTING, "a9d6e500 293a88bd 38cbe213")],
)
def test_first_words(seed: bytes, words: str) -> None:
    chance = Chance(seed)
    assert " ".join(f"{chance.word():08x}" for _ in range(3)) == words
    assert chance.used == 3


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [(ZEROS, [29, 48, 11, 15, 29, 9, 47, 11]), (COUNTING, [12, 29, 27, 3, 9, 1, 35, 20])],
)
def test_below_52(seed: bytes, numbers: list[int]) -> None:
    chance = Chance(seed)
    assert [chance.below(52) for _ in range(8)] == numbers


@pytest.mark.parametrize(
    ("seed", "order"),
    [
        (ZEROS, [11, 0, 3, 4, 2, 10, 7, 9, 6, 5, 8, 1]),
        (COUNTING, [8, 2, 3, 10, 11, 1, 6, 5, 7, 9, 4, 0]),
    ],
)
def test_shuffle(seed: bytes, order: list[int]) -> None:
    chance = Chance(seed)
    items = list(range(12))
    chance.shuffle(items)
    assert items == order
    assert chance.used == 11


class _Refusing(Chance):
    """A stream of which most words are the highest one, so that some draws must be repeated."""

    def _open_block(self, index: int) -> None:
        super()._open_block(index)
        self._block = (*[(1 << 32) - 1] * 5, *self._block[5:])


@pytest.mark.parametrize("stream", [Chance, _Refusing])
@given(st.binary(min_size=32, max_size=32), st.integers(0, 20), st.integers(0, 70))
def test_shuffle_is_what_its_definition_gives(
    stream: type[Chance], seed: bytes, used: int, length: int
) -> None:
    """From the last to the second: swap with the one below its number."""
    chance, twin = stream(seed, used), stream(seed, used)
    items, expected = list(range(length)), list(range(length))
    chance.shuffle(items)
    for i in range(length - 1, 0, -1):
        j = twin.below(i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert items == expected
    assert chance.word() == twin.word()
    assert chance.used == twin.used


@pytest.mark.parametrize(
    ("deal", "seed"),
    [
        (0, "026e047a9eb10a4a7e5786d9f80df829036f0905fece4dc0b93a71b31870ec29"),
        (1, "37e988e6766917e9099be6f5798cbc7607c964fd42b39ea4fd8c608dcc0f210c"),
    ],
)
def test_deal_seed(deal: int, seed: str) -> None:
    assert deal_seed(ZEROS, "koffer", deal).hex() == seed


def test_below_1_draws_nothing() -> None:
    chance = Chance(ZEROS)
    assert chance.below(1) == 0
    assert chance.used == 0


@pytest.mark.parametrize("n", [0, -1])
def test_below_nothing_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="nothing can be drawn"):
        Chance(ZEROS).below(n)


def test_a_word_of_the_incomplete_last_run_is_drawn_again() -> None:
    n = 2**31 + 1  # words from n on, almost half of all, are of no use
    words, chance = Chance(ZEROS), Chance(ZEROS)
    drawn = [chance.below(n) for _ in range(20)]
    used = [words.word() for _ in range(chance.used)]
    assert drawn == [word for word in used if word < n]
    assert chance.used > 20


def test_a_stream_goes_on_from_the_number_of_words_used() -> None:
    whole, rest = Chance(COUNTING), Chance(COUNTING, used=9)
    words = [whole.word() for _ in range(30)]
    assert [rest.word() for _ in range(21)] == words[9:]


def test_a_copy_is_independent() -> None:
    chance = Chance(COUNTING, used=5)
    twin = chance.copy()
    assert [twin.word() for _ in range(20)] == [chance.word() for _ in range(20)]
    twin.word()
    assert chance.used == 25


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_has_32_bytes(length: int) -> None:
    with pytest.raises(ValueError, match=f"32 bytes, not {length}"):
        Chance(bytes(length))


def test_seeds_of_bots_and_stand_ins_differ_by_seat_and_purpose() -> None:
    seeds = [make(ZEROS, seat) for make in (bot_seed, stand_in_seed) for seat in range(7)]
    assert Counter(map(len, seeds)) == {32: 14}
    assert len({ZEROS, *seeds}) == 15
