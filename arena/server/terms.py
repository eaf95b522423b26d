"""On which terms a tournament or league is hosted: what a caller asks for, as far as he may have it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from botarena.v1 import api_tournaments_pb2 as api

from arena.errors import NotAllowedError, TooMuchError, UsageError
from arena.rights import Caller
from arena.runs.definition import Limits
from arena.store.hosting import NONE, REMOTES, Terms

AHEAD_US = 366 * 24 * 3600 * 1_000_000
"""How far ahead something may be scheduled."""
LONGEST = Limits(move_us=600_000_000, bank_us=3_600_000_000, start_us=120_000_000, faults_allowed=10_000)
"""The most that the clock of a seat may have: a bot that says nothing keeps its table for so long."""
MOST_PER_DAY = 1 << 40

_REMOTES: Mapping[int, str] = {
    api.REMOTE_BOTS_UNSPECIFIED: NONE,
    **{api.RemoteBots.Value(f"REMOTE_BOTS_{remote.upper()}"): remote for remote in REMOTES},
}


def terms_of(asked: api.HostingTerms, who: Caller, *, is_league: bool, has_seed: bool) -> Terms:
    """The terms that somebody asks for.

    Args:
        asked: what he asks for.
        who: he.
        is_league: whether they are those of a league.
        has_seed: whether he chooses the seed himself.

    Raises:
        UsageError: they mean nothing.
        NotAllowedError: he may not have them.
    """
    if not is_league:
        _check_tournament(asked)
    terms = Terms(
        begins_us=_begin(asked.begins_us) if asked.HasField("begins_us") else None,
        per_day=_budget(asked.per_day) if asked.HasField("per_day") else None,
        rated=asked.rated if asked.HasField("rated") else True,
        same_owner=asked.same_owner,
        remote=_remote(asked.remote),
        is_open=asked.is_open,
    )
    if terms.rated and not who.is_admin:
        _check_rated(terms, has_seed)
    return terms


def terms_message(terms: Terms) -> api.HostingTerms:
    """Terms as they are told."""
    return api.HostingTerms(
        begins_us=terms.begins_us,
        per_day=terms.per_day,
        rated=terms.rated,
        same_owner=terms.same_owner,
        remote=api.RemoteBots.Value(f"REMOTE_BOTS_{terms.remote.upper()}"),
        is_open=terms.is_open,
    )


def clock_of(asked: api.Clock) -> Limits:
    """The clock that somebody asks for; what he does not name has its default.

    Raises:
        TooMuchError: it is more than a seat may have.
    """
    given = {field.name: value for field, value in asked.ListFields()}
    for name, value in given.items():
        if value > (most := getattr(LONGEST, name)):
            raise TooMuchError(
                "the clock is too generous",
                f"{name} is {value}, and a seat may have {most}",
                "give less: --each time=1s,bank=60s,start=10s,faults=0",
            )
    return Limits(**given)


def _check_tournament(asked: api.HostingTerms) -> None:
    for name, is_given in (("per_day", asked.HasField("per_day")), ("is_open", asked.is_open)):
        if is_given:
            raise UsageError(
                f"a tournament has no {name}",
                "its bots and matches are those that it begins with",
                "create a league, or leave it out",
            )


def _begin(begins_us: int) -> int:
    now_us = time.time_ns() // 1000
    if not now_us <= begins_us <= now_us + AHEAD_US:
        when = "past" if begins_us < now_us else "far future"
        raise UsageError(
            "it cannot begin then",
            f"that is in the {when}",
            "name a time within a year, or none: then it begins at once",
        )
    return begins_us


def _budget(per_day: int) -> int:
    if not 1 <= per_day <= MOST_PER_DAY:
        raise UsageError(
            f"{per_day} matches a day are no budget",
            "it must be a number from 1 up",
            "choose another, or leave it out",
        )
    return per_day


def _remote(asked: int) -> str:
    if asked not in _REMOTES:
        raise UsageError(
            "the terms mean nothing",
            f"there is no {asked} among the kinds of remote bots",
            f"use {', '.join(REMOTES)}",
        )
    return _REMOTES[asked]


def _check_rated(terms: Terms, has_seed: bool) -> None:
    """Whether nobody can steer what counts for everybody: by known deals, or by bots that help each other."""
    if has_seed or terms.same_owner:
        chosen = "with a seed of one's own choice" if has_seed else "that lets bots of one owner meet"
        raise NotAllowedError(
            f"nothing rated begins {chosen}",
            "only an admin may decide that",
            "leave that out, or let it not count: --unrated",
        )
