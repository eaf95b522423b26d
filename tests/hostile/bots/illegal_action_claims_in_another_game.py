"""Answers with a claim of a game that is not played."""

from botarena.v1 import bot_pb2, game_pb2, kamozza_pb2

from tests.hostile.raw import Raw

CLAIM = game_pb2.GameClaim(kamozza=kamozza_pb2.KamozzaClaim(cards=[1, 4_000_000_000]))

if __name__ == "__main__":
    raw = Raw()
    raw.greet()
    raw.play(lambda decision: bot_pb2.Reply(decision=decision.id, action=0, claim=CLAIM))
