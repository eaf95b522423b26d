"""Where commands that only read have their data from: a database, or a server with `--server`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from arena.cli.common import open_store
from arena.cli.output import OUT
from arena.cli.remote import connected, pages, server_address
from arena.errors import CheckFailedError, NotFoundError, StateError, UsageError
from arena.runs.selecting import Filters, nothing_fits
from arena.store.stored import StoredBot, StoredMatch, StoredPairing, StoredTournament

if TYPE_CHECKING:
    from botarena.v1.api_leaderboards_pb2 import MatchFilter
    from botarena.v1.api_matches_pb2_grpc import MatchServiceStub
    from botarena.v1.record_pb2 import MatchRecord

    from arena.cli.remote import Remote
    from arena.store.store import Store
    from arena.tournament.schedule import Table

Row: TypeAlias = dict[str, Any]
Meetings: TypeAlias = tuple[Iterator[Row], Callable[[], tuple[list[Row], Row]]]
"""A row for each match of two bots; and when all were read, those by seat and that of all."""


@dataclass(frozen=True, slots=True)
class ToldRecord:
    """A match with its record.

    Attributes:
        tournament: its tournament's name.
        match: its name within that.
        game: name of its game.
        block: its block.
        data: the record as it is stored, or what everybody may know of it.
    """

    tournament: str
    match: str
    game: str
    block: int
    data: bytes

    @property
    def name(self) -> str:
        """As commands take it."""
        return f"{self.tournament}/{self.match}"

    def record(self) -> MatchRecord:
        """The record.

        Raises:
            RecordDamagedError: what is wrong with it.
        """
        from arena.match.record import RecordDamagedError, unseal

        try:
            return unseal(self.data)
        except RecordDamagedError as error:
            raise RecordDamagedError(f"{self.name}: {error}") from error


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a tournament.

    Attributes:
        tournament: as it is stored.
        tables: its tables by block.
        matches: its matches in the order of its schedule.
    """

    tournament: StoredTournament
    tables: Sequence[Table] | Mapping[int, Table]
    matches: Iterator[StoredMatch]


class Source(Protocol):
    """What can be read, wherever it is. Rows are those that `--json` prints."""

    def games(self) -> list[Row]:
        """All games."""
        ...

    def game(self, name: str) -> tuple[Row, str]:
        """A game, with the fields of a turn; and its rules."""
        ...

    def tournaments(self) -> list[Row]:
        """All tournaments, oldest first."""
        ...

    def result(self, name: str | None, details: bool) -> Row:
        """What came out of a tournament, of the newest if none is named: see `arena.runs.results`."""
        ...

    def leaderboards(
        self, filters: Filters, details: bool = False, history: bool = False, newest: bool = False
    ) -> Iterator[Row]:
        """A row for each board of a selection: game, options, and what `arena.runs.boards.told` has."""
        ...

    def overall(self, filters: Filters) -> Row:
        """One rating over all games."""
        ...

    def meetings(self, filters: Filters) -> Meetings:
        """Two bots against each other; they are those that are `together`."""
        ...

    def matches(self, name: str | None, faults: bool) -> list[Row]:
        """The matches of a tournament."""
        ...

    def record(self, text: str) -> ToldRecord:
        """A match by its name."""
        ...

    def logs(self, text: str, bot: str | None, whole: bool) -> tuple[list[Row], list[Row]]:
        """Why bots of a match failed, and what they wrote."""
        ...

    def records(self, filters: Filters, what: str) -> Iterator[ToldRecord]:
        """All matches of a selection."""
        ...

    def whole(self, name: str) -> Whole:
        """All of a tournament.

        Raises:
            StateError: it is played at a server, which tells its seed at its end.
        """
        ...


@contextmanager
def open_source(db: str) -> Iterator[Source]:
    """The server that the command is for, else the database that `--db` names."""
    if server_address() is not None:
        with connected() as remote:
            yield _RemoteSource(remote)
        return
    with open_store(db) as store:
        yield _LocalSource(store, db)


def local_source(store: Store, db: str) -> Source:
    """A database that is open.

    Args:
        store: it.
        db: what it is called, beside which the bots' logs are.
    """
    return _LocalSource(store, db)


def only_here(what: str) -> None:
    """Refuse what a server does not do.

    Raises:
        UsageError: the command is for one.
    """
    if server_address() is not None:
        raise UsageError(f"{what} is not done at a server", "it needs the database", "leave out --server")


class _LocalSource:
    """Reads a database.

    Args:
        store: it.
        db: what it is called, beside which the bots' logs are.
    """

    def __init__(self, store: Store, db: str) -> None:
        self._store = store
        self._db = db

    def games(self) -> list[Row]:
        return local_games()

    def game(self, name: str) -> tuple[Row, str]:
        return local_game(name)

    def tournaments(self) -> list[Row]:
        from arena.runs.rows import tournament_row

        return [tournament_row(tournament, stored) for tournament, stored in self._store.tournaments()]

    def result(self, name: str | None, details: bool) -> Row:
        from arena.runs.boards import told_tournament
        from arena.runs.results import result_of

        tournament = self._store.tournament(name)
        board = told_tournament(self._store, tournament, details, _tracked)
        return result_of(self._store, tournament, board)

    def leaderboards(
        self, filters: Filters, details: bool = False, history: bool = False, newest: bool = False
    ) -> Iterator[Row]:
        from arena.runs.boards import asked_for, board_report, boards_of
        from arena.runs.rows import told

        for board in boards_of(self._store, asked_for(self._store, filters, newest)):
            report, points = board_report(self._store, board.selection, history, _tracked)
            yield board.names | told(report, details) | {"history": points}

    def overall(self, filters: Filters) -> Row:
        from arena.runs.boards import board_report, overall

        return overall(
            self._store,
            filters,
            lambda board: board_report(self._store, board.selection, track=_tracked)[0],
        )

    def meetings(self, filters: Filters) -> Meetings:
        from arena.runs.meetings import encounters_of

        encounters, matches = encounters_of(self._store, filters)
        rows = encounters.rows(
            OUT.track(matches, self._store.count(filters.selection(self._store)), "reading")
        )
        return rows, lambda: (encounters.seats(), encounters.summary())

    def matches(self, name: str | None, faults: bool) -> list[Row]:
        from arena.runs.matches import has_faults, match_row

        tournament = self._store.tournament(name)
        rows = (match_row(tournament, played) for played in self._store.matches(tournament.id))
        return [row for row in rows if not faults or has_faults(row)]

    def record(self, text: str) -> ToldRecord:
        from arena.runs.matches import find_match

        found = find_match(self._store, text)
        return _told(found.tournament, found.played)

    def logs(self, text: str, bot: str | None, whole: bool) -> tuple[list[Row], list[Row]]:
        from arena.bots.process import log_name
        from arena.match.evidence import told_faults
        from arena.runs.matches import fault_row, log_rows
        from arena.runs.names import logs_folder

        told = self.record(text)
        record = told.record()
        folder = logs_folder(self._db, told.tournament)
        names = [seated.name for seated in record.bots if bot in (None, seated.name)]
        if not names:
            raise NotFoundError(
                f"{bot} has no log of {told.name}", "it did not play", f"see: arena match show {told.name}"
            )
        rows = [
            {"bot": name, **row}
            for name in names
            for row in log_rows(folder / log_name(name, record.circumstances.worker), record, whole)
        ]
        faults = [fault_row(record, fault) for fault in told_faults(record)]
        return [fault for fault in faults if fault["bot"] in names], rows

    def records(self, filters: Filters, what: str) -> Iterator[ToldRecord]:
        selection = filters.selection(self._store)
        matches = OUT.track(self._store.selected(selection), self._store.count(selection), what)
        first = next(matches, None)
        if first is None:
            raise nothing_fits()
        yield _told(*first)
        yield from (_told(of, played) for of, played in matches)

    def whole(self, name: str) -> Whole:
        from arena.tournament.runner import tables_of

        tournament = self._store.tournament(name)
        matches = OUT.track(self._store.matches(tournament.id), tournament.matches, "verifying")
        return Whole(tournament, tables_of(self._store, tournament), matches)


def local_games() -> list[Row]:
    """All games, which need no database."""
    from arena.games import GAMES
    from arena.runs.games import game_row

    return [game_row(game) for game in GAMES.values()]


def local_game(name: str) -> tuple[Row, str]:
    """A game with the fields of a turn; and its rules."""
    from arena.games import find_game
    from arena.runs.games import game_row, rules_text, turn_fields

    game = find_game(name)
    return game_row(game) | {"turn": turn_fields(game)}, rules_text(game)


def _tracked(
    matches: Iterable[tuple[StoredTournament, StoredMatch]], total: int, what: str
) -> Iterator[tuple[StoredTournament, StoredMatch]]:
    return OUT.track(matches, total, what)


def _told(of: StoredTournament, played: StoredMatch) -> ToldRecord:
    from arena.runs.names import match_name, match_number
    from arena.tournament.several import check_seated

    check_seated(of, played)
    match = match_name(match_number(of, played.block, played.seating))
    return ToldRecord(of.name, match, of.game, played.block, played.record)


class _RemoteSource:
    """Asks a server.

    Args:
        remote: the server.
    """

    def __init__(self, remote: Remote) -> None:
        from botarena.v1.api_games_pb2_grpc import GameServiceStub
        from botarena.v1.api_leaderboards_pb2_grpc import LeaderboardServiceStub
        from botarena.v1.api_matches_pb2_grpc import MatchServiceStub

        self._games = remote.stub(GameServiceStub)
        self._boards = remote.stub(LeaderboardServiceStub)
        self._matches = remote.stub(MatchServiceStub)

    def games(self) -> list[Row]:
        from botarena.v1.api_games_pb2 import ListGamesRequest

        from arena.runs.message_rows import row_of

        return [row_of(game) for game in self._games.ListGames(ListGamesRequest()).games]

    def game(self, name: str) -> tuple[Row, str]:
        from botarena.v1.api_games_pb2 import GetGameRequest

        from arena.runs.message_rows import row_of

        answer = self._games.GetGame(GetGameRequest(game=name))
        turn = {part.part: list(part.fields) for part in answer.turn}
        return row_of(answer.game) | {"turn": turn}, answer.rules

    def tournaments(self) -> list[Row]:
        from botarena.v1.api_leaderboards_pb2 import ListResultsRequest

        answers = pages(lambda page: self._boards.ListResults(ListResultsRequest(page=page)))
        return [_tournament(each)[0] for answer in answers for each in answer.tournaments]

    def result(self, name: str | None, details: bool) -> Row:
        from botarena.v1.api_leaderboards_pb2 import GetResultRequest

        from arena.runs.message_rows import row_of

        answer = self._boards.GetResult(GetResultRequest(tournament=name or "", details=details))
        row = row_of(answer)
        tournament, clock = _tournament(answer.tournament)
        return row | {
            "tournament": tournament,
            "clock": clock,
            "answer": json.loads(answer.answer_json) if answer.answer_json else None,
            "retired": [bot.name for bot in answer.tournament.bots if bot.retired],
        }

    def leaderboards(
        self, filters: Filters, details: bool = False, history: bool = False, newest: bool = False
    ) -> Iterator[Row]:
        from botarena.v1.api_leaderboards_pb2 import GetLeaderboardRequest

        from arena.runs.message_rows import row_of

        request = GetLeaderboardRequest(
            filter=_asked(filters), details=details, history=history, newest=newest
        )
        return (row_of(board) for board in self._boards.GetLeaderboard(request).boards)

    def overall(self, filters: Filters) -> Row:
        from botarena.v1.api_leaderboards_pb2 import GetOverallRequest

        from arena.runs.message_rows import row_of

        return row_of(self._boards.GetOverall(GetOverallRequest(filter=_asked(filters))))

    def meetings(self, filters: Filters) -> Meetings:
        from botarena.v1.api_leaderboards_pb2 import GetHeadToHeadRequest

        from arena.runs.message_rows import row_of

        bot, against = filters.together
        asked = _asked(replace(filters, together=()))
        answers = pages(
            lambda page: self._boards.GetHeadToHead(
                GetHeadToHeadRequest(bot=bot, against=against, filter=asked, page=page)
            )
        )
        first = next(answers)
        seats = [_without(row_of(seat), "void") for seat in first.seats]
        whole = _without(row_of(first.whole), "seat")

        def rows() -> Iterator[Row]:
            yield from map(row_of, first.matches)
            for answer in answers:
                yield from map(row_of, answer.matches)

        return rows(), lambda: (seats, whole)

    def matches(self, name: str | None, faults: bool) -> list[Row]:
        from botarena.v1.api_matches_pb2 import ListMatchesRequest

        from arena.runs.message_rows import row_of

        answers = pages(
            lambda page: self._matches.ListMatches(
                ListMatchesRequest(tournament=name or "", faults=faults, page=page)
            )
        )
        return [row_of(match) for answer in answers for match in answer.matches]

    def record(self, text: str) -> ToldRecord:
        from botarena.v1.api_matches_pb2 import GetMatchRequest

        from arena.runs.names import parse_match

        parse_match(text)
        answer = self._matches.GetMatch(GetMatchRequest(match=text))
        name = f"{answer.match.tournament}/{answer.match.match}"
        if not answer.HasField("public_record"):
            raise StateError(
                f"{name} is not shown yet",
                "its deal is still being played by others",
                "ask again when all matches of the deal are played",
            )
        data = answer.public_record
        from arena.match.record import unseal

        return ToldRecord(answer.match.tournament, answer.match.match, unseal(data).game, answer.block, data)

    def logs(self, text: str, bot: str | None, whole: bool) -> tuple[list[Row], list[Row]]:
        from botarena.v1.api_matches_pb2 import GetMatchLogsRequest

        from arena.runs.message_rows import row_of

        answer = self._matches.GetMatchLogs(GetMatchLogsRequest(match=text, bot=bot or "", whole=whole))
        if answer.cut:
            OUT.say("the beginning is left out: it is too much to be sent")
        return [row_of(fault) for fault in answer.faults], [row_of(line) for line in answer.lines]

    def records(self, filters: Filters, what: str) -> Iterator[ToldRecord]:
        from botarena.v1.api_matches_pb2 import DownloadRecordsRequest

        for each in self._matches.DownloadRecords(DownloadRecordsRequest(filter=_asked(filters))):
            yield ToldRecord(each.tournament, each.match, each.game, each.block, each.public_record)

    def whole(self, name: str) -> Whole:
        from arena.tournament.runner import commitment, tables_of

        result = self.result(name, details=False)
        if result["tournament"]["seed"] is None:
            raise StateError(
                f"{name} cannot be verified yet",
                "its seed is told at its end, and its deals follow from it",
                "verify single matches: arena verify NAME/m0000",
            )
        tournament = _stored_tournament(result)
        if commitment(tournament.seed) != result["tournament"]["commitment"]:
            raise CheckFailedError(
                f"{name} differs", "its seed is not what it was committed to", "ask who runs the server"
            )
        matches = OUT.track(self._stored(tournament), tournament.matches, "verifying")
        return Whole(tournament, tables_of(_RemotePairings(self._matches, name), tournament), matches)

    def _stored(self, tournament: StoredTournament) -> Iterator[StoredMatch]:
        """The matches of a tournament, with beside their records what these say."""
        from arena.runs.names import match_place, parse_match
        from arena.tournament.runner import seats_of

        bots = {bot.name: index for index, bot in enumerate(tournament.bots)}
        for told in self.records(Filters(tournaments=[tournament.name]), "verifying"):
            _, seating = match_place(tournament, parse_match(told.match)[1])
            record = told.record()
            yield StoredMatch(told.block, seating, record.verdict, told.data, seats_of(record, bots))


class _RemotePairings:
    """What was decided of a tournament at a server."""

    def __init__(self, stub: MatchServiceStub, tournament: str) -> None:
        self._stub = stub
        self._tournament = tournament

    def pairings(self, number: int) -> list[StoredPairing]:
        """All of it; the number is that of the database, which nobody knows here."""
        from botarena.v1.api_matches_pb2 import ListPairingsRequest

        answers = pages(
            lambda page: self._stub.ListPairings(ListPairingsRequest(tournament=self._tournament, page=page))
        )
        return [
            StoredPairing(each.block, each.round, each.deal, tuple(tuple(s.bots) for s in each.seatings))
            for answer in answers
            for each in answer.pairings
        ]


def _stored_tournament(result: Row) -> StoredTournament:
    """A tournament as it must be stored, out of what a server tells of it."""
    from arena.tournament.formats import ENDLESS

    row, clock = result["tournament"], result["clock"]
    endless = row["matches"] is None
    return StoredTournament(
        id=0,
        name=row["name"],
        kind=row["kind"],
        game=row["game"],
        options=row["options"],
        seats=row["seats"],
        deals=ENDLESS if endless else row["deals"],
        rotate=clock["rotate"],
        matches=ENDLESS if endless else row["matches"],
        seed=bytes.fromhex(row["seed"]),
        move_us=clock["move_us"],
        bank_us=clock["bank_us"],
        start_us=0,
        faults_allowed=clock["faults_allowed"],
        bots=tuple(
            StoredBot(bot["name"], bot["version"], {}, bot["name"] in result["retired"])
            for bot in row["bots"]
        ),
        created_us=0,
        finished_us=0,
        format=row["format"],
        settings=row["settings"],
    )


def _asked(filters: Filters) -> MatchFilter:
    from botarena.v1.api_leaderboards_pb2 import MatchFilter

    return MatchFilter(
        game=filters.game or "",
        tournaments=filters.tournaments,
        bots=filters.bots,
        only=filters.only,
        options=filters.options,
        seats=filters.seats,
        since=filters.since or "",
        before=filters.before or "",
    )


def _without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}


def _tournament(message: Any) -> tuple[Row, Row]:
    """A tournament as a row, and its clock."""
    from arena.runs.message_rows import row_of
    from arena.runs.results import CLOCK

    row = row_of(message)
    clock = {name: row.pop(name) for name in CLOCK}
    told = {"settings" if key == "settings_json" else key: value for key, value in row.items()}
    told["settings"] = json.loads(message.settings_json)
    told["bots"] = [{"name": bot["name"], "version": bot["version"]} for bot in row["bots"]]
    return told, clock
