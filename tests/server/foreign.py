"""Things of one user, and what another one tries to do with them.

A room adds to `ROOMS` what it offers, to `OWNED` how ann comes by her things, and to `FOREIGN` each of its
methods that touches somebody's things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botarena.v1 import api_accounts_pb2 as accounts_api
from botarena.v1 import api_tournaments_pb2 as hosting_api

from arena.rights import SCOPES, Caller
from arena.runs.definition import Definition
from arena.server.accounts import AccountPart
from arena.server.catalog import remote_spec
from arena.server.hosts import Hosts
from arena.server.leagues import Leagues
from arena.server.part import Part
from arena.server.tournaments import Tournaments
from arena.store.accounts import Accounts
from arena.store.hosting import ONLY, Terms
from arena.store.roster import REMOTE, NewVersion, Roster
from arena.store.store import Store
from arena.tournament.formats import LADDER
from tests.server.hosted_server import Standstill


@dataclass(frozen=True, slots=True)
class World:
    """What is there before anybody calls.

    Attributes:
        store: of all rooms.
        accounts: ann's, bob's, and an admin's.
        things: ann's, by name, such as the number of her token.
        tokens: by name of the user; with all scopes but admin, and the admin's with that.
    """

    store: Store
    accounts: Accounts
    things: dict[str, Any]
    tokens: Mapping[str, str]


def make_world(store: Store) -> World:
    """Ann with her things, bob, and an admin."""
    accounts = Accounts(store)
    admin = accounts.ensure_admin()
    assert admin is not None
    mortal = set(SCOPES) - {"admin"}
    tokens = {
        name: accounts.create_token(accounts.add_user(name).id, "", mortal)[0] for name in ("ann", "bob")
    }
    world = World(store, accounts, {}, tokens | {"admin": admin})
    for own in OWNED:
        own(world)
    return world


def _token(world: World) -> None:
    ann = world.accounts.user("ann").id
    world.things["token"] = world.accounts.create_token(ann, "", ["bot:play"])[1].id


def _hosted(world: World) -> None:
    """A league of hers, with a bot of hers in it and another one beside it."""
    ann = world.accounts.user("ann").id
    roster = Roster(world.store)
    for name in ("far", "beside"):
        roster.add_bot(ann, name)
        roster.add_version(name, NewVersion(REMOTE, spec=remote_spec(name, "v1", ()).to_json()))
    hosts = Hosts(_conductor(world), world.accounts)
    asked = Definition("koffer", ["house:first", "far"], "league", deals=1, format=LADDER, name="league")
    who = Caller(ann, "ann", frozenset(), 0)
    hosts.create(who, asked, Terms(remote=ONLY), [roster.bot("far").id])


def _conductor(world: World) -> Standstill:
    return Standstill(world.store, Path("nowhere"))


ROOMS: list[Callable[[World], Part]] = [
    lambda world: AccountPart(world.accounts),
    lambda world: Tournaments(_conductor(world), world.accounts),
    lambda world: Leagues(_conductor(world), world.accounts),
]
OWNED: list[Callable[[World], None]] = [_token, _hosted]
FOREIGN: dict[str, Callable[[World], Any]] = {
    "/botarena.v1.AccountService/CreateToken": lambda _: accounts_api.CreateTokenRequest(
        user="ann", scopes=["bot:play"]
    ),
    "/botarena.v1.AccountService/ListTokens": lambda _: accounts_api.ListTokensRequest(user="ann"),
    "/botarena.v1.AccountService/RevokeToken": lambda world: accounts_api.RevokeTokenRequest(
        id=world.things["token"]
    ),
    # To resume is refused whoever asks for what is resumed already: see the tests of tournaments.
    "/botarena.v1.TournamentService/PauseTournament": lambda _: hosting_api.PauseTournamentRequest(
        name="league"
    ),
    "/botarena.v1.TournamentService/CancelTournament": lambda _: hosting_api.CancelTournamentRequest(
        name="league"
    ),
    "/botarena.v1.LeagueService/EnterLeague": lambda _: hosting_api.EnterLeagueRequest(
        league="league", bot="beside"
    ),
    "/botarena.v1.LeagueService/LeaveLeague": lambda _: hosting_api.LeaveLeagueRequest(
        league="league", bot="far"
    ),
}
"""Methods by name, each with a request that concerns ann's things."""
