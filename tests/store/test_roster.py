"""The roster: names, versions, archives, and states that change only as they may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from arena.errors import ArenaError, NotFoundError, StateError, TakenError, TooMuchError, UsageError
from arena.store import roster as states
from arena.store.accounts import Accounts
from arena.store.quotas import Quotas
from arena.store.roster import ARCHIVE, CHANGES, REMOTE, NewVersion, Roster, RosterVersion
from arena.store.schema import bot_version
from arena.store.store import Store


def add_user(store: Store, name: str) -> int:
    return Accounts(store).add_user(name).id


@pytest.fixture
def ada(store: Store) -> int:
    return add_user(store, "ada")


@pytest.fixture
def roster(store: Store) -> Roster:
    return Roster(store)


def archive(digest: str = "a", **more: object) -> NewVersion:
    return NewVersion(ARCHIVE, digest * 64, digest.encode(), 1, **more)  # type: ignore[arg-type]


def passed(roster: Roster, name: str, digest: str) -> RosterVersion:
    version, _ = roster.add_version(name, archive(digest))
    roster.set_state(version.id, states.UPLOADED, states.BUILDING)
    roster.set_state(version.id, states.BUILDING, states.CHECKING, spec={"games": ["koffer"]})
    return roster.finish(version.id, "fine")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", UsageError),
        ("-a", UsageError),
        ("a b", UsageError),
        ("a" * 41, UsageError),
        ("b\u043et", UsageError),  # not the letter o, but one that looks like it
        ("a/b", UsageError),
        ("a@2", UsageError),
        ("a\n", UsageError),
        ("...", UsageError),
        ("Admin", TakenError),
        ("arena", TakenError),
        ("gree-dy", TakenError),
        ("MYBOT", TakenError),
        ("my_b0t", TakenError),
    ],
)
def test_names_that_nobody_may_have(roster: Roster, ada: int, name: str, error: type[ArenaError]) -> None:
    roster.add_bot(ada, "mybot")
    with pytest.raises(error):
        roster.add_bot(ada, name, reserved=["greedy"])
    assert [bot.name for bot in roster.bots()] == ["mybot"]


def test_quotas(roster: Roster, ada: int) -> None:
    few = Quotas(bots=1, versions_per_day=2, stored_bytes=10)
    roster.add_bot(ada, "mybot", quotas=few)
    with pytest.raises(TooMuchError, match="may have 1"):
        roster.add_bot(ada, "other", quotas=few)
    roster.add_version("mybot", archive("a"), quotas=few)
    with pytest.raises(TooMuchError, match="10 bytes"):
        roster.add_version("mybot", NewVersion(ARCHIVE, "x" * 64, b"", 10), quotas=few)
    roster.add_version("mybot", archive("b"), quotas=few)
    with pytest.raises(TooMuchError, match="24 hours"):
        roster.add_version("mybot", archive("c"), quotas=few)
    with pytest.raises(TooMuchError, match="0 bots that dial in"):
        roster.submit(ada, "far", NewVersion(REMOTE), quotas=Quotas(remote_bots=0))


def test_a_submission_makes_its_bot_or_leaves_nothing(roster: Roster, ada: int) -> None:
    with pytest.raises(TooMuchError):
        roster.submit(ada, "mybot", archive(), quotas=Quotas(versions_per_day=0))
    assert roster.bots() == []
    assert roster.submit(ada, "mybot", archive())[0].reference == "mybot@1"
    assert roster.submit(ada, "mybot", archive("b"))[0].reference == "mybot@2"
    with pytest.raises(StateError, match="code is on the server"):
        roster.submit(ada, "mybot", NewVersion(REMOTE))


def test_the_same_archive_is_stored_once_and_submitted_once(
    roster: Roster, ada: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster.add_bot(ada, "mybot")
    roster.add_bot(ada, "other")
    first, is_new = roster.add_version("mybot", archive())
    assert (first.reference, first.state, is_new) == ("mybot@1", states.UPLOADED, True)
    assert roster.add_version("mybot", archive()) == (first, False)  # a resend after a break
    assert roster.add_version("other", archive())[1]
    assert roster.data("a" * 64) == b"a"
    roster.set_state(first.id, states.UPLOADED, states.BUILDING)
    roster.set_state(first.id, states.BUILDING, states.CHECKING)
    roster.finish(first.id, "")
    monkeypatch.setattr(states, "RESEND_US", 0)
    with pytest.raises(TakenError, match="mybot@1 has exactly this content"):
        roster.add_version("mybot", archive())
    with pytest.raises(NotFoundError):
        roster.data("b" * 64)


def test_what_failed_may_be_tried_again(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    first, _ = roster.add_version("mybot", archive())
    roster.set_state(first.id, states.UPLOADED, states.BUILDING)
    failed = roster.set_state(first.id, states.BUILDING, states.FAILED, reason="no bot.toml", build_log="log")
    assert (failed.reason, roster.logs(first.id)) == ("no bot.toml", ("log", ""))
    assert roster.add_version("mybot", archive())[0].number == 2


def test_a_newer_version_plays_and_an_older_one_is_had_back(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    one, two = passed(roster, "mybot", "a"), passed(roster, "mybot", "b")
    assert roster.version("mybot") == two
    assert roster.version("mybot", 1).state == states.SUPERSEDED
    roster.activate(one.id)
    assert (roster.version("mybot").number, roster.version("mybot", 2).state) == (1, states.SUPERSEDED)
    roster.disable_version(one.id)
    with pytest.raises(NotFoundError, match="no version that plays"):
        roster.version("mybot")
    assert roster.activate(one.id).state == states.ACTIVE
    assert [version.number for version in roster.versions("mybot")] == [2, 1]
    assert [version.number for version in roster.versions("mybot", before=2, most=5)] == [1]


def test_an_older_check_that_ends_later_replaces_nothing(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    slow, _ = roster.add_version("mybot", archive("a"))
    roster.set_state(slow.id, states.UPLOADED, states.BUILDING)
    roster.set_state(slow.id, states.BUILDING, states.CHECKING)
    quick = passed(roster, "mybot", "b")
    assert roster.finish(slow.id, "").state == states.SUPERSEDED
    assert roster.version("mybot").number == quick.number


def test_what_an_organiser_disabled_stays_so(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    one = passed(roster, "mybot", "a")
    roster.disable_version(one.id, "it floods", organiser=True)
    for change in (roster.activate, roster.enable_version, roster.disable_version):
        with pytest.raises(StateError, match="barred"):
            change(one.id)
    roster.enable_version(one.id, organiser=True)
    roster.update_bot("mybot", disabled=True, organiser=True)
    with pytest.raises(StateError, match="organiser"):
        roster.update_bot("mybot", disabled=False)
    assert roster.update_bot("mybot", disabled=False, organiser=True).disabled_us is None


def test_lists_are_filtered_and_paged(store: Store, roster: Roster, ada: int) -> None:
    bob = add_user(store, "bob")
    for owner, name in ((ada, "a1"), (bob, "b2"), (ada, "a3"), (ada, "a4")):
        roster.add_bot(owner, name)
    passed(roster, "a1", "a")
    roster.add_version("b2", NewVersion(REMOTE, spec={"games": []}))
    roster.update_bot("a4", disabled=True)

    def names(**filters: object) -> list[str]:
        return [bot.name for bot in roster.bots(**filters)]  # type: ignore[arg-type]

    assert names(owner="ada") == ["a1", "a3", "a4"]
    assert names(game="koffer") == ["a1", "b2"]
    assert names(game="kotki") == ["b2"]
    assert [names(state=state) for state in ("active", "waiting", "disabled", "x")] == [
        ["a1", "b2"],
        ["a3"],
        ["a4"],
        [],
    ]
    first = roster.bots(most=2)
    assert [bot.name for bot in roster.bots(after=first[-1].id, most=2)] == ["a3", "a4"]
    assert roster.counts() == {states.ACTIVE: 2}


def test_many_at_once_get_numbers_of_their_own_and_one_makes_each_change(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: roster.add_version("mybot", archive(str(i)))[0], range(8)))

        def begin(_: int) -> bool:
            with suppress(StateError):
                roster.set_state(made[0].id, states.UPLOADED, states.BUILDING)
                return True
            return False

        assert sum(pool.map(begin, range(8))) == 1
    assert sorted(version.number for version in made) == list(range(1, 9))


def test_what_a_killed_server_was_at_begins_again(roster: Roster, ada: int) -> None:
    roster.add_bot(ada, "mybot")
    one, two = (roster.add_version("mybot", archive(digest))[0] for digest in "ab")
    roster.set_state(one.id, states.UPLOADED, states.BUILDING)
    roster.set_state(two.id, states.UPLOADED, states.BUILDING)
    roster.set_state(two.id, states.BUILDING, states.CHECKING)
    assert roster.hand_back() == 2
    assert [version.id for version in roster.in_state({states.UPLOADED})] == [one.id, two.id]
    assert roster.hand_back() == 0


class Lives(RuleBasedStateMachine):
    """Any calls in any order: no version changes but as the table says, and one at most plays."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store("sqlite://")
        self.roster = Roster(self.store)
        self.roster.add_bot(add_user(self.store, "ada"), "mybot")
        self.before: dict[int, str] = {}
        self.made = 0

    @rule(activate=st.booleans())
    def submit(self, activate: bool) -> None:
        self.made += 1
        self.roster.add_version("mybot", NewVersion(ARCHIVE, str(self.made), b"", activate=activate))

    @rule(
        which=st.integers(1, 6),
        call=st.sampled_from(["activate", "disable_version", "enable_version", "finish", "bar", "pardon"]),
    )
    def change(self, which: int, call: str) -> None:
        calls = {
            "finish": lambda: self.roster.finish(which, ""),
            "bar": lambda: self.roster.disable_version(which, organiser=True),
            "pardon": lambda: self.roster.enable_version(which, organiser=True),
        }
        with suppress(StateError, NotFoundError):
            calls[call]() if call in calls else getattr(self.roster, call)(which)

    @rule(
        which=st.integers(1, 6),
        before=st.sampled_from(sorted(CHANGES)),
        after=st.sampled_from(sorted(CHANGES)),
    )
    def set_state(self, which: int, before: str, after: str) -> None:
        if after != states.ACTIVE:
            with suppress(StateError, NotFoundError):
                self.roster.set_state(which, before, after)

    @rule()
    def restart(self) -> None:
        self.roster.hand_back()

    @invariant()
    def changes_are_allowed_and_one_plays(self) -> None:
        versions = self.roster.versions("mybot")
        playing = [version.number for version in versions if version.state == states.ACTIVE]
        assert playing == [number for number in [self.roster.bot("mybot").active] if number is not None]
        for version in versions:
            before = self.before.get(version.id, states.UPLOADED)
            # One call may have the version that played step back: that is one change of each.
            assert version.state == before or version.state in CHANGES[before]
            self.before[version.id] = version.state

    def teardown(self) -> None:
        self.store.close()


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)


def test_every_state_is_in_the_table() -> None:
    assert {state for after in CHANGES.values() for state in after} <= set(CHANGES)
    assert bot_version.c.state.type.length >= max(map(len, CHANGES))  # type: ignore[attr-defined]
