"""What the services of tournaments and leagues need of the conductor, which plays them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from arena.server.catalog import Catalog
from arena.server.news import News
from arena.store.hosting import Hosted, Hosting
from arena.store.store import Store


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a hosted tournament or league is.

    Attributes:
        played: matches that are stored.
        matches: in all, as far as that is known; None: a league has no number of them.
        is_at_most: whether that is the most that there can be.
        rate: matches per second of late; None: nothing is being played.
        eta_s: seconds until it is over, at that rate; None: nobody knows.
        outlook: how near it is to an answer, in a few words; empty: there is nothing to tell.
        today: matches that are stored of this UTC day.
    """

    played: int
    matches: int | None
    is_at_most: bool
    rate: float | None
    eta_s: float | None
    outlook: str
    today: int


class Conducting(Protocol):
    """The conductor."""

    store: Store
    hosting: Hosting
    catalog: Catalog
    news: News[str]

    def progress(self, hosted: Hosted) -> Progress:
        """How far it is; reads the database."""
        ...

    def wake(self) -> None:
        """Look again: something changed."""
        ...

    async def pause(self, name: str) -> Hosted:
        """Play nothing more of it for now."""
        ...

    async def resume(self, name: str) -> Hosted:
        """Go on with it."""
        ...

    async def cancel(self, name: str) -> Hosted:
        """End it for good."""
        ...
