"""What the services of tournaments and of leagues share: creating, finding and telling what is hosted."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_common_pb2 import PageReply, PageRequest

from arena.bots.sandbox import strictest
from arena.errors import NotAllowedError, TooMuchError, UsageError
from arena.rights import Caller
from arena.runs.definition import Definition, bots_of
from arena.runs.names import is_open
from arena.server.conducting import Conducting
from arena.server.lineup import MOST_BOTS, Lineup, too_many
from arena.server.pages import page_of
from arena.server.terms import clock_of, terms_message
from arena.store.accounts import Accounts
from arena.store.hosting import OVER, STATES, Hosted, Terms
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.formats import ENDLESS
from arena.tournament.runner import commitment

LEAGUE = "league"
KINDS = ("tournament", "play", LEAGUE)

_PAGE = 100  # each may name many bots, and a reply has to fit into a message
_MOST_OPTIONS = 4_000
_STATES: Mapping[str, api.HostedState.ValueType] = {
    state: api.HostedState.Value(f"HOSTED_STATE_{state.upper()}") for state in STATES
}


@dataclass(frozen=True, slots=True)
class Which:
    """Which tournaments or leagues are to be listed; what is empty leaves out none."""

    game: str
    states: Collection[int]
    owner: str
    kinds: Collection[str]


class Hosts:
    """What is hosted, for those who call.

    Args:
        conductor: plays it.
        accounts: knows what its owners may have.
    """

    def __init__(self, conductor: Conducting, accounts: Accounts) -> None:
        self.conductor = conductor
        self.hosting = conductor.hosting
        self._accounts = accounts

    def create(self, who: Caller, asked: Definition, terms: Terms, members: Sequence[int] = ()) -> Hosted:
        """Store a tournament or league that is to be played.

        Args:
            who: whose it will be.
            asked: what it shall be.
            terms: how it is hosted.
            members: row numbers of the bots that enter a league.

        Raises:
            ArenaError, GameError, ScheduleError: it cannot be, or he has too many.
        """
        quotas = self._accounts.user_by_id(who.user).quotas
        _check_asked(asked, quotas.matches)
        new = asked.build(entrants=Lineup(self.conductor.catalog, terms, asked.format))
        if new.matches != ENDLESS:
            _check_size("matches", new.matches, quotas.matches)
        return self.hosting.create(new, who.user, terms, quotas.tournaments, members)

    def own(self, who: Caller, name: str) -> Hosted:
        """A tournament or league that somebody may change.

        Raises:
            NotHostedError: there is none.
            NotAllowedError: it is somebody else's.
        """
        hosted = self.hosting.hosted(name)
        if hosted.owner_id != who.user and not who.is_admin:
            raise NotAllowedError(
                f"{hosted.name} is not yours",
                "its owner, or an admin, alone may do this",
                "watch it: arena tournament watch NAME",
            )
        return hosted

    def page(self, wanted: PageRequest, which: Which) -> tuple[list[api.HostedTournament], PageReply]:
        """Some of them, newest first.

        Raises:
            UsageError: what is asked for means nothing.
        """
        states = _states(which.states)
        game, owner = which.game or None, which.owner or None

        def read(before: int, most: int) -> list[Hosted]:
            return self.hosting.page(
                most, before or None, game=game, states=states, owner=owner, kinds=_kinds(which.kinds)
            )

        capped = PageRequest(size=min(wanted.size or _PAGE, _PAGE), token=wanted.token)
        found, reply = page_of(capped, read, lambda hosted: hosted.tournament)
        return [self.message(hosted, with_retired=False) for hosted in found], reply

    def message(self, hosted: Hosted, with_retired: bool = True) -> api.HostedTournament:
        """One of them as it is told.

        Args:
            hosted: it.
            with_retired: whether bots are told that play no further round.
        """
        stored = self.conductor.store.tournament(hosted.name)
        is_endless = stored.matches == ENDLESS
        return api.HostedTournament(
            name=stored.name,
            kind=stored.kind,
            game=stored.game,
            options=stored.options,
            bots=[_bot_message(bot) for bot in stored.bots if with_retired or not bot.retired],
            seats=stored.seats,
            format=stored.format,
            settings_json=json.dumps(stored.settings),
            is_rotated=stored.rotate,
            deals=None if is_endless else stored.deals,
            matches=None if is_endless else stored.matches,
            is_at_most=is_open(stored),
            clock=_clock_message(stored),
            owner=hosted.owner,
            terms=terms_message(hosted.terms),
            progress=self.progress(hosted),
            created_us=stored.created_us,
            finished_us=stored.finished_us,
            commitment=commitment(stored.seed),
            # What is cancelled may still have matches in play: its seed would tell their cards.
            seed=stored.seed.hex() if hosted.state in OVER and stored.finished_us is not None else None,
            sandbox=strictest(bots_of(stored)),
        )

    def progress(self, hosted: Hosted) -> api.HostedProgress:
        """How far one of them is, as it is told."""
        now = self.conductor.progress(hosted)
        return api.HostedProgress(
            state=_STATES[hosted.state],
            reason=hosted.reason,
            played=now.played,
            matches=now.matches,
            rate=now.rate,
            eta_s=now.eta_s,
            outlook=now.outlook,
            today=now.today,
        )


def definition(
    asked: api.CreateTournamentRequest | api.CreateLeagueRequest, kind: str, name: str, format_: str
) -> Definition:
    """What tournaments and leagues are defined by alike.

    Raises:
        ArenaError: it is more than they may have.
    """
    if len(asked.bots) > MOST_BOTS:
        raise too_many()
    if sum(len(key) + len(value) for key, value in asked.options.items()) > _MOST_OPTIONS:
        raise TooMuchError("the options are too long", "no game has so many", "see: arena games show GAME")
    return Definition(
        game=asked.game,
        bots=tuple(asked.bots),
        kind=kind,
        seats=asked.seats if asked.HasField("seats") else None,
        deals=asked.deals if asked.HasField("deals") else None,
        format=format_,
        seed=asked.seed or None,
        name=name or None,
        options=dict(asked.options),
        limits=clock_of(asked.clock),
    )


def _check_asked(asked: Definition, most: int) -> None:
    """Whether it is worth making: what is made of numbers without end may be without end itself."""
    for what in ("deals", "matches", "rounds"):
        _check_size(what, getattr(asked, what) or 0, most)


def _check_size(what: str, number: int, most: int) -> None:
    if number > most:
        raise TooMuchError(
            f"{number} {what} are too many",
            f"a tournament of this user may have {most} matches",
            "ask for fewer: --deals NUMBER; an admin can allow more",
        )


def _states(wanted: Iterable[int]) -> list[str]:
    names: dict[int, str] = {number: state for state, number in _STATES.items()}
    if unknown := [number for number in wanted if number not in names]:
        raise UsageError("the filter means nothing", f"{unknown[0]} is no state", f"use {', '.join(STATES)}")
    return sorted({names[number] for number in wanted})


def _kinds(wanted: Iterable[str]) -> list[str]:
    if any(kind not in KINDS for kind in wanted):
        raise UsageError(
            "the filter means nothing", "a kind is asked for that there is not", f"use {', '.join(KINDS)}"
        )
    return sorted(set(wanted))


def _bot_message(bot: StoredBot) -> api.HostedBot:
    return api.HostedBot(name=bot.name, version=bot.version, owner=bot.owner or "", is_retired=bot.retired)


def _clock_message(stored: StoredTournament) -> api.Clock:
    return api.Clock(
        move_us=stored.move_us,
        bank_us=stored.bank_us,
        start_us=stored.start_us,
        faults_allowed=stored.faults_allowed,
    )
