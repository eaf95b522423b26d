"""The hostile corpus as a table: what is done to us, what must come of it, and which sandboxes claim so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from arena.bots.limits import BotLimits

NONE, BWRAP, DOCKER, GVISOR = "none", "bwrap", "docker", "gvisor"
LEVELS = (NONE, BWRAP, DOCKER, GVISOR)
PLAYED = "PLAYED"

BY_RULES = frozenset({NONE, BWRAP, DOCKER})
"""What the arena's own rules stop, whatever the sandbox is: the same code of ours under each.

gVisor is left out here: it is several times slower and changes nothing about what is our doing.
"""
BY_SANDBOX = frozenset({BWRAP, DOCKER, GVISOR})
"""What only a sandbox stops: a bot without one is a program of the user who runs the arena."""

_USUAL = BotLimits()
_SMALL = BotLimits(memory_bytes=256 << 20)

BAD, HONEST = "BAD", "honest"


@dataclass(frozen=True, slots=True)
class Case:
    """A hostile bot, and what must come of it.

    Attributes:
        row: what kind of attack it is; several cases may be of one kind.
        bot: its file in `bots/`; the name begins with the verdict that is expected.
        claimed: sandbox levels that claim to stop it.
        table: who sits at each seat: BAD, HONEST, or BAD with a word that it is started with.
        probes: whether the bot tells what it could reach; nothing may be, but for what is named in `open`.
        open: attempts that succeed without harm, by level; each with a reason beside it.
        also: another fault that is right at a level where it is a race; with a reason beside it.
        words: what its author must be told.
        game: the game that is played.
        matches: how many, all at once.
        move_s: longest time for a decision, in seconds.
        bank_s: longest time for all decisions of a seat.
        start_s: longest time from the bad bot's start to its hello.
        limits: what the bad bot may use.
        knows_secrets: whether it is told in a disguise what to look for.
        twice: whether it is played again and must come out equal.
        growth_bytes: by how much the arena's process may grow, by what it loads and by buffers.
        long: whether it takes so long that only `make hostile` plays it.
    """

    row: int
    bot: str
    claimed: frozenset[str] = BY_RULES
    table: tuple[str, ...] = (BAD, HONEST, HONEST)
    probes: bool = False
    open: dict[str, frozenset[str]] = field(default_factory=dict)
    also: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    game: str = "koffer"
    matches: int = 2
    move_s: float = 10
    bank_s: float = 60
    start_s: float = 30
    limits: BotLimits = _USUAL
    knows_secrets: bool = False
    twice: bool = False
    growth_bytes: int = 64 << 20
    long: bool = False

    @property
    def expected(self) -> str:
        """The verdict that the file's name announces: PLAYED or a kind of fault."""
        return next(name for name in VERDICTS if self.bot.startswith(name.lower() + "_"))

    def accepted(self, level: str) -> tuple[str, ...]:
        """The verdicts that are right at a level: the expected one, and another where it is a race."""
        return (self.expected, self.also[level]) if level in self.also else (self.expected,)

    @property
    def bad_seats(self) -> tuple[int, ...]:
        """Where the hostile bots sit."""
        return tuple(seat for seat, who in enumerate(self.table) if who.startswith(BAD))

    @property
    def bound_s(self) -> float:
        """Seconds after which it must be over, by the clocks of three lives of a bot, and then some."""
        return 60 + 3 * (min(self.start_s, 20) + min(self.move_s, self.bank_s))


VERDICTS = (
    PLAYED,
    "TIMEOUT",
    "ILLEGAL_ACTION",
    "MALFORMED_MESSAGE",
    "DISCONNECTED",
    "CRASHED",
    "START_FAILED",
    "MEMORY_EXCEEDED",
    "OUTPUT_EXCEEDED",
)


# gVisor answers system calls out of a kernel of its own, in which the bot is alone: what it gives there is
# nothing of this machine. That no connection leads out is tried all the same.
_IN_A_KERNEL_OF_ITS_OWN = {
    GVISOR: frozenset(
        {
            *(
                f"socket {family} {kind}"
                for family in ("AF_INET", "AF_INET6", "AF_NETLINK")
                for kind in (1, 2, 3)
            ),
            *(
                f"unshare {what}"
                for what in ("mounts", "users", "network", "processes", "names", "ipc", "cgroups")
            ),
            *("new privileges", "no filter of calls", "setuid files that work"),  # it does not tell
            *("raise its priority", "io_uring_setup", "syslog", "device node", "/dev/fuse", "/dev/net/tun"),
        }
    )
}


def _cases() -> Iterator[Case]:
    # 1: no answer
    yield Case(1, "timeout_loops", move_s=1.5, long=True)
    yield Case(1, "timeout_sleeps", matches=1, move_s=2.5, words=("no reply within 2500 ms",))
    yield Case(1, "timeout_waits_for_a_lock", matches=1, move_s=2.5, long=True)
    yield Case(1, "timeout_stops_itself", matches=1, move_s=2.5, long=True)
    # 2: always just under the limit
    yield Case(2, "timeout_uses_up_its_bank", matches=1, bank_s=3, words=("time for the match",))
    # 3, 4: processes
    # Once it gets no more threads of the machine, gVisor itself may end before the bot's time does.
    ends = {GVISOR: "CRASHED"}
    yield Case(3, "timeout_forks_for_ever", BY_SANDBOX, matches=1, move_s=2.5, also=ends)
    yield Case(4, "played_leaves_children")
    yield Case(4, "start_failed_leaves_its_child_to_play")
    # 5: memory
    yield Case(5, "memory_exceeded_itself", BY_SANDBOX, matches=1, move_s=30, limits=_SMALL)
    yield Case(5, "memory_exceeded_by_a_child", BY_SANDBOX, matches=1, move_s=30, limits=_SMALL, long=True)
    yield Case(5, "memory_exceeded_by_many", BY_SANDBOX, matches=1, move_s=30, limits=_SMALL, long=True)
    # 6: disk
    # Nothing counts files in bubblewrap and gVisor; there they are memory of the bot's control group.
    files = dict.fromkeys((BWRAP, GVISOR), frozenset({"many files in /tmp"}))
    yield Case(
        6, "played_fills_the_disk", BY_SANDBOX, probes=True, move_s=30, matches=1, open=files, long=True
    )
    small = BotLimits(memory_bytes=96 << 20)
    yield Case(
        6, "memory_exceeded_by_files", frozenset({BWRAP}), matches=1, move_s=60, limits=small, long=True
    )
    # 7: output
    yield Case(7, "played_floods", matches=3)
    yield Case(7, "played_floods_without_end")
    yield Case(7, "played_closes_its_pipes")
    yield Case(7, "timeout_never_reads", matches=1, move_s=2.5)
    # 8: poisoned text
    yield Case(8, "crashed_with_poisoned_words")
    # 9: network
    yield Case(9, "played_tries_the_network", BY_SANDBOX, probes=True, open=_IN_A_KERNEL_OF_ITS_OWN)
    # 10: hidden state
    yield Case(10, "played_looks_for_hidden_state", BY_SANDBOX, probes=True, knows_secrets=True, move_s=30)
    # 12: side channels
    partners = (BAD + " left", BAD + " right", HONEST)
    yield Case(12, "played_signals_to_its_partner", BY_SANDBOX, table=partners, probes=True)
    # 13, 14: who is who
    yield Case(13, "start_failed_wrong_token")
    yield Case(13, "start_failed_no_token")
    yield Case(13, "played_knocks_with_other_tokens", probes=True)
    yield Case(14, "played_opens_a_second_stream")
    # 15: floods of the protocol
    yield Case(15, "malformed_message_oversized", matches=1)
    yield Case(15, "disconnected_far_too_large", matches=1, long=True)
    yield Case(15, "disconnected_compression_bomb", matches=1, long=True)
    yield Case(15, "output_exceeded_replies_without_end", matches=1)
    yield Case(15, "output_exceeded_empty_frames", matches=1)
    yield Case(15, "output_exceeded_padded_frames", matches=1)
    yield Case(15, "played_opens_a_thousand_streams", probes=True, long=True)
    # Of headers without an end gRPC keeps some 50 MiB for each of the eight connections that it admits.
    yield Case(15, "played_floods_http2", move_s=30, long=True, growth_bytes=192 << 20)
    # 16: what is no message, and no answer
    yield Case(16, "malformed_message_bytes", words=("no FromBot message",))
    yield Case(16, "malformed_message_bad_text", matches=1)
    yield Case(16, "malformed_message_nested_deep", matches=1)
    yield Case(16, "malformed_message_lying_length", matches=1)
    yield Case(16, "malformed_message_hello_twice", matches=1)
    yield Case(16, "start_failed_replies_first", words=("carried no hello",))
    yield Case(16, "start_failed_other_protocol", words=("protocol 99",))
    yield Case(16, "start_failed_other_game")
    yield Case(16, "illegal_action_none")
    yield Case(16, "illegal_action_negative")
    yield Case(16, "illegal_action_out_of_range")
    yield Case(16, "illegal_action_huge")
    yield Case(16, "illegal_action_claims_in_another_game")
    yield Case(16, "illegal_action_claims_nonsense", game="kamozza")
    yield Case(16, "played_sends_unknown_fields")
    # 17: answers to what is not asked
    yield Case(17, "played_answers_twice")
    yield Case(17, "played_answers_ahead")
    # 18: says nothing
    yield Case(18, "start_failed_silent", start_s=2, words=("did not greet within 2 s",))
    yield Case(18, "start_failed_opens_and_says_nothing", start_s=2)
    yield Case(18, "start_failed_a_byte_a_second", start_s=2, long=True)
    yield Case(18, "timeout_half_a_frame", matches=1, move_s=2.5, long=True)
    # 19: hangs up
    yield Case(19, "disconnected_closes", matches=1)
    yield Case(19, "disconnected_resumes_as_another", matches=1, long=True)
    yield Case(19, "played_resumes", matches=1)
    # 20: ends
    yield Case(20, "start_failed_exits", words=("exit code 1", "no such module: brain"))
    yield Case(20, "start_failed_exits_with_0", words=("exit code 0",))
    yield Case(20, "crashed_exits", words=("exit code 7", "I have had enough"))
    yield Case(20, "crashed_exits_with_0", matches=1)
    yield Case(20, "crashed_killed", matches=1, words=("SIGSEGV",))
    yield Case(20, "crashed_raises", words=("IndexError", "crashed_raises.py"))
    yield Case(20, "crashed_raises_at_start")
    yield Case(20, "crashed_returns_nothing")
    yield Case(20, "played_crashes_after_the_last_match", matches=3)
    # 21: all fail
    yield Case(21, "crashed_while_all_decide", table=(BAD, BAD, BAD), game="kamozza", twice=True)
    # 22, 23: attacks on the machine
    yield Case(22, "played_attacks_processes", BY_SANDBOX, probes=True, open=_IN_A_KERNEL_OF_ITS_OWN)
    yield Case(22, "timeout_stops_all_that_it_sees", BY_SANDBOX, matches=1, move_s=2.5)
    yield Case(22, "crashed_kills_all_that_it_sees", BY_SANDBOX, matches=1)
    yield Case(23, "played_wants_out", BY_SANDBOX, probes=True, move_s=30, open=_IN_A_KERNEL_OF_ITS_OWN)
    # 30: stalling
    yield Case(30, "played_stalls", game="kotki", table=(BAD, BAD, HONEST), matches=1)


CASES = tuple(_cases())


@dataclass(frozen=True, slots=True)
class Proof:
    """A row that needs no bot: a test that proves it.

    Attributes:
        row: what kind of attack it is.
        what: in words.
        expected: what must come of it.
        test: the test, as pytest names it.
        sandbox: the level that it needs, if it needs one.
    """

    row: int
    what: str
    expected: str
    test: str
    sandbox: str = "–"


PROOFS = (
    Proof(26, "builds of strangers' bots", "own sandbox, limits", "tests/hostile/test_builds.py", DOCKER),
    Proof(8, "poisoned words on a terminal and in tables", "escaped", "tests/hostile/test_words.py"),
    Proof(
        10, "messages hold no seed and no token of others", "nothing there", "tests/hostile/test_secrets.py"
    ),
    Proof(
        11, "cards do not follow from what is published", "not predicted", "tests/hostile/test_prediction.py"
    ),
    Proof(
        21,
        "several faults in one decision",
        "one record",
        "tests/match/test_match.py::test_faults_in_one_decision_give_one_record_whichever_comes_first",
    ),
    Proof(
        29,
        "our rules raise",
        "ENGINE_FAULT",
        "tests/match/test_match.py::test_a_failure_of_our_own_rules_voids_the_match_and_blames_nobody",
    ),
    Proof(
        30,
        "rules without an end",
        "ENGINE_FAULT",
        "tests/match/test_match.py::test_rules_that_never_end_are_a_fault_of_ours",
    ),
    Proof(
        33,
        "the arena is too busy",
        "INFRA_FAULT",
        "tests/bots/test_tables.py::test_a_match_that_the_arena_is_always_too_busy_for_is_given_back",
    ),
    Proof(34, "the clock of the day jumps", "PLAYED", "tests/hostile/test_clock.py"),
)
