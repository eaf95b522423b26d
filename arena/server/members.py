"""Who takes part in a hosted league: the versions that its members play with, and who rests."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from arena.bots.reference import BotSpec
from arena.errors import ArenaError
from arena.runs.leagues import active
from arena.server.catalog import Catalog
from arena.store.hosting import Hosting
from arena.store.store import Store
from arena.store.stored import StoredBot, StoredTournament
from arena.tournament.formats import LADDER


class Members:
    """Keeps the bots of leagues what their owners made them.

    Args:
        store: where the leagues are.
        hosting: knows who has entered them.
        catalog: knows the bots.
    """

    def __init__(self, store: Store, hosting: Hosting, catalog: Catalog) -> None:
        self._store = store
        self._hosting = hosting
        self._catalog = catalog

    def renew(self, league: StoredTournament) -> StoredTournament:
        """Let those retire who may not play any more, and those take part who may now; the league then."""
        wanted = {bot.name: bot for bot in self._wanted(league)}
        known = {bot.name: index for index, bot in enumerate(league.bots)}
        for index in active(league):
            if league.bots[index].name not in wanted:
                self._store.retire_bot(league.id, index)
        for name, bot in wanted.items():
            if name not in known:
                self._store.add_bot(league.id, bot)
            elif league.bots[known[name]].retired:
                self._store.retire_bot(league.id, known[name], retired=False)
        return self._store.tournament(league.name)

    def lineup(self, tournament: StoredTournament) -> frozenset[int | str]:
        """What tells whether others are to play than before: it is another one then."""
        if tournament.format != LADDER:
            return self._hosting.barred({bot.entry for bot in tournament.bots if bot.entry is not None})
        now = self._store.tournament(tournament.name)
        house = frozenset(now.bots[index].name for index in active(now) if now.bots[index].entry is None)
        return house.union(self._hosting.seated(tournament.id))

    def _wanted(self, league: StoredTournament) -> list[StoredBot]:
        """The bots that play from now on."""
        house = [bot for index in active(league) if (bot := league.bots[index]).entry is None]
        bots = [self._as_it_is(bot, league) for bot in house]
        for name in self._hosting.members(league.id):
            try:
                bots.append(self._catalog.entrant(name, league.game))
            except ArenaError:  # it is disabled, or has no version that plays: its place stays its own
                continue
        return bots

    def _as_it_is(self, bot: StoredBot, league: StoredTournament) -> StoredBot:
        """A house bot, under a name of its own if its code has changed since it came."""
        now = self._catalog.house_bot(BotSpec.from_json(bot.spec).reference.partition(":")[2])
        if now.version == bot.version:
            return bot
        name = f"{now.name}@{now.version.rpartition('+')[2][:8]}"
        return StoredBot(name, now.version, replace(now, name=name).to_json())


def with_specs(tournament: StoredTournament, catalog: Catalog) -> StoredTournament:
    """A tournament with its bots as this server starts them now.

    Raises:
        ArenaError: one that still plays may not, or cannot be had.
    """
    return replace(tournament, bots=tuple(_with_spec(bot, tournament, catalog) for bot in tournament.bots))


def _with_spec(bot: StoredBot, tournament: StoredTournament, catalog: Catalog) -> StoredBot:
    if bot.retired:
        return bot
    if bot.entry is not None:
        # Copies that fill a table have names of their own.
        spec = catalog.entrant(catalog.roster.version_by_id(bot.entry).reference, tournament.game).spec
        return replace(bot, spec={**spec, "name": bot.name})
    now = catalog.house_bot(BotSpec.from_json(bot.spec).reference.partition(":")[2])
    if now.version != bot.version:
        raise ArenaError(
            f"{tournament.name} cannot go on",
            f"the code of {bot.name} has changed since it began ({bot.version} then, {now.version} now)",
            "cancel it and create another one, or serve the arena that it began with",
        )
    return replace(bot, spec={**now.to_json(), "name": bot.name})


def away(tournament: StoredTournament, present: Collection[int]) -> dict[int, str]:
    """Names of the remote bots that still play and are not connected, by index in the tournament."""
    return {
        index: bot.name
        for index, bot in enumerate(tournament.bots)
        if not bot.retired and bot.entry not in present and BotSpec.from_json(bot.spec).is_remote
    }
