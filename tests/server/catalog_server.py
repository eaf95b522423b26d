"""A server with bots and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from arena.runs.custody import Custody
from arena.server.catalog import Catalog
from arena.server.checking import Checker
from arena.server.guard import Guard, server_options
from arena.server.images import Images
from arena.server.shelf import Shelf
from arena.server.submissions import Submissions
from arena.server.uploads import UploadLimits
from arena.store.accounts import Accounts
from arena.store.roster import Roster
from arena.store.store import Store


@asynccontextmanager
async def serving(store: Store, data: Path) -> AsyncIterator[str]:
    """Its address, until the end of the block.

    Args:
        store: its database.
        data: its folder.
    """
    accounts, roster = Accounts(store), Roster(store)
    shelf = Shelf(roster, data)
    checker = Checker(roster, Catalog(roster, shelf, Custody("none")), shelf, data)
    server = grpc.aio.server(interceptors=[Guard(accounts)], options=server_options())
    Submissions(roster, accounts, checker, UploadLimits(size_bytes=100_000), Images()).register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await checker.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await checker.stop()
        await server.stop(None)
