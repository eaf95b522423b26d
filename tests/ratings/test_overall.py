"""One rating over several games."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.fit import Fit
from arena.ratings.fold import RatingError
from arena.ratings.overall import WIDER, overall


def rated(mu: dict[str, float], sigma: float = 1.0, pools: tuple[int, ...] = ()) -> Fit:
    covariance = np.eye(len(mu)) * sigma**2
    numbers = np.array(pools or (0,) * len(mu), np.intp)
    return Fit(tuple(mu), np.array(list(mu.values())), covariance, covariance, {}, {}, {}, numbers, 1)


def test_games_count_the_same_however_wide_their_ratings_are() -> None:
    games = {
        "wide": rated({"a": 20.0, "b": 0.0, "c": -20.0}),
        "narrow": rated({"a": -1.0, "b": 0.0, "c": 1.0}),
    }
    whole = overall(games)
    assert {skill.bot: skill.mu for skill in whole.skills} == pytest.approx({"a": 0, "b": 0, "c": 0})
    assert whole.by_game["wide"] == pytest.approx({"a": 1, "b": 0, "c": -1})
    assert whole.missing == {}


def test_the_error_is_that_of_the_mean_of_the_games_and_a_fifth_more() -> None:
    games = {name: rated({"a": 2.0, "b": 0.0, "c": -2.0}, sigma=0.5) for name in ("one", "other")}
    (first, *_) = overall(games).skills
    # In a game: 0.5 in units of 2, centred over 3 bots; over two games the root of 2 less.
    assert first.sigma == pytest.approx(WIDER * 0.25 * np.sqrt(2 / 3) / np.sqrt(2))


def test_a_bot_that_missed_a_game_has_no_overall_rating() -> None:
    games = {
        "one": rated({"a": 1.0, "b": 0.0, "c": 5.0}),
        "other": rated({"a": 1.0, "b": 0.0, "d": 3.0}, pools=(0, 0, 1)),
    }
    whole = overall(games)
    assert [skill.bot for skill in whole.skills] == ["a", "b"]
    assert whole.missing == {"c": ["other"]}


def test_without_two_common_bots_there_is_none() -> None:
    games = {"one": rated({"a": 1.0, "b": 0.0}), "other": rated({"c": 1.0, "b": 0.0})}
    with pytest.raises(RatingError, match="1 bots have a rating in all of one, other"):
        overall(games)


def test_a_game_in_which_all_are_equal_is_named() -> None:
    with pytest.raises(RatingError, match="rated the same in flat"):
        overall({"flat": rated({"a": 1.0, "b": 1.0})})
