"""How much there is of what a server has in hand."""

from __future__ import annotations

import sqlalchemy as sa

from arena.store.schema import bot_version, hosted
from arena.store.store import Store


class Figures:
    """How much there is, by state.

    Args:
        store: where it is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def hosted(self) -> dict[str, int]:
        """Tournaments and leagues."""
        return self._by_state(hosted.c.state)

    def versions(self) -> dict[str, int]:
        """Versions of submitted bots."""
        return self._by_state(bot_version.c.state)

    def _by_state(self, state: sa.Column[str]) -> dict[str, int]:
        query = sa.select(state, sa.func.count()).group_by(state).order_by(state)
        with self._store.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}
