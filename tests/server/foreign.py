"""Things of one user, and what another one tries to do with them.

A room adds to `ROOMS` what it offers, to `OWNED` how ann comes by her things, and to `FOREIGN` each of its
methods that touches somebody's things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botarena.v1 import api_accounts_pb2 as accounts_api

from arena.rights import SCOPES
from arena.server.accounts import AccountPart
from arena.server.part import Part
from arena.store.accounts import Accounts
from arena.store.store import Store


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


ROOMS: list[Callable[[World], Part]] = [lambda world: AccountPart(world.accounts)]
OWNED: list[Callable[[World], None]] = [_token]
FOREIGN: dict[str, Callable[[World], Any]] = {
    "/botarena.v1.AccountService/CreateToken": lambda _: accounts_api.CreateTokenRequest(
        user="ann", scopes=["bot:play"]
    ),
    "/botarena.v1.AccountService/ListTokens": lambda _: accounts_api.ListTokensRequest(user="ann"),
    "/botarena.v1.AccountService/RevokeToken": lambda world: accounts_api.RevokeTokenRequest(
        id=world.things["token"]
    ),
}
"""Methods by name, each with a request that concerns ann's things."""
