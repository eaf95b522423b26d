"""What belongs to one user is out of another's reach, whatever the other's token allows."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from arena.server.guard import Guard
from arena.store.schema import metadata as schema
from arena.store.schema import token
from arena.store.store import Store
from tests.server.foreign import FOREIGN, ROOMS, World, make_world
from tests.server.methods import all_methods
from tests.server.serving import PLENTY, channel_to, metadata, served

METHODS = {method.name: method for method in all_methods()}


@pytest.mark.parametrize("name", FOREIGN)
async def test_what_is_anothers_is_refused_and_stays_as_it_was(server_store: Store, name: str) -> None:
    world = make_world(server_store)
    request = FOREIGN[name](world).SerializeToString()
    before = _rows(world)
    parts = [room(world) for room in ROOMS]
    async with served(Guard(world.accounts, PLENTY), parts) as address, channel_to(address) as channel:
        assert await _code(channel, name, request, world.tokens["bob"]) in ("PERMISSION_DENIED", "NOT_FOUND")
        assert _rows(world) == before
        # It was refused for whose it is, not for what it says.
        for who in ("ann", "admin"):
            assert await _code(channel, name, request, world.tokens[who]) == "OK"


async def _code(channel: Any, name: str, request: bytes, secret: str) -> str:
    return await METHODS[name].call(channel, metadata(secret), request)


def _rows(world: World) -> dict[str, set[Any]]:
    """All that the database holds, but for when a token was used."""
    with world.store.reading() as connection:
        return {
            table.name: {tuple(row) for row in connection.execute(sa.select(*_columns(table)))}
            for table in schema.sorted_tables
        }


def _columns(table: sa.Table) -> list[sa.Column[Any]]:
    return [column for column in table.columns if column is not token.c.used_us]
