"""Matches among scripted bots, however long they last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from botarena.v1.record_pb2 import MatchRecord

from arena.match.host import TableHost
from arena.match.match import Match
from arena.match.record import unseal
from arena.match.spec import MatchSpec
from tests.match.fakes import FakeBot


async def play_scripted(host: TableHost, spec: MatchSpec, bots: Sequence[FakeBot]) -> MatchRecord:
    """The record of a match among bots that do not answer at once, as that would nest calls in calls."""
    playing = asyncio.create_task(host.play(Match(spec), [bot.lane for bot in bots]))
    while not playing.done():
        for bot in bots:
            if bot.waiting:
                bot.answer_all()
        await asyncio.sleep(0)
    return unseal(await playing)
