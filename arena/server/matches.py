"""`MatchService`: matches, their records as far as they may be told, and for owners what bots wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice

import grpc
from botarena.v1 import api_matches_pb2 as api
from botarena.v1.api_matches_pb2_grpc import MatchServiceServicer, add_MatchServiceServicer_to_server
from botarena.v1.record_pb2 import MatchRecord

from arena.bots.process import log_name
from arena.errors import NotAllowedError, NotFoundError
from arena.match.evidence import public_record, told_faults
from arena.match.record import seal
from arena.runs.matches import Found, Row, fault_row, find_match, has_faults, last_rows, log_rows, match_row
from arena.runs.message_rows import filled
from arena.runs.names import logs_folder, match_name, match_number, match_place
from arena.runs.secrecy import Secrecy
from arena.runs.selecting import nothing_fits
from arena.server.background import apart
from arena.server.boards import filters_of
from arena.server.caller import CALLER, Caller, caller
from arena.server.pages import page_of
from arena.store.store import Store
from arena.store.stored import StoredMatch, StoredTournament
from arena.tournament.report import played_record

_LOG_BYTES = 2 << 20
"""Most that is told of logs at once."""
_READ = 1000
"""Most matches that are read for a page."""
_AT_ONCE = 50
"""Records that are read at a time."""


class MatchPart(MatchServiceServicer):
    """Offers matches.

    Args:
        store: the database.
        db: what it is called, beside which the bots' logs are.
    """

    def __init__(self, store: Store, db: str) -> None:
        self._store = store
        self._db = db

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_MatchServiceServicer_to_server(self, server)

    async def start(self) -> None:
        """Nothing goes on by itself."""

    async def stop(self) -> None:
        """Nothing goes on by itself."""

    async def ListMatches(
        self,
        request: api.ListMatchesRequest,
        context: grpc.aio.ServicerContext[api.ListMatchesRequest, api.ListMatchesResponse],
    ) -> api.ListMatchesResponse:
        """The matches of a tournament."""
        return await apart(self._listed, request)

    def _listed(self, request: api.ListMatchesRequest) -> api.ListMatchesResponse:
        tournament = self._store.tournament(request.tournament or None)

        def number(played: StoredMatch) -> int:
            return match_number(tournament, played.block, played.seating) + 1

        def read(after: int, most: int) -> list[StoredMatch]:
            return list(
                islice(self._store.matches(tournament.id, *match_place(tournament, after)), min(most, _READ))
            )

        page, reply = page_of(request.page, read, number)
        rows = (match_row(tournament, played) for played in page)
        wanted = [
            row
            for row in rows
            if (not request.faults or has_faults(row)) and request.bot in ("", *row["bots"])
        ]
        return api.ListMatchesResponse(matches=[filled(api.MatchRow(), row) for row in wanted], page=reply)

    async def GetMatch(
        self,
        request: api.GetMatchRequest,
        context: grpc.aio.ServicerContext[api.GetMatchRequest, api.GetMatchResponse],
    ) -> api.GetMatchResponse:
        """One match."""
        return await apart(self._match, request.match, CALLER.get())

    def _match(self, text: str, who: Caller | None) -> api.GetMatchResponse:
        found = find_match(self._store, text)
        record = played_record(found.played)
        answer = api.GetMatchResponse(
            match=filled(api.MatchRow(), match_row(found.tournament, found.played)), block=found.played.block
        )
        if Secrecy(self._store, found.tournament).tells(found.played.block):
            answer.public_record = seal(public_record(record))
        if who is not None:
            answer.faults.extend(_faults(record, _own(found, who)))
        return answer

    async def GetMatchLogs(
        self,
        request: api.GetMatchLogsRequest,
        context: grpc.aio.ServicerContext[api.GetMatchLogsRequest, api.GetMatchLogsResponse],
    ) -> api.GetMatchLogsResponse:
        """What bots of the caller wrote."""
        return await apart(self._logs, request, caller())

    def _logs(self, request: api.GetMatchLogsRequest, who: Caller) -> api.GetMatchLogsResponse:
        found = find_match(self._store, request.match)
        names = _wanted(found, who, request.bot)
        record = played_record(found.played)
        folder = logs_folder(self._db, found.tournament.name)
        lines = (
            {"bot": name, **row}
            for name in names
            for row in log_rows(folder / log_name(name, record.circumstances.worker), record, request.whole)
        )
        rows, cut = last_rows(lines, _LOG_BYTES)
        return api.GetMatchLogsResponse(
            faults=_faults(record, names), lines=[filled(api.LogRow(), row) for row in rows], cut=cut
        )

    async def ListPairings(
        self,
        request: api.ListPairingsRequest,
        context: grpc.aio.ServicerContext[api.ListPairingsRequest, api.ListPairingsResponse],
    ) -> api.ListPairingsResponse:
        """The tables that a format decided."""
        return await apart(self._paired, request)

    def _paired(self, request: api.ListPairingsRequest) -> api.ListPairingsResponse:
        number = self._store.tournament(request.tournament or None).id
        page, reply = page_of(
            request.page,
            lambda after, most: self._store.pairings(number, after)[:most],
            lambda pairing: pairing.block + 1,
        )
        rows = (
            {"block": each.block, "round": each.round, "deal": each.deal}
            | {"seatings": [{"bots": bots} for bots in each.seatings]}
            for each in page
        )
        return api.ListPairingsResponse(pairings=[filled(api.PairingRow(), row) for row in rows], page=reply)

    async def DownloadRecords(
        self,
        request: api.DownloadRecordsRequest,
        context: grpc.aio.ServicerContext[api.DownloadRecordsRequest, api.DownloadRecordsResponse],
    ) -> AsyncIterator[api.DownloadRecordsResponse]:
        """Records of many matches."""
        records = await apart(self._records, request)
        while some := await apart(lambda: list(islice(records, _AT_ONCE))):
            for each in some:
                yield each

    def _records(self, request: api.DownloadRecordsRequest) -> Iterator[api.DownloadRecordsResponse]:
        selection = filters_of(request.filter).selection(self._store)
        if not self._store.count(selection):
            raise nothing_fits()
        return self._told(iter(self._store.selected(selection)))

    def _told(
        self, matches: Iterator[tuple[StoredTournament, StoredMatch]]
    ) -> Iterator[api.DownloadRecordsResponse]:
        secrecy: dict[int, Secrecy] = {}
        for of, played in matches:
            if of.id not in secrecy:
                secrecy[of.id] = Secrecy(self._store, of)
            if secrecy[of.id].tells(played.block):
                yield api.DownloadRecordsResponse(
                    tournament=of.name,
                    match=match_name(match_number(of, played.block, played.seating)),
                    game=of.game,
                    block=played.block,
                    public_record=seal(public_record(played_record(played))),
                )


def _own(found: Found, who: Caller) -> list[str]:
    """Names of the bots of a match that are somebody's."""
    seated = {seat.bot for seat in found.played.seats}
    return [
        bot.name
        for index, bot in enumerate(found.tournament.bots)
        if index in seated and (who.is_admin or bot.owner == who.name)
    ]


def _wanted(found: Found, who: Caller, bot: str) -> list[str]:
    """Names of the bots whose logs somebody wants and may read.

    Raises:
        NotAllowedError, NotFoundError: none is, or the one that is named is not.
    """
    mine = _own(found, who)
    if bot and who.is_admin and bot not in mine:
        raise NotFoundError(
            f"{bot} has no log of {found.name}", "it did not play", f"see: arena match show {found.name}"
        )
    names = [name for name in mine if bot in ("", name)]
    if not names:
        raise NotAllowedError(
            f"logs of {found.name} are not yours to read",
            "what a bot wrote is for its owner alone",
            "name a match in which a bot of yours sat",
        )
    return names


def _faults(record: MatchRecord, names: list[str]) -> list[api.FaultRow]:
    rows: list[Row] = [
        fault_row(record, told) for told in told_faults(record) if record.bots[told.fault.seat].name in names
    ]
    return [filled(api.FaultRow(), row) for row in rows]
