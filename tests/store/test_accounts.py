"""Users and tokens: which are good, and what is kept of them."""

from __future__ import annotations

import hashlib
import itertools
import shutil
import string
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import NotFoundError, StateError, TakenError, UnknownCallerError, UsageError
from arena.rights import ADMIN, BOT_PLAY, BOT_SUBMIT, SCOPES, Caller
from arena.store.accounts import FIRST_ADMIN, Accounts
from arena.store.quotas import Quotas
from arena.store.schema import token
from arena.store.store import Store, sqlite_url
from arena.text import checked_name, folded

DAY_US = 86_400_000_000


class Clock:
    """A time that goes on when told."""

    def __init__(self) -> None:
        self.us = 1_000 * DAY_US

    def __call__(self) -> int:
        return self.us


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(empty_database: Path, tmp_path: Path) -> Iterator[Store]:
    """An empty database in a file: what differs on a server is in one test of its own."""
    with closing(Store(sqlite_url(Path(shutil.copy(empty_database, tmp_path / "arena.db"))))) as opened:
        yield opened


@pytest.fixture
def accounts(store: Store, clock: Clock) -> Accounts:
    return Accounts(store, now_us=clock)


def test_every_kind_of_database_keeps_users_and_tokens(url: str, clock: Clock) -> None:
    with closing(Store(url)) as store:
        accounts = Accounts(store, now_us=clock)
        admin = accounts.ensure_admin()
        assert admin is not None
        assert accounts.ensure_admin() is None
        user = accounts.add_user("Ann")
        with pytest.raises(TakenError):
            accounts.add_user("a-nn")
        secret, made = accounts.create_token(user.id, "laptop", [BOT_PLAY], clock.us + DAY_US)
        assert accounts.check(secret) == Caller(user.id, "Ann", frozenset({BOT_PLAY}), made.id)
        assert accounts.token(made.id).used_us == clock.us
        accounts.set_quotas(user.id, {"bots": 2})
        accounts.disable(user.id)
        disabled_us, clock.us = clock.us, clock.us + 1
        accounts.disable(user.id)
        found = accounts.user("Ann")
        assert (found.disabled_us, found.quotas) == (disabled_us, Quotas(bots=2))
        accounts.enable(user.id)
        accounts.revoke(made.id)
        with pytest.raises(UnknownCallerError, match="revoked"):
            accounts.check(secret)
        assert [user.name for user in accounts.users()] == [FIRST_ADMIN, "Ann"]
        assert [token.user for token in accounts.tokens()] == [FIRST_ADMIN, "Ann"]
        assert [token.id for token in accounts.tokens(user.id)] == [made.id]


def test_a_token_is_its_users_and_allows_what_it_was_made_for(accounts: Accounts) -> None:
    user = accounts.add_user("ann")
    secret, made = accounts.create_token(user.id, "laptop", [BOT_SUBMIT, BOT_PLAY])
    assert accounts.check(secret) == Caller(user.id, "ann", frozenset({BOT_PLAY, BOT_SUBMIT}), made.id)
    assert (made.user, made.label, made.used_us) == ("ann", "laptop", None)


def test_the_database_holds_no_token(accounts: Accounts, store: Store) -> None:
    secret, _ = accounts.create_token(accounts.add_user("ann").id, "laptop", [ADMIN])
    with store.reading() as connection:
        held = [value for row in connection.execute(sa.select(token)) for value in row]
    assert "laptop" in held
    assert hashlib.sha256(secret.encode()).digest() in held
    assert not any(secret.removeprefix("arena_") in str(value) for value in held)


def revoke(accounts: Accounts, clock: Clock, number: int) -> None:
    accounts.revoke(number)


def disable(accounts: Accounts, clock: Clock, number: int) -> None:
    accounts.disable(accounts.user("ann").id)


def expire(accounts: Accounts, clock: Clock, number: int) -> None:
    clock.us += DAY_US


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(revoke, "revoked"), (disable, "disabled"), (expire, "expired")],
    ids=["revoked", "disabled", "expired"],
)
def test_a_token_is_good_until_something_happens_to_it(
    accounts: Accounts, clock: Clock, spoil: Callable[[Accounts, Clock, int], None], why: str
) -> None:
    user = accounts.add_user("ann")
    secret, made = accounts.create_token(user.id, "", [BOT_PLAY], clock.us + DAY_US)
    clock.us += DAY_US - 1
    assert accounts.check(secret).name == "ann"
    clock.us -= DAY_US - 1
    spoil(accounts, clock, made.id)
    with pytest.raises(UnknownCallerError, match=why):
        accounts.check(secret)


def test_a_user_that_is_enabled_again_has_its_tokens_back(accounts: Accounts) -> None:
    user = accounts.add_user("ann")
    secret, _ = accounts.create_token(user.id, "", [BOT_PLAY])
    accounts.disable(user.id)
    accounts.enable(user.id)
    assert accounts.check(secret).user == user.id


@pytest.mark.parametrize(
    "wrong",
    ["", "arena_", "x" * 49, "arena_" + "a" * 43, "arena_" + "é" * 43, "arena_" + "a" * 44, "a" * 10**5],
)
def test_a_wrong_token_is_nobodys(accounts: Accounts, wrong: str) -> None:
    accounts.create_token(accounts.add_user("ann").id, "", [BOT_PLAY])
    with pytest.raises(UnknownCallerError):
        accounts.check(wrong)


def test_the_use_of_a_token_is_noted_once_a_minute(accounts: Accounts, clock: Clock) -> None:
    secret, made = accounts.create_token(accounts.add_user("ann").id, "", [BOT_PLAY])
    noted = []
    for _ in range(5):
        accounts.check(secret)
        noted.append(accounts.token(made.id).used_us)
        clock.us += 30_000_000
    minute = 60_000_000
    began = noted[0]
    assert noted == [began, began, began + minute, began + minute, began + 2 * minute]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("label", "scopes", "expires_us"),
    [
        ("", [], None),
        ("", ["root"], None),
        ("", [BOT_PLAY, "root"], None),
        ("x" * 81, [BOT_PLAY], None),
        ("a\x1b[2Jb", [BOT_PLAY], None),
        ("", [BOT_PLAY], 0),
        ("", [BOT_PLAY], 1 << 63),
    ],
)
def test_tokens_that_cannot_be(
    accounts: Accounts, label: str, scopes: list[str], expires_us: int | None
) -> None:
    user = accounts.add_user("ann")
    with pytest.raises(UsageError):
        accounts.create_token(user.id, label, scopes, expires_us)
    assert accounts.tokens() == []


def test_only_tokens_that_can_be_used_count(store: Store, clock: Clock) -> None:
    accounts = Accounts(store, Quotas(tokens=2), clock)
    user = accounts.add_user("ann").id
    _, first = accounts.create_token(user, "", [BOT_PLAY])
    accounts.create_token(user, "", [BOT_PLAY], clock.us + DAY_US)
    with pytest.raises(StateError, match="may have 2"):
        accounts.create_token(user, "", [BOT_PLAY])
    accounts.revoke(first.id)
    accounts.create_token(user, "", [BOT_PLAY])
    clock.us += DAY_US
    accounts.create_token(user, "", [BOT_PLAY])
    with pytest.raises(StateError, match="may have 2"):
        accounts.create_token(user, "", [BOT_PLAY])


def test_a_disabled_user_gets_no_token(accounts: Accounts) -> None:
    user = accounts.add_user("ann").id
    accounts.disable(user)
    with pytest.raises(StateError, match="disabled"):
        accounts.create_token(user, "", [BOT_PLAY])


def test_what_is_not_there(accounts: Accounts) -> None:
    tried: list[Callable[[], object]] = [
        lambda: accounts.user("nobody"),
        lambda: accounts.user_by_id(7),
        lambda: accounts.disable(7),
        lambda: accounts.set_quotas(7, {"bots": 1}),
        lambda: accounts.create_token(7, "", [BOT_PLAY]),
        lambda: accounts.token(7),
        lambda: accounts.revoke(7),
    ]
    for attempt in tried:
        with pytest.raises(NotFoundError):
            attempt()


def test_the_first_admin_is_made_once(accounts: Accounts) -> None:
    secret = accounts.ensure_admin()
    assert secret is not None
    found = accounts.check(secret)
    assert (found.name, found.is_admin) == (FIRST_ADMIN, True)
    assert accounts.ensure_admin() is None
    accounts.revoke(found.token)
    assert accounts.ensure_admin() is None, "a revoked token must not come back as another one"


def test_a_first_admin_that_was_added_without_a_token_gets_it(accounts: Accounts) -> None:
    user = accounts.add_user(FIRST_ADMIN)
    secret = accounts.ensure_admin()
    assert secret is not None
    assert accounts.check(secret).user == user.id


def test_quotas_of_its_own_replace_those_of_all(store: Store) -> None:
    accounts = Accounts(store, Quotas(bots=3, tokens=9))
    user = accounts.add_user("ann").id
    accounts.set_quotas(user, {"bots": 7})
    accounts.set_quotas(user, {"matches": 0})
    assert accounts.user("ann").quotas == Quotas(bots=7, tokens=9, matches=0)
    for wrong in ({"beds": 1}, {"bots": -1}, {"bots": 1 << 63}):
        with pytest.raises(UsageError):
            accounts.set_quotas(user, wrong)
    assert accounts.user("ann").quotas == Quotas(bots=7, tokens=9, matches=0)


def test_a_quota_of_another_release_is_passed_over(store: Store) -> None:
    accounts = Accounts(store)
    user = accounts.add_user("ann").id
    with store.writing() as connection:
        connection.execute(sa.text("""update "user" set quotas = '{"beds": 1, "bots": 2}'"""))
    assert accounts.user_by_id(user).quotas == Quotas(bots=2)


def test_lists_go_on_where_they_were_left(accounts: Accounts) -> None:
    users = [accounts.add_user(f"user-{letter}") for letter in "abc"]
    tokens = [accounts.create_token(user.id, "", [scope])[1] for user in users for scope in SCOPES]
    assert accounts.users() == users
    assert accounts.users(after=users[0].id, most=1) == users[1:2]
    assert accounts.tokens() == tokens
    assert accounts.tokens(users[1].id) == tokens[4:8]
    assert accounts.tokens(users[1].id, after=tokens[5].id, most=1) == tokens[6:7]


# names

ALIKE = ["bill", "BILL", "b1ll", "Bi-l_L", "b.i.l.1", "biII", "ｂｉｌｌ", "bíll"]  # noqa: RUF001 - that is the point


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise(ALIKE)))
def test_names_that_look_alike_fold_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("taken", "wanted"), [("bill", "B1ll"), ("zero", "Zer0"), ("a-b", "a_b")])
def test_a_name_that_looks_like_a_taken_one_is_taken(accounts: Accounts, taken: str, wanted: str) -> None:
    accounts.add_user(taken)
    with pytest.raises(TakenError):
        accounts.add_user(wanted)
    assert [user.name for user in accounts.users()] == [taken]


@pytest.mark.parametrize(
    "name",
    ["", "-", ".x", "x.", "a b", "a/b", "ä", "а", "a\n", "a\x00", "x" * 41, "../x", "a@3"],  # noqa: RUF001
)
def test_names_that_nobody_may_have(name: str) -> None:
    with pytest.raises(UsageError):
        checked_name(name, "a user")


LETTERS = string.ascii_letters + string.digits


@given(
    st.text(LETTERS + "._-", min_size=1, max_size=40).filter(lambda name: {name[0], name[-1]} <= set(LETTERS))
)
def test_a_name_folds_into_what_the_table_has_room_for(name: str) -> None:
    assert checked_name(name, "a user") == name
    alike = folded(name)
    assert 0 < len(alike) <= 40
    assert set(alike) <= set(string.ascii_lowercase + string.digits)


@given(st.text())
def test_folding_twice_changes_nothing_more(name: str) -> None:
    assert folded(folded(name)) == folded(name)
