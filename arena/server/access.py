"""Who may call which method of the public services.

Whether somebody may do it to this very bot or tournament is the service's own business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from arena.rights import ADMIN, BOT_SUBMIT, TOURNAMENT_RUN

Access: TypeAlias = Literal[
    "public", "signed in", "by itself", "bot:play", "bot:submit", "tournament:run", "admin"
]
"""Who may: one of the words below, or whoever has a token with this scope."""
PUBLIC: Final = "public"
"""Anybody. A token is not needed, but if one is shown it must be good."""
SIGNED_IN: Final = "signed in"
"""Whoever has a token, whatever it allows."""
BY_ITSELF: Final = "by itself"
"""The service admits callers by rules of its own."""


MESSAGE_BYTES = 4 << 20
"""Largest message that anybody may send. What is greater comes in pieces."""


def _service(name: str, **methods: Access) -> dict[str, Access]:
    return {f"/{name}/{method}": access for method, access in methods.items()}


# One line per method, service by service, in the order of their files.
ACCESS: Mapping[str, Access] = {
    **_service(
        "botarena.v1.AccountService",
        WhoAmI=SIGNED_IN,
        CreateUser=ADMIN,
        ListUsers=ADMIN,
        UpdateUser=ADMIN,
        CreateToken=SIGNED_IN,
        ListTokens=SIGNED_IN,
        RevokeToken=SIGNED_IN,
    ),
    **_service(
        "botarena.v1.BotCatalogService",
        SubmitBot=BOT_SUBMIT,
        SubmitImage=BOT_SUBMIT,
        RegisterRemoteBot=BOT_SUBMIT,
        ListBots=PUBLIC,
        GetBot=PUBLIC,
        UpdateBot=BOT_SUBMIT,
        ListVersions=PUBLIC,
        GetVersion=PUBLIC,
        ActivateVersion=BOT_SUBMIT,
        DisableVersion=BOT_SUBMIT,
        EnableVersion=BOT_SUBMIT,
        WatchVersion=BOT_SUBMIT,
    ),
    **_service("botarena.v1.BotService", Play=BY_ITSELF),
    **_service("botarena.v1.GameService", ListGames=PUBLIC, GetGame=PUBLIC),
    **_service(
        "botarena.v1.LeaderboardService",
        GetLeaderboard=PUBLIC,
        GetOverall=PUBLIC,
        GetHeadToHead=PUBLIC,
        ListBoards=PUBLIC,
        WatchLeaderboard=PUBLIC,
        GetResult=PUBLIC,
        ListResults=PUBLIC,
    ),
    **_service(
        "botarena.v1.MatchService",
        ListMatches=PUBLIC,
        GetMatch=PUBLIC,
        GetMatchLogs=SIGNED_IN,
        ListPairings=PUBLIC,
        DownloadRecords=PUBLIC,
    ),
    **_service("botarena.v1.ServerService", GetStatus=PUBLIC),
    **_service(
        "botarena.v1.TournamentService",
        CreateTournament=TOURNAMENT_RUN,
        ListTournaments=SIGNED_IN,
        GetTournament=SIGNED_IN,
        PauseTournament=TOURNAMENT_RUN,
        ResumeTournament=TOURNAMENT_RUN,
        CancelTournament=TOURNAMENT_RUN,
        WatchTournament=SIGNED_IN,
    ),
    **_service(
        "botarena.v1.LeagueService",
        CreateLeague=TOURNAMENT_RUN,
        # Owners of bots may with bot:submit, and the league's with tournament:run.
        EnterLeague=SIGNED_IN,
        LeaveLeague=SIGNED_IN,
        GetLeague=SIGNED_IN,
        ListLeagues=SIGNED_IN,
    ),
    **_service("grpc.health.v1.Health", Check=PUBLIC, List=PUBLIC, Watch=PUBLIC),
    **_service("grpc.reflection.v1alpha.ServerReflection", ServerReflectionInfo=PUBLIC),
    **_service("grpc.reflection.v1.ServerReflection", ServerReflectionInfo=PUBLIC),
}


def access_to(method: str) -> Access:
    """Who may call a method.

    Args:
        method: its full name, such as "/botarena.v1.AccountService/WhoAmI".
    """
    return ACCESS.get(method, ADMIN)  # what nobody thought of is nobody's to call
