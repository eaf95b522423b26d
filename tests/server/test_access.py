"""Every method with every kind of token: who may call it is what the table says."""

from __future__ import annotations

import time

from arena.rights import SCOPES
from arena.server.access import ACCESS, BY_ITSELF, PUBLIC, SIGNED_IN, Access
from arena.server.guard import Guard
from arena.store.accounts import Accounts
from tests.server.methods import all_methods, answering_ok
from tests.server.serving import PLENTY, channel_to, metadata, served

BAD = ("wrong", "malformed", "expired", "revoked", "of a disabled user")
NONE = "none"


def test_the_table_has_every_method_and_no_other() -> None:
    ours = {method for method in ACCESS if method.startswith("/botarena.")}
    assert ours == {method.name for method in all_methods()}


async def test_every_method_is_for_whom_the_table_says(accounts: Accounts) -> None:
    tokens = _tokens(accounts)
    found = {}
    async with served(Guard(accounts, PLENTY), [answering_ok]) as address, channel_to(address) as channel:
        for method in all_methods():
            for kind, token in tokens.items():
                found[method.name, kind] = await method.call(channel, metadata(token))
    assert found == {
        (method.name, kind): _expected(ACCESS[method.name], kind)
        for method in all_methods()
        for kind in tokens
    }


def _expected(access: Access, kind: str) -> str:
    if access == BY_ITSELF or (access == PUBLIC and kind == NONE):
        return "OK"
    if kind == NONE or kind in BAD:
        return "UNAUTHENTICATED"
    return "OK" if access in (PUBLIC, SIGNED_IN, kind) or kind == "admin" else "PERMISSION_DENIED"


def _tokens(accounts: Accounts) -> dict[str, str | None]:
    """A token of each kind."""
    user = accounts.add_user("ann").id
    tokens: dict[str, str | None] = {
        scope: accounts.create_token(user, scope, [scope])[0] for scope in SCOPES
    }
    tokens[NONE] = None
    tokens["wrong"] = "arena_" + 43 * "a"
    tokens["malformed"] = "admin"
    made_long_ago = Accounts(accounts.store, now_us=lambda: 1)
    tokens["expired"] = made_long_ago.create_token(user, "", SCOPES, time.time_ns() // 1000)[0]
    tokens["revoked"], revoked = accounts.create_token(user, "", SCOPES)
    accounts.revoke(revoked.id)
    gone = accounts.add_user("bob").id
    tokens["of a disabled user"] = accounts.create_token(gone, "", SCOPES)[0]
    accounts.disable(gone)
    return tokens
