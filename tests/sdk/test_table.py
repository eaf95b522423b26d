"""The SDK without a network: frames in, frames out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from botarena import Bot, Match, Result, Turn, lazy
from botarena.bot import Choice
from botarena.table import FunctionBot, Table
from botarena.v1 import bot_pb2


def start(match: int = 1, seed: bytes = bytes(32)) -> bot_pb2.MatchStart:
    return bot_pb2.MatchStart(
        match=match,
        game="koffer",
        game_version=1,
        seat=1,
        names=["x", "y"],
        bot_seed=seed,
        time=bot_pb2.TimeControl(move_us=1_000_000, bank_us=2_000_000),
    )


def decision(number: int, match: int = 1, actions: int = 3) -> bot_pb2.Decision:
    asked = bot_pb2.Decision(id=number, match=match, seat=1, time_left_us=500_000)
    for position in range(1, actions + 1):
        asked.turn.koffer.actions.add(position=position)
    asked.turn.koffer.events.add().extra_turn.seat = number
    return asked


def answers(table: Table, frame: bot_pb2.FromArena) -> bot_pb2.FromBot:
    whole = bot_pb2.FromBot()
    for part in table.handle(frame.SerializeToString()):
        whole.MergeFrom(part)
    return whole


def function_table(choose: Any) -> Table:
    return Table(lambda: FunctionBot(choose))


@pytest.mark.parametrize(
    ("choose", "index"),
    [
        (lambda turn: 2, 2),
        (lambda turn: turn.actions[1], 1),
        (lambda turn: type(turn.actions[0])(position=3), 2),
        (lambda turn: True, 1),
    ],
)
def test_a_choice_is_an_index_or_an_action(choose: Any, index: int) -> None:
    frame = bot_pb2.FromArena(starts=[start()], decisions=[decision(7)])
    (reply,) = answers(function_table(choose), frame).replies
    assert (reply.decision, reply.action) == (7, index)


@pytest.mark.parametrize("choose", [lambda turn: -1, lambda turn: 1 << 40, lambda turn: bot_pb2.Hello()])
def test_what_is_no_action_is_sent_as_an_answer_without_one(choose: Any) -> None:
    frame = bot_pb2.FromArena(starts=[start()], decisions=[decision(7)])
    (reply,) = answers(function_table(choose), frame).replies
    assert not reply.HasField("action")


@pytest.mark.parametrize("choose", [lambda turn: None, lambda turn: "take 3", lambda turn: 1 // 0])
def test_a_failing_choose_is_reported_with_its_traceback(choose: Any, capsys: Any) -> None:
    frame = bot_pb2.FromArena(starts=[start()], decisions=[decision(7)])
    (error,) = answers(function_table(choose), frame).errors
    assert error.decision == 7
    assert "Traceback" in error.text
    assert "Traceback" in capsys.readouterr().err


class Recorder(Bot):
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.log: list[Any] = []

    def start(self, match: Match) -> None:
        self.log.append(("start", match.seat, match.names, match.move_time, match.bank))

    def choose(self, turn: Turn) -> Choice:
        assert 0 < turn.time_left <= 0.5
        self.log.append([event.extra_turn.seat for event in turn.history])
        return 0

    def end(self, result: Result) -> None:
        self.log.append((result.ranks, result.fault))
        RESULTS.append(self.log)


RESULTS: list[Any] = []


def test_there_is_one_instance_per_match_and_it_hears_everything() -> None:
    RESULTS.clear()
    Recorder.made = 0
    table = Table(Recorder)
    first = bot_pb2.FromArena(starts=[start(1), start(2)], decisions=[decision(10, 1), decision(11, 2)])
    assert [reply.decision for reply in answers(table, first).replies] == [10, 11]
    answers(table, bot_pb2.FromArena(decisions=[decision(12, 1)]))
    end = bot_pb2.MatchEnd(match=1, ranks=[2, 1], fault="")
    end.turn.koffer.view.over = True
    answers(table, bot_pb2.FromArena(ends=[end]))
    assert Recorder.made == 2
    assert RESULTS == [[("start", 1, ("x", "y"), 1.0, 2.0), [10], [10, 12], ((2, 1), "")]]


def test_a_decision_of_a_match_that_ended_in_the_same_frame_is_not_played() -> None:
    asked: list[int] = []

    def choose(turn: Turn) -> int:
        asked.append(turn.seat)
        return 0

    table = function_table(choose)
    frame = bot_pb2.FromArena(starts=[start()], decisions=[decision(7)], ends=[bot_pb2.MatchEnd(match=1)])
    assert not answers(table, frame).replies
    assert not asked


def test_the_generator_of_a_match_repeats_itself() -> None:
    def draw(seed: bytes) -> int:
        table = function_table(lambda turn: turn.random.randrange(1 << 30))
        frame = bot_pb2.FromArena(starts=[start(seed=seed)], decisions=[decision(1)])
        return answers(table, frame).replies[0].action

    assert draw(bytes(32)) == draw(bytes(32))
    assert draw(bytes(32)) != draw(bytes(31) + b"\1")


def test_an_error_at_the_end_of_a_match_disturbs_no_other(capsys: Any) -> None:
    class Sulks(Bot):
        def choose(self, turn: Turn) -> int:
            return 0

        def end(self, result: Result) -> None:
            raise RuntimeError("I lost")

    table = Table(Sulks)
    answers(table, bot_pb2.FromArena(starts=[start(1), start(2)], ends=[bot_pb2.MatchEnd(match=1)]))
    assert "I lost" in capsys.readouterr().err
    assert answers(table, bot_pb2.FromArena(decisions=[decision(3, 2)])).replies[0].action == 0


def test_a_match_that_ends_in_a_frame_is_over_before_the_next_one_begins() -> None:
    """The arena joins frames that it could not write yet; a bot that plays one at a time must not see two."""
    told: list[str] = []

    class Shy(Bot):
        def start(self, match: Match) -> None:
            told.append("start")

        def choose(self, turn: Turn) -> int:
            told.append("choose")
            return 0

        def end(self, result: Result) -> None:
            told.append("end")

    table = Table(Shy)
    answers(table, bot_pb2.FromArena(starts=[start(1)], decisions=[decision(1, 1)]))
    ends = [bot_pb2.MatchEnd(match=match) for match in (1, 3)]
    for end in ends:
        end.turn.koffer.SetInParent()
    joined = bot_pb2.FromArena(starts=[start(2), start(3)], decisions=[decision(2, 2)], ends=ends)
    assert [reply.decision for reply in answers(table, joined).replies] == [2]
    assert told == ["start", "choose", "end", "start", "start", "choose", "end"]


@pytest.mark.parametrize("many", [False, True])
def test_what_an_arena_repeats_after_a_break_is_not_played_twice(many: bool) -> None:
    class Once(Bot):
        made = 0
        asked: ClassVar[list[int]] = []

        def start(self, match: Match) -> None:
            type(self).made += 1

        def choose(self, turn: Turn) -> Choice:
            self.asked.append(len(turn.actions))
            return len(self.asked)

    if many:
        Once.choose_many = classmethod(lambda cls, turns: [turn.bot.choose(turn) for turn in turns])  # type: ignore[method-assign, assignment]
    table = Table(Once)
    frame = bot_pb2.FromArena(starts=[start(1), start(2)], decisions=[decision(7, 1), decision(8, 2)])
    first = answers(table, frame)
    frame.decisions.append(decision(9, 3))
    frame.starts.append(start(3))
    again = answers(table, frame)
    by_decision = {reply.decision: reply for reply in again.replies}
    assert sorted(by_decision) == [7, 8, 9]
    assert [by_decision[7], by_decision[8]] == list(first.replies)
    assert len(Once.asked) == Once.made == 3


class Batch(Bot):
    """Thinks in batches; refuses those with a match whose action count is 13."""

    asked: ClassVar[list[list[int]]] = []

    @classmethod
    def choose_many(cls, turns: Sequence[Turn]) -> Sequence[Choice]:
        assert all(isinstance(turn.bot, cls) for turn in turns)
        counts = [len(turn.actions) for turn in turns]
        cls.asked.append(counts)
        if 13 in counts:
            raise ValueError("unlucky")
        return [count - 1 for count in counts]


def test_choose_many_is_asked_once_about_all_open_decisions() -> None:
    Batch.asked = []
    asked = [decision(10 + match, match, actions=match + 1) for match in (1, 2, 3)]
    frame = bot_pb2.FromArena(starts=[start(1), start(2), start(3)], decisions=asked)
    replies = answers(Table(Batch), frame).replies
    assert [(reply.decision, reply.action) for reply in replies] == [(11, 1), (12, 2), (13, 3)]
    assert Batch.asked == [[2, 3, 4]]


def test_an_error_in_choose_many_costs_the_match_that_it_is_about() -> None:
    Batch.asked = []
    table = Table(Batch)
    asked = [decision(1, 1, actions=2), decision(2, 2, actions=13), decision(3, 3, actions=4)]
    frame = bot_pb2.FromArena(starts=[start(1), start(2), start(3)], decisions=asked)
    whole = answers(table, frame)
    assert [(reply.decision, reply.action) for reply in whole.replies] == [(1, 1), (3, 3)]
    assert [error.decision for error in whole.errors] == [2]
    assert "unlucky" in whole.errors[0].text
    assert Batch.asked == [[2, 13, 4], [2], [13], [4]]
    # The turns of the batch that failed count once in the history.
    frame = bot_pb2.FromArena(decisions=[decision(4, 1, actions=2)])
    assert [reply.decision for reply in answers(table, frame).replies] == [4]


@pytest.mark.parametrize("choices", [[0], [0, 0, 0], [0, "take 3"]])
def test_choose_many_must_answer_each_turn(choices: list[Any]) -> None:
    class Wrong(Bot):
        @classmethod
        def choose_many(cls, turns: Sequence[Turn]) -> Sequence[Choice]:
            return choices if len(turns) > 1 else ["take 3"]  # type: ignore[list-item]

    frame = bot_pb2.FromArena(starts=[start(1), start(2)], decisions=[decision(1, 1), decision(2, 2)])
    whole = answers(Table(Wrong), frame)
    assert not whole.replies
    assert [error.decision for error in whole.errors] == [1, 2]


def test_a_turn_that_the_bot_does_not_look_at_is_not_taken_apart() -> None:
    asked = lazy.FromArena.FromString(bot_pb2.FromArena(decisions=[decision(7)]).SerializeToString())
    asked.decisions[0].turn = b"\xff\xff"  # no message at all
    asked.starts.add().MergeFromString(start().SerializeToString())
    (frame,) = function_table(lambda turn: 2).handle(asked.SerializeToString())
    assert frame.replies[0].action == 2
    asked.starts[0].match = asked.decisions[0].match = 2
    (frame,) = function_table(lambda turn: len(turn.actions)).handle(asked.SerializeToString())
    assert "DecodeError" in frame.errors[0].text


@pytest.mark.parametrize("open_matches", [1, 3])
def test_choose_many_that_returns_too_many_choices_is_the_bots_own_error(open_matches: int) -> None:
    class Generous(Bot):
        @classmethod
        def choose_many(cls, turns: Sequence[Turn]) -> Sequence[Choice]:
            return [0] * (len(turns) + 1)

    matches = range(1, open_matches + 1)
    frame = bot_pb2.FromArena(starts=map(start, matches), decisions=[decision(m, m) for m in matches])
    whole = answers(Table(Generous), frame)
    assert not whole.replies
    assert all("2 choices for 1 turns" in error.text for error in whole.errors)
    assert [error.decision for error in whole.errors] == list(matches)
