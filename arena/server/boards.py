"""`LeaderboardService`: leaderboards that are kept up to date, and what else adds up over many matches."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import grpc
import structlog
from botarena.v1 import api_leaderboards_pb2 as api
from botarena.v1.api_leaderboards_pb2_grpc import (
    LeaderboardServiceServicer,
    add_LeaderboardServiceServicer_to_server,
)

from arena.errors import ArenaError, TooMuchError, UsageError
from arena.runs.boards import Board, Row, overall, told_tournament
from arena.runs.kept_boards import KeptBoards, is_kept, kept_row, key_of
from arena.runs.meetings import encounters_of
from arena.runs.message_rows import filled
from arena.runs.results import clock_row, repeat_command, result_of
from arena.runs.rows import tournament_row
from arena.runs.selecting import Filters
from arena.server.background import apart
from arena.server.news import News
from arena.server.pages import page_of
from arena.store.boards import Boards
from arena.store.store import Store

_LOOK_EVERY_S = 1.0
"""How often it is looked whether matches were stored."""
_REST = 4
"""A board is not brought up to date again before so many times as long as that took."""
_WANTED = 200
"""Boards that are brought up to date by themselves: those that were asked for last."""
_HARD = 2
"""Answers that are computed at once; others wait."""
_MOST_MET = 50_000
"""Matches of two bots that are added up for an answer."""
_NAMES = 100
"""Most names, bots or options in a filter."""
_log = structlog.get_logger("arena.boards")


class BoardPart(LeaderboardServiceServicer):
    """Offers leaderboards, and brings up to date those that somebody asked for.

    Args:
        store: the database.
        boards: those that are kept; if left out, with the usual limits.
        look_every_s: seconds between looks for new matches.
    """

    def __init__(
        self, store: Store, boards: KeptBoards | None = None, look_every_s: float = _LOOK_EVERY_S
    ) -> None:
        self._store = store
        self._boards = boards or KeptBoards(store)
        self._look_every_s = look_every_s
        self._news: News[api.Board] = News()
        self._wanted: OrderedDict[str, Board] = OrderedDict()
        self._rests: dict[str, float] = {}
        self._hard = asyncio.Semaphore(_HARD)
        self._going: asyncio.Task[None] | None = None

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_LeaderboardServiceServicer_to_server(self, server)

    async def start(self) -> None:
        """Bring boards up to date from now on."""
        self._going = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """End that: what is not stored is counted again after the next start."""
        self._news.close()
        if self._going is not None:
            self._going.cancel()
            with suppress(asyncio.CancelledError):
                await self._going

    # in the background

    async def _keep(self) -> None:
        seen = -1
        late = False
        while True:
            newest = await apart(Boards(self._store).newest)
            if newest != seen or late:
                seen, late = newest, not await self._refresh_all()
            await asyncio.sleep(self._look_every_s)

    async def _refresh_all(self) -> bool:
        """Whether all boards are up to date that are wanted, and none has to rest."""
        all_ = True
        for key, board in list(self._wanted.items()):
            if time.monotonic() < self._rests.get(key, 0):
                all_ = False
                continue
            try:
                await self._refresh(key, board)
            except ArenaError as error:
                _log.warning("board", reason=str(error))
            except Exception:
                # A record that cannot be read must not keep the other boards from being made.
                _log.exception("board")
        return all_

    async def _refresh(self, key: str, board: Board) -> None:
        began = time.monotonic()
        row = await apart(self._boards.refresh, board)
        ended = time.monotonic()
        self._rests[key] = ended + _REST * (ended - began)
        if self._news.is_heard(key):
            self._news.publish(key, _board(board, row))

    def _want(self, board: Board) -> None:
        key = key_of(board)
        self._wanted[key] = board
        self._wanted.move_to_end(key)
        while len(self._wanted) > _WANTED:
            gone, _ = self._wanted.popitem(last=False)
            self._rests.pop(gone, None)

    # the service

    async def GetLeaderboard(
        self,
        request: api.GetLeaderboardRequest,
        context: grpc.aio.ServicerContext[api.GetLeaderboardRequest, api.GetLeaderboardResponse],
    ) -> api.GetLeaderboardResponse:
        """Leaderboards of a selection."""
        filters = filters_of(request.filter)
        boards = await apart(self._boards.boards_of, filters, request.newest)
        answer = api.GetLeaderboardResponse()
        for board in boards:
            answer.boards.append(await self._told(board, request.details, request.history))
        return answer

    async def _told(self, board: Board, details: bool, history: bool) -> api.Board:
        if is_kept(board):
            self._want(board)
            if not details and not history:
                return _board(board, await apart(self._boards.shown, board))
        async with self._hard:
            return _board(board, await apart(self._boards.shown, board, details, history))

    async def GetOverall(
        self,
        request: api.GetOverallRequest,
        context: grpc.aio.ServicerContext[api.GetOverallRequest, api.GetOverallResponse],
    ) -> api.GetOverallResponse:
        """One rating over all games."""
        filters = filters_of(request.filter)
        async with self._hard:
            row = await apart(overall, self._store, filters, self._boards.report, self._boards.count)
        return filled(api.GetOverallResponse(), row)

    async def GetHeadToHead(
        self,
        request: api.GetHeadToHeadRequest,
        context: grpc.aio.ServicerContext[api.GetHeadToHeadRequest, api.GetHeadToHeadResponse],
    ) -> api.GetHeadToHeadResponse:
        """Two bots against each other."""
        filters = replace(filters_of(request.filter), together=(request.bot, request.against))
        async with self._hard:
            return await apart(self._met, filters, request)

    def _met(self, filters: Filters, request: api.GetHeadToHeadRequest) -> api.GetHeadToHeadResponse:
        encounters, matches = encounters_of(self._store, filters, most=_MOST_MET)
        rows = [row | {"place": place} for place, row in enumerate(encounters.rows(matches), 1)]
        page, reply = page_of(
            request.page, lambda after, most: rows[after : after + most], lambda row: int(row["place"])
        )
        answer = api.GetHeadToHeadResponse(
            matches=[filled(api.HeadToHeadMatchRow(), row) for row in page], page=reply
        )
        if not request.page.token:
            answer.seats.extend(filled(api.HeadToHeadRow(), row) for row in encounters.seats())
            filled(answer.whole, encounters.summary())
        return answer

    async def ListBoards(
        self,
        request: api.ListBoardsRequest,
        context: grpc.aio.ServicerContext[api.ListBoardsRequest, api.ListBoardsResponse],
    ) -> api.ListBoardsResponse:
        """The boards that are kept."""
        kept = await apart(Boards(self._store).boards)
        rows = [
            kept_row(board) | {"place": place}
            for place, board in enumerate(kept, 1)
            if request.game in ("", board.selection["game"])
        ]
        page, reply = page_of(
            request.page,
            lambda after, most: [row for row in rows if row["place"] > after][:most],
            lambda row: int(row["place"]),
        )
        return api.ListBoardsResponse(boards=[filled(api.KeptBoard(), row) for row in page], page=reply)

    async def WatchLeaderboard(
        self,
        request: api.WatchLeaderboardRequest,
        context: grpc.aio.ServicerContext[api.WatchLeaderboardRequest, api.WatchLeaderboardResponse],
    ) -> AsyncIterator[api.WatchLeaderboardResponse]:
        """A leaderboard now, and whenever it changes."""
        if bool(request.game) == bool(request.tournament):
            raise UsageError("this cannot be watched", "a game or a tournament is to be named", "name one")
        board = await apart(self._watched, request.game, request.tournament)
        self._want(board)
        with self._news.listen(key_of(board)) as changes:
            last = _board(board, await apart(self._boards.shown, board))
            yield api.WatchLeaderboardResponse(board=last)
            async for newer in changes:
                self._want(board)
                if newer != last:
                    last = newer
                    yield api.WatchLeaderboardResponse(board=newer)

    def _watched(self, game: str, tournament: str) -> Board:
        filters = Filters(tournaments=[tournament]) if tournament else Filters(game=game)
        boards = self._boards.boards_of(filters)
        if not boards:
            raise UsageError("this cannot be watched yet", "no match of it is stored", "ask again later")
        return max(boards, key=lambda board: board.matches)

    async def GetResult(
        self,
        request: api.GetResultRequest,
        context: grpc.aio.ServicerContext[api.GetResultRequest, api.GetResultResponse],
    ) -> api.GetResultResponse:
        """What came out of a tournament so far."""
        async with self._hard:
            return await apart(self._result, request.tournament, request.details)

    def _result(self, name: str, details: bool) -> api.GetResultResponse:
        tournament = self._store.tournament(name or None)
        filters = Filters(tournaments=[tournament.name])
        boards = self._boards.boards_of(filters)
        board = self._boards.shown(boards[0], details) if boards else told_tournament(self._store, tournament)
        row = result_of(self._store, tournament, board)
        answer = filled(api.GetResultResponse(), row | {"tournament": None})
        answer.tournament.CopyFrom(tournament_message(row["tournament"] | row["clock"]))
        answer.board.game = tournament.game
        answer.board.options.update(tournament.options)
        if row["answer"] is not None:
            answer.answer_json = json.dumps(row["answer"])
        for bot, stored in zip(answer.tournament.bots, tournament.bots, strict=True):
            bot.retired = stored.retired
        answer.repeat = repeat_command(tournament)
        return answer

    async def ListResults(
        self,
        request: api.ListResultsRequest,
        context: grpc.aio.ServicerContext[api.ListResultsRequest, api.ListResultsResponse],
    ) -> api.ListResultsResponse:
        """All tournaments."""
        tournaments = await apart(self._store.tournaments)
        page, reply = page_of(
            request.page,
            lambda after, most: [each for each in tournaments if each[0].id > after][:most],
            lambda each: each[0].id,
        )
        rows = [tournament_message(tournament_row(*each) | clock_row(each[0])) for each in page]
        return api.ListResultsResponse(tournaments=rows, page=reply)


def filters_of(asked: api.MatchFilter) -> Filters:
    """What somebody asks for.

    Raises:
        TooMuchError: it names more than anybody needs.
    """
    for names in (asked.tournaments, asked.bots, asked.options):
        if len(names) > _NAMES or sum(map(len, names)) > 100 * _NAMES:
            raise TooMuchError("the filter is too long", f"it names more than {_NAMES} things", "name fewer")
    return Filters(
        game=asked.game or None,
        tournaments=list(asked.tournaments),
        bots=list(asked.bots),
        only=asked.only,
        options=list(asked.options),
        seats=asked.seats if asked.HasField("seats") else None,
        since=asked.since or None,
        before=asked.before or None,
    )


def tournament_message(row: Row) -> api.TournamentRow:
    """A tournament as it is told."""
    return filled(api.TournamentRow(), row | {"settings_json": json.dumps(row["settings"])})


def _board(board: Board, row: Row) -> api.Board:
    """A leaderboard as it is told."""
    return filled(api.Board(), board.names | row)
