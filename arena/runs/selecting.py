"""Which matches somebody means: filters as text, made a selection of the store's matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from arena.errors import NotFoundError, UsageError
from arena.games import find_game
from arena.games.game import AnyGame, GameError
from arena.runs.definition import parse_options
from arena.store.selection import BotFilter, Selection, entrants
from arena.store.stored import StoredTournament

if TYPE_CHECKING:
    from arena.store.store import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = 20
"""Most names that an error lists."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person asked for; a field that is left out excludes nothing.

    Attributes:
        game: name of a game.
        tournaments: names of tournaments.
        bots: bots of which one at least sat, as NAME or NAME@VERSION.
        only: whether nobody sat but `bots` and `together`.
        together: bots that all sat.
        options: options of the game as K=V; what they leave out may be anything.
        seats: seats at the table.
        since: date of the first match.
        before: date before which the matches began.
    """

    game: str | None = None
    tournaments: Sequence[str] = ()
    bots: Sequence[str] = ()
    only: bool = False
    together: Sequence[str] = ()
    options: Sequence[str] = ()
    seats: int | None = None
    since: str | None = None
    before: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not any(getattr(self, name) for name in self.__dataclass_fields__)

    def selection(self, store: Store) -> Selection:
        """The selection that is meant, of what the store has.

        Raises:
            ArenaError, GameError: what of it means nothing, or that there is nothing of the kind.
        """
        if self.game is not None:
            find_game(self.game)
        anyone, together = _bots(self.bots), _bots(self.together)
        since_us, before_us = _period(self.since, self.before)
        of_all = Selection(
            game=self.game,
            tournaments=tuple(self.tournaments),
            seats=self.seats,
            since_us=since_us,
            before_us=before_us,
        )
        _check_bots(anyone + together, store.chosen(of_all))
        only = self._only(anyone + together)
        selection = replace(of_all, anyone=anyone, together=together, only=only)
        if not self.options:
            return selection
        game = tournaments_game(store.chosen(selection), "--option belongs to one")
        return _with_options(selection, option_sets(store, game), game, parse_options(self.options))

    def _only(self, bots: tuple[BotFilter, ...]) -> tuple[BotFilter, ...]:
        if self.only and not bots:
            raise UsageError("--only means nothing here", "no bot is named", "name some: --only --bot NAME")
        return bots if self.only else ()


@dataclass(frozen=True, slots=True)
class OptionSet:
    """Options of a game that were played.

    Attributes:
        options: the shortest way in which a tournament has them.
        stored: every way in which tournaments have them: a default may be left out.
        tournaments: names of the tournaments.
    """

    options: Mapping[str, str]
    stored: tuple[Mapping[str, str], ...]
    tournaments: tuple[str, ...]


def option_sets(store: Store, game: AnyGame) -> list[OptionSet]:
    """The distinct option sets with which a game was played, as the game understands them."""
    found: dict[object, list[tuple[dict[str, str], list[str]]]] = {}
    for stored, names in store.option_sets(game.name):
        found.setdefault(meaning(game, stored) or str(stored), []).append((stored, names))
    return [
        OptionSet(
            options=min((stored for stored, _ in alike), key=len),
            stored=tuple(stored for stored, _ in alike),
            tournaments=tuple(name for _, names in alike for name in names),
        )
        for alike in found.values()
    ]


def tournaments_game(chosen: Iterable[StoredTournament], why: str) -> AnyGame:
    """The one game that tournaments are of.

    Args:
        why: what needs it, for the error.

    Raises:
        UsageError: they are of several games.
        NotFoundError: there are none.
    """
    games = sorted({tournament.game for tournament in chosen})
    if not games:
        raise nothing_fits()
    if len(games) > 1:
        raise UsageError(
            "several games are meant", f"{why}, and there are {', '.join(games)}", "name one with --game"
        )
    return find_game(games[0])


def nothing_fits() -> NotFoundError:
    """No match is what was asked for."""
    return NotFoundError(
        "there is no such match", "no stored match fits all that was asked for", "see: arena tournament list"
    )


def _with_options(
    selection: Selection, sets: Iterable[OptionSet], game: AnyGame, wanted: Mapping[str, str]
) -> Selection:
    """The selection, of those option sets alone in which each wanted option is as wanted."""
    game.options(wanted)  # it says what is wrong with them
    agreeing = [
        stored
        for one in sets
        for stored in one.stored
        if (meant := meaning(game, stored)) is not None and meant == meaning(game, {**stored, **wanted})
    ]
    return replace(selection, options=tuple(agreeing))


def meaning(game: AnyGame, options: Mapping[str, str]) -> bytes | None:
    """The same for options that mean the same; None for what the game does not allow, or does no more."""
    try:
        return game.options_message(game.options(options)).SerializeToString(deterministic=True)
    except GameError:
        return None


def _bots(texts: Iterable[str]) -> tuple[BotFilter, ...]:
    return tuple(map(BotFilter.parse, texts))


def _check_bots(wanted: Iterable[BotFilter], chosen: Sequence[StoredTournament]) -> None:
    there = {(bot.name, bot.version) for tournament in chosen for bot in tournament.bots}
    for bot in wanted:
        if not any(bot.fits(*one) for one in there):
            raise NotFoundError(
                f"there is no bot {str(bot)!r}",
                "it is in no tournament that fits all else that was asked for",
                f"choose one of these: {_listed(sorted(set(entrants(chosen).values())))}"
                if there
                else "see what there is: arena tournament list",
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (" …" if len(names) > _NAMES else "")


def _period(since: str | None, before: str | None) -> tuple[int | None, int | None]:
    """Begin and end of a period in microseconds since 1970 UTC."""
    since_us, before_us = (None if text is None else parse_date(text) for text in (since, before))
    if since_us is not None and before_us is not None and since_us >= before_us:
        raise UsageError(
            f"nothing is since {since} and before {before}",
            "the one is not earlier than the other",
            "swap them",
        )
    return since_us, before_us


def parse_date(text: str) -> int:
    """A date, or a date and time, in microseconds since 1970 UTC; without an offset it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no date", "it must be like 2026-11-01 or 2026-11-01T12:30", "write it so"
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)
