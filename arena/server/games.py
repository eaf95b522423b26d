"""`GameService`: what can be played."""

from __future__ import annotations

import grpc
from botarena.v1 import api_games_pb2 as api
from botarena.v1.api_games_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server

from arena.games import GAMES, find_game
from arena.runs.games import game_row, rules_text, turn_fields
from arena.runs.message_rows import filled
from arena.server.background import apart


class GamePart(GameServiceServicer):
    """Offers the games."""

    def register(self, server: grpc.aio.Server) -> None:
        """Offer its service."""
        add_GameServiceServicer_to_server(self, server)

    async def start(self) -> None:
        """Nothing goes on by itself."""

    async def stop(self) -> None:
        """Nothing goes on by itself."""

    async def ListGames(
        self,
        request: api.ListGamesRequest,
        context: grpc.aio.ServicerContext[api.ListGamesRequest, api.ListGamesResponse],
    ) -> api.ListGamesResponse:
        """All of them."""
        rows = await apart(lambda: [game_row(game) for game in GAMES.values()])
        return api.ListGamesResponse(games=[filled(api.GameRow(), row) for row in rows])

    async def GetGame(
        self,
        request: api.GetGameRequest,
        context: grpc.aio.ServicerContext[api.GetGameRequest, api.GetGameResponse],
    ) -> api.GetGameResponse:
        """One of them."""
        return await apart(_game, request.game)


def _game(name: str) -> api.GetGameResponse:
    game = find_game(name)
    return api.GetGameResponse(
        game=filled(api.GameRow(), game_row(game)),
        turn=[api.TurnPart(part=part, fields=fields) for part, fields in turn_fields(game).items()],
        rules=rules_text(game),
    )
