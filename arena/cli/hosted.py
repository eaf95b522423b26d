"""Playing on a server: what `arena play`, `tournament`, `compare` and `league` do with `--server`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botarena.v1 import api_tournaments_pb2 as api
from botarena.v1.api_common_pb2 import PageRequest

from arena.bots.sandbox import LEVELS
from arena.cli.common import leave
from arena.cli.following import OVER, Told, follow, progress_text, state_of, state_text
from arena.cli.outcome import show_hosted
from arena.cli.output import OUT
from arena.cli.remote import connected
from arena.cli.terms import REMOTES, Terms
from arena.errors import ArenaError, NotFoundError, StateError, UsageError
from arena.runs.definition import Definition, Limits
from arena.runs.selecting import parse_date
from arena.text import printable
from arena.tournament.formats import DEFAULT_FORMAT

if TYPE_CHECKING:
    from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
    from botarena.v1.api_tournaments_pb2_grpc import LeagueServiceStub, TournamentServiceStub

# What may be a bot of a server; what else a bot may be is on this machine.
_SUBMITTED = re.compile(r"(house:[\w.-]+|[\w][\w.-]*(@\d+)?)", re.ASCII)
_LIMITS = ("move_us", "bank_us", "start_us", "faults_allowed")
_ASKED = ("seats", "deals", "matches", "rounds", "until", "confidence", "tolerance", "gain", "seed", "name")


@dataclass(frozen=True, slots=True)
class _Services:
    """What a server has for those who let it play."""

    tournaments: TournamentServiceStub
    leagues: LeagueServiceStub
    accounts: AccountServiceStub


@contextmanager
def _services() -> Iterator[_Services]:
    with connected() as server:
        # They load gRPC.
        from botarena.v1.api_accounts_pb2_grpc import AccountServiceStub
        from botarena.v1.api_tournaments_pb2_grpc import LeagueServiceStub, TournamentServiceStub

        yield _Services(
            server.stub(TournamentServiceStub),
            server.stub(LeagueServiceStub),
            server.stub(AccountServiceStub),
        )


def create(definition: Definition, terms: Terms, detach: bool) -> None:
    """Let a server play a tournament, and see it out.

    Args:
        definition: the tournament.
        terms: how it is hosted.
        detach: whether to leave as soon as the server has it.

    Raises:
        ArenaError: the server refuses it, it failed, or somebody cancelled it.
    """
    request = tournament_request(definition, terms)
    with _services() as services:
        made = services.tournaments.CreateTournament(request).tournament
        _say_head(made)
        _see_out(services, made.name, made.progress, detach)


def create_league(definition: Definition, terms: Terms, detach: bool) -> None:
    """Let a server play a league, and follow it.

    Args:
        definition: the league, with its name.
        terms: how it is hosted.
        detach: whether to leave as soon as the server has it.

    Raises:
        ArenaError: the server refuses it, it failed, or somebody cancelled it.
    """
    request = league_request(definition, terms)
    with _services() as services:
        made = services.leagues.CreateLeague(request).league
        _say_head(made)
        _see_out(services, made.name, made.progress, detach)


def go_on(name: str | None, detach: bool, is_league: bool = False) -> None:
    """Let a server go on with what is paused or has failed, and see it out.

    Args:
        name: of the tournament or league; None: the caller's newest tournament.
        detach: whether to leave as soon as it goes on.
        is_league: whether it must be a league.

    Raises:
        ArenaError: there is none, the server refuses, it failed, or somebody cancelled it.
    """
    with _services() as services:
        if name is None:
            name = _newest(services)
        found = _league(services, name) if is_league else _tournament(services, name)
        progress = found.progress
        if state_of(progress) in ("paused", "failed"):
            request = api.ResumeTournamentRequest(name=name)
            progress = services.tournaments.ResumeTournament(request).progress
        _see_out(services, name, progress, detach)


def pause(name: str) -> None:
    """Let a server play nothing more of a tournament or league for now."""
    with _services() as services:
        answer = services.tournaments.PauseTournament(api.PauseTournamentRequest(name=name))
    _show_progress(name, answer.progress)
    OUT.say(f"go on with it: arena tournament resume {name}")


def cancel(name: str) -> None:
    """Let a server end a tournament or league for good."""
    with _services() as services:
        answer = services.tournaments.CancelTournament(api.CancelTournamentRequest(name=name))
    _show_progress(name, answer.progress)
    OUT.say(f"see what was played: arena tournament show {name}")


def watch(name: str) -> None:
    """Follow a tournament or league to its end, also as data for programs, and show what came out."""
    with _services() as services:
        hosted = _tournament(services, name)
        _say_head(hosted)
        _follow(services, name, _line_of(name) if OUT.json else _nobody)


def enter_league(league: str, bot: str) -> None:
    """Let a bot take part in a server's league."""
    (named,) = _submitted([bot])
    with _services() as services:
        answer = services.leagues.EnterLeague(api.EnterLeagueRequest(league=league, bot=named))
    OUT.say(printable(answer.message))


def leave_league(league: str, bot: str) -> None:
    """Let a bot take part no longer."""
    with _services() as services:
        answer = services.leagues.LeaveLeague(api.LeaveLeagueRequest(league=league, bot=bot))
    OUT.say(printable(answer.message))


def tournament_request(definition: Definition, terms: Terms) -> api.CreateTournamentRequest:
    """A tournament as a server is asked for it.

    Raises:
        UsageError: it asks for what is of this machine alone.
    """
    return api.CreateTournamentRequest(
        game=definition.game,
        bots=_submitted(definition.bots),
        kind=definition.kind,
        is_rotated=definition.rotate,
        format="" if definition.format == DEFAULT_FORMAT else definition.format,
        options=definition.options,
        clock=_clock(definition),
        terms=_hosting_terms(terms),
        **_given(definition, _ASKED),
    )


def league_request(definition: Definition, terms: Terms) -> api.CreateLeagueRequest:
    """A league as a server is asked for it.

    Raises:
        UsageError: it asks for what is of this machine alone.
    """
    return api.CreateLeagueRequest(
        game=definition.game,
        bots=_submitted(definition.bots),
        options=definition.options,
        clock=_clock(definition),
        terms=_hosting_terms(terms),
        **_given(definition, ("name", "seats", "deals", "seed")),
    )


def _given(definition: Definition, names: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(definition, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _clock(definition: Definition) -> api.Clock:
    """The limits that differ from the usual ones."""
    if definition.custody.level is not None:
        raise UsageError(
            "a level of sandbox means nothing on a server",
            "how it holds bots is its operator's business",
            "leave sandbox out of the file",
        )
    usual = Limits()
    asked = {name: getattr(definition.limits, name) for name in _LIMITS}
    return api.Clock(**{name: value for name, value in asked.items() if value != getattr(usual, name)})


def _hosting_terms(terms: Terms) -> api.HostingTerms:
    remote = api.REMOTE_BOTS_UNSPECIFIED
    if terms.remote is not None:
        if terms.remote not in REMOTES:
            raise UsageError(
                f"--remote {terms.remote} means nothing",
                "it says which bots take part that dial in",
                f"use one of {', '.join(REMOTES)}",
            )
        remote = api.RemoteBots.Value(f"REMOTE_BOTS_{terms.remote.upper()}")
    return api.HostingTerms(
        begins_us=None if terms.at is None else parse_date(terms.at),
        per_day=terms.per_day,
        rated=False if terms.unrated else None,
        same_owner=terms.same_owner,
        remote=remote,
        is_open=terms.is_open,
    )


def _submitted(bots: Sequence[str]) -> Sequence[str]:
    """References to bots, if they can be of a server.

    Raises:
        UsageError: one is of this machine.
    """
    for bot in bots:
        if not _SUBMITTED.fullmatch(bot) or bot.endswith(".py"):
            where = bot if bot.startswith((".", "/", "~", "docker:")) or bot.endswith(".py") else "DIR"
            raise UsageError(
                f"{bot} is no bot of a server",
                "a server plays house bots and those that were submitted to it, such as mybot or mybot@3",
                f"submit it first: arena bot submit {where}",
            )
    return bots


def _newest(services: _Services) -> str:
    """Name of the caller's newest tournament."""
    from botarena.v1.api_accounts_pb2 import WhoAmIRequest

    owner = services.accounts.WhoAmI(WhoAmIRequest()).user.name
    request = api.ListTournamentsRequest(owner=owner, page=PageRequest(size=1))
    for each in services.tournaments.ListTournaments(request).tournaments:
        return each.name
    raise NotFoundError(f"{owner} has no tournament", "none was created", "name one of somebody else's")


def _tournament(services: _Services, name: str) -> api.HostedTournament:
    return services.tournaments.GetTournament(api.GetTournamentRequest(name=name)).tournament


def _league(services: _Services, name: str) -> api.HostedTournament:
    return services.leagues.GetLeague(api.GetLeagueRequest(name=name)).league


def _see_out(services: _Services, name: str, progress: api.HostedProgress, detach: bool) -> None:
    """Follow what a server plays, unless nobody wants to wait for it."""
    if not detach:
        _follow(services, name)
        return
    _show_progress(name, progress)
    OUT.say(_how_to_watch(name))


def _nobody(progress: api.HostedProgress) -> None:
    """Is not interested."""


def _line_of(name: str) -> Told:
    """Prints how far it is as data."""
    return lambda progress: OUT.lines("progress", [progress_row(name, progress)])


def _follow(services: _Services, name: str, told: Told = _nobody) -> None:
    """Follow it to its end, and show what came out.

    Raises:
        ArenaError: it failed, or somebody cancelled it.
        KeyboardInterrupt: nobody wants to follow it any longer; the server goes on.
    """
    try:
        last = follow(services.tournaments, name, told)
    except KeyboardInterrupt:
        OUT.say(f"{name} goes on at the server; {_how_to_watch(name)}")
        raise
    code = show_hosted(name) if state_of(last) in OVER else 0
    _check_finished(name, last)
    leave(code)


def _check_finished(name: str, last: api.HostedProgress) -> None:
    state = state_of(last)
    if state == "failed":
        raise ArenaError(
            f"{name} could not be played",
            last.reason or "the server gives no reason",
            f"go on with it when that is mended: arena tournament resume {name}",
        )
    if state == "cancelled":
        raise StateError(
            f"{name} was cancelled",
            last.reason or progress_text(last),
            "run another one, what was played stays",
        )


def _how_to_watch(name: str) -> str:
    return f"follow it: arena tournament watch {name} · end it: arena tournament cancel {name}"


def _say_head(hosted: api.HostedTournament) -> None:
    kind = hosted.format if hosted.kind == "tournament" else hosted.kind
    few = "≤" if hosted.is_at_most else ""
    plural = "" if hosted.matches == 1 else "es"
    matches = f"{few}{hosted.matches} match{plural} · " if hosted.HasField("matches") else ""
    sandbox = f"sandbox {hosted.sandbox} · " if hosted.sandbox not in ("", LEVELS[0]) else ""
    bots = f"{len(hosted.bots)} bots at {hosted.seats} seats"
    OUT.say(printable(f"{hosted.game} · {kind} · {bots} · {matches}{sandbox}name {hosted.name}"))
    OUT.say(f"commitment {printable(hosted.commitment)}")


def progress_row(name: str, progress: api.HostedProgress) -> dict[str, Any]:
    """How far it is, as data."""
    return {
        "tournament": name,
        "state": state_of(progress),
        "reason": progress.reason,
        "played": progress.played,
        "today": progress.today,
        "outlook": progress.outlook,
        "matches": progress.matches if progress.HasField("matches") else None,
        "rate": progress.rate if progress.HasField("rate") else None,
        "eta_s": progress.eta_s if progress.HasField("eta_s") else None,
    }


def _show_progress(name: str, progress: api.HostedProgress) -> None:
    if OUT.json:
        OUT.lines("progress", [progress_row(name, progress)])
    elif OUT.csv:
        OUT.csv_rows([progress_row(name, progress)])
    else:
        OUT.text(f"{name} is {state_text(progress)}")
