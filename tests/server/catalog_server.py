"""A server with bots and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from arena.runs.custody import Custody
from arena.server.catalog import Catalog
from arena.server.checking import Checker
from arena.server.guard import Guard
from arena.server.images import Images
from arena.server.shelf import Shelf
from arena.server.submissions import Submissions
from arena.server.uploads import UploadLimits
from arena.store.accounts import Accounts
from arena.store.roster import Roster
from arena.store.store import Store
from tests.server.serving import served


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
    submissions = Submissions(roster, accounts, checker, UploadLimits(size_bytes=100_000), Images())
    async with served(Guard(accounts), [submissions, checker]) as address:
        await checker.start()
        try:
            yield address
        finally:
            await checker.stop()
