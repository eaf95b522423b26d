"""News: a slow listener gets the newest, memory is bounded, and closing ends all."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import TooMuchError
from arena.server.news import News


@given(st.lists(st.booleans(), max_size=30))
def test_a_listener_gets_the_newest_of_what_it_missed_and_nothing_twice(takes: list[bool]) -> None:
    async def listen() -> None:
        news: News[int] = News()
        with news.listen("cup") as listener:
            newest, taken = None, -1
            for number, is_taken in enumerate(takes):
                news.publish("cup", number)
                news.publish("other", -number)
                newest = number
                if is_taken:
                    taken = await anext(listener)
                    assert taken == newest
            news.close()
            rest = [event async for event in listener]
            assert rest == ([newest] if newest is not None and taken != newest else [])

    asyncio.run(listen())


async def test_there_are_only_so_many_listeners_and_who_has_gone_leaves_room() -> None:
    news: News[int] = News(most=2)
    with news.listen("a"):
        with news.listen("b"), pytest.raises(TooMuchError), news.listen("a"):
            pass
        assert not news.is_heard("b")
        with news.listen("b"):
            assert news.is_heard("b")
