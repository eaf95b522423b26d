"""Who takes part in a tournament or league of a server, and whether they may, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.bots.reference import BotSpec, free_name
from arena.errors import StateError, TooMuchError, UsageError
from arena.runs.leagues import base
from arena.server.catalog import Catalog
from arena.store.hosting import MIXED, NONE, ONLY, Terms
from arena.store.roster import Roster
from arena.store.stored import StoredBot
from arena.tournament.formats import COMPARE, LADDER

MOST_BOTS = 100
"""Bots of a tournament, or at once in a league."""


@dataclass(frozen=True, slots=True)
class Lineup:
    """Gives a definition its bots.

    Attributes:
        catalog: knows them.
        terms: on which they take part.
        format: what decides who plays whom.
    """

    catalog: Catalog
    terms: Terms
    format: str

    def __call__(self, references: Sequence[str], game: str) -> Sequence[StoredBot]:
        """The bots of these references, each with a name of its own.

        Raises:
            ArenaError: there is no such bot, or it may not take part.
        """
        if len(references) > MOST_BOTS:
            raise too_many()
        known = {name: self.catalog.entrant(name, game) for name in dict.fromkeys(references)}
        bots: list[StoredBot] = []
        for reference in references:
            bots.append(_named(known[reference], {bot.name for bot in bots}))
        for bot in known.values():
            check_remote(bot, self.terms, self.catalog.roster)
        _check_alone(bots)
        if not self.terms.same_owner:
            self._check_owners(bots)
        return bots

    def _check_owners(self, bots: Sequence[StoredBot]) -> None:
        if self.format == LADDER:
            return  # it keeps them apart by itself
        # Both versions of a comparison play in each other's stead, and never meet.
        groups = [[version, *bots[2:]] for version in bots[:2]] if self.format == COMPARE else [bots]
        for group in groups:
            _check_owners_apart(group)


def check_remote(bot: StoredBot, terms: Terms, roster: Roster) -> None:
    """Whether a bot may take part as far as it matters how it comes.

    Raises:
        StateError: it may not.
    """
    if bot.entry is None:
        return
    if not is_remote(bot):
        if terms.remote == ONLY:
            raise StateError(
                f"{bot.name} cannot take part",
                "only bots that dial in do, and house bots",
                "leave it out, or let both kinds play: --remote mixed",
            )
    elif terms.remote == NONE:
        raise StateError(
            f"{bot.name} cannot take part",
            "it dials in, and no such bots do",
            "leave it out, or let them: --remote mixed",
        )
    elif terms.remote == MIXED and not roster.bot(base(bot.name)).mixed:
        raise StateError(
            f"{bot.name} cannot take part",
            "its owner has not agreed that it plays beside bots that run on the server",
            "leave it out, or choose --remote only; its owner agrees by registering it with --mixed",
        )


def is_remote(bot: StoredBot) -> bool:
    """Whether it dials in by itself."""
    return BotSpec.from_json(bot.spec).is_remote


def too_many() -> TooMuchError:
    """There would be too many bots."""
    return TooMuchError("these are too many bots", f"{MOST_BOTS} may take part", "leave some out")


def _named(bot: StoredBot, taken: set[str]) -> StoredBot:
    name = free_name(bot.name, taken)
    return replace(bot, name=name, spec={**bot.spec, "name": name})


def _check_alone(bots: Sequence[StoredBot]) -> None:
    """Whether no bot that has one connection would sit in several seats."""
    entries = [bot.entry for bot in bots if bot.entry is not None and is_remote(bot)]
    if len(set(entries)) < len(entries):
        raise UsageError(
            "a remote bot cannot take part twice",
            "it has one connection",
            "name each once, and enough bots for the seats",
        )


def _check_owners_apart(bots: Sequence[StoredBot]) -> None:
    first: dict[str, str] = {}
    for bot in bots:
        if bot.owner is None:
            continue
        if bot.owner in first:
            raise UsageError(
                f"{first[bot.owner]} and {bot.name} cannot meet",
                f"both are {bot.owner}'s, and bots of one owner could help each other",
                "leave one out, or allow it where nothing counts: --allow-same-owner --unrated",
            )
        first[bot.owner] = bot.name
