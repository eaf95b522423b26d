"""What is submitted is built and checked with real bots: good ones play, bad ones fail and are told why."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.engine import connect
from arena.bots.organiser import BuildLimits, Organiser
from arena.errors import ArenaError, NotFoundError, StateError, UsageError
from arena.games import GAMES
from arena.runs import trial
from arena.runs.custody import Custody
from arena.server import checking
from arena.server.catalog import Catalog, image_spec, remote_spec
from arena.server.checking import Checker
from arena.server.images import Images, image_upload
from arena.server.shelf import Shelf
from arena.store import roster as states
from arena.store.accounts import Accounts
from arena.store.roster import ARCHIVE, IMAGE, PENDING, REMOTE, NewVersion, Roster, RosterVersion
from arena.store.store import Store, sqlite_url
from tests.bots.parts import needs_bwrap
from tests.containers import python_image
from tests.server.submitted import code, packed

KOFFER = 'games = ["koffer"]'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(sqlite_url(tmp_path / "arena.db"))
    yield opened
    opened.close()


@pytest.fixture
def roster(store: Store) -> Roster:
    roster = Roster(store)
    roster.add_bot(Accounts(store).add_user("ada").id, "mybot")
    return roster


@pytest.fixture
def shelf(roster: Roster, tmp_path: Path) -> Shelf:
    return Shelf(roster, tmp_path / "data")


@pytest.fixture
def catalog(roster: Roster, shelf: Shelf) -> Catalog:
    return Catalog(roster, shelf, Custody("none"))


@pytest.fixture
async def checker(
    roster: Roster, catalog: Catalog, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Checker]:
    monkeypatch.setattr(trial, "DEALS", 1)
    checker = Checker(roster, catalog, shelf, tmp_path / "data")
    yield checker
    await checker.stop()


def submit(roster: Roster, files: dict[str, str]) -> RosterVersion:
    kept = packed(files)
    return roster.add_version("mybot", NewVersion(ARCHIVE, kept.digest, kept.data, len(kept.data)))[0]


async def outcome(checker: Checker, version: RosterVersion) -> tuple[list[str], list[str]]:
    """States and lines of a version up to the end of its way."""
    followed: list[str] = []
    lines: list[str] = []
    async for news in checker.watch(version.id):
        if isinstance(news, str):
            lines.append(news)
        else:
            followed.append(news.state)
    return followed, lines


def test_every_game_has_kinds_of_options_that_it_knows() -> None:
    assert set(trial.KINDS) == set(GAMES)
    for name, kinds in trial.KINDS.items():
        for options in kinds:
            GAMES[name].options(options)
        assert len(trial.OPPONENTS) >= GAMES[name].seats.start - 1


async def test_a_good_bot_plays_and_a_bad_one_fails(
    checker: Checker, roster: Roster, catalog: Catalog, tmp_path: Path
) -> None:
    good = submit(roster, code(toml='games = ["kotki"]\nversion = "1.2"'))
    bad = submit(roster, code("raise ValueError('my words')", toml=KOFFER))
    await checker.start()
    (seen, lines), (ended, told) = await asyncio.gather(outcome(checker, good), outcome(checker, bad))
    assert seen[-2:] == [states.CHECKING, states.ACTIVE]
    assert any("matches · kotki target=15: fine" in line for line in lines)
    assert roster.bot("mybot").active == 1
    assert "mean rank" in roster.logs(good.id)[1]

    assert ended[-1] == states.FAILED
    assert "my words" in "\n".join(told)
    failed = roster.version_by_id(bad.id)
    assert failed.reason.startswith("CRASHED in a match of koffer")
    assert "ValueError: my words" in roster.logs(bad.id)[1]
    assert list((tmp_path / "data").glob("checks/*")) == []

    entrant = catalog.entrant("mybot", "kotki")
    assert (entrant.name, entrant.owner, entrant.entry) == ("mybot@1", "ada", good.id)
    assert entrant.spec["name"] == "mybot@1"
    assert entrant.version.startswith("1.2+")
    assert Path(entrant.spec["folder"], "main.py").is_file()
    assert catalog.entrant("house:greedy", "kotki").owner is None
    shutil.rmtree(tmp_path / "data/bots")  # a database that was restored elsewhere
    gone = {**entrant.spec, "folder": "/gone", "reference": "/gone"}
    assert catalog.ready(replace(entrant, spec=gone)) == entrant
    assert Path(entrant.spec["folder"], "main.py").is_file()
    for reference, game, error in (
        ("mybot@2", "koffer", StateError),
        ("mybot@3", "koffer", NotFoundError),
        ("mybot", "koffer", UsageError),
        ("my bot", "koffer", UsageError),
        ("house:nobody", "koffer", NotFoundError),
    ):
        with pytest.raises(error):
            catalog.entrant(reference, game)
    remote = NewVersion(REMOTE, spec=remote_spec("far", "v1", ()).to_json())
    version, _ = roster.submit(good.owner_id, "far", remote)
    entrant = catalog.entrant("far", "kotki")
    assert (entrant.name, entrant.spec["name"], entrant.entry) == ("far@1", "far@1", version.id)
    roster.update_bot("mybot", disabled=True)
    with pytest.raises(StateError, match="disabled"):
        catalog.entrant("mybot", "kotki")


def test_whoever_submits_much_lets_others_have_their_turn(roster: Roster, store: Store) -> None:
    bob = Accounts(store).add_user("bob").id
    ada = roster.bot("mybot").owner_id
    for number in range(3):
        roster.submit(ada, "mybot", NewVersion(ARCHIVE, f"a{number}", b""))
    for number in range(2):
        roster.submit(bob, "bobs", NewVersion(ARCHIVE, f"b{number}", b""))
    turns = checking.in_turn(roster.in_state({states.UPLOADED}))
    assert [version.reference for version in turns] == ["mybot@1", "bobs@1", "mybot@2", "bobs@2", "mybot@3"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (code(toml='games = ["chess"]'), "there is no game 'chess'"),
        (code(toml='games = [["koffer"]]'), "games is no list of names"),
        (code(toml='image = "botarena/python:trixie"'), "it names an image"),
        (code(toml='build = "make"'), "nothing is built"),
        (code(toml=f'version = "{"x" * 100}"'), "version is too long"),
        (code(toml='description = "\\u001b[31m"'), "cannot be shown"),
        (code(toml="[limits]\nmemory = 5"), "memory in [limits] is 5"),
        (code(toml="x = " + "[" * 5000), "recursion"),
        (code() | {"bot.toml": 'name = "a"\ncommand = "python3 \'x"'}, "no closing quotation"),
        (code() | {"bot.toml": "no toml"}, "Expected"),
    ],
)
def test_what_cannot_be_built_fails_with_its_reason(
    roster: Roster, catalog: Catalog, files: dict[str, str], reason: str
) -> None:
    with pytest.raises(ValueError if "chess" in reason else UsageError) as refused:
        catalog.build(submit(roster, files))
    assert reason in str(refused.value)
    assert "/data/bots/" not in str(refused.value)


async def test_a_reason_of_a_build_is_kept(checker: Checker, roster: Roster) -> None:
    version = submit(roster, code(toml='build = "make"'))
    await checker.start()
    assert (await outcome(checker, version))[0][-1] == states.FAILED
    assert "nothing is built" in roster.version_by_id(version.id).reason
    assert "send it built" in roster.logs(version.id)[0]


async def test_a_bot_that_does_not_start_fails_and_its_last_words_are_kept(
    checker: Checker, roster: Roster
) -> None:
    version = submit(roster, code(main="import sys; sys.exit('no such thing')", toml=KOFFER))
    await checker.start()
    assert (await outcome(checker, version))[0][-1] == states.FAILED
    assert "START_FAILED" in roster.version_by_id(version.id).reason
    assert "no such thing" in roster.logs(version.id)[1]


async def test_what_the_machine_does_is_tried_again(
    checker: Checker, roster: Roster, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_AGAIN_S", 0.01)
    build, tries = catalog.build, iter([ArenaError("no engine", "it is away", "start it"), OSError(5), None])

    def fails(version: RosterVersion, *rest: object) -> object:
        if (error := next(tries)) is not None:
            raise error
        return replace(build(version), name=version.reference)

    async def passes(*_: object) -> trial.Trial:
        return trial.Trial(1, 1)

    monkeypatch.setattr(catalog, "build", fails)
    monkeypatch.setattr(checking, "play_trial", passes)
    version = submit(roster, code(toml=KOFFER))
    await checker.start()
    seen, lines = await outcome(checker, version)
    assert seen[-1] == states.ACTIVE
    assert states.FAILED not in seen
    assert sum("tried again" in line for line in lines) == 2


async def test_what_a_server_was_at_goes_on_with_the_next(
    roster: Roster, catalog: Catalog, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = asyncio.Event()

    async def hangs(*_: object) -> trial.Trial:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(checking, "play_trial", hangs)
    version = submit(roster, code(toml=KOFFER))
    first = Checker(roster, catalog, shelf, tmp_path / "data")
    await first.start()
    await began.wait()
    assert roster.version_by_id(version.id).state == states.CHECKING
    following = asyncio.create_task(outcome(first, version))
    await first.stop()
    assert (await following)[0][-1] in PENDING  # whoever follows is told, and asks the next server
    assert roster.version_by_id(version.id).state == states.UPLOADED

    async def passes(*_: object) -> trial.Trial:
        return trial.Trial(1, 1)

    monkeypatch.setattr(checking, "play_trial", passes)
    undone = tmp_path / "data/bots/.undone-x"
    undone.mkdir()
    second = Checker(roster, catalog, shelf, tmp_path / "data")
    await second.start()
    assert (await outcome(second, version))[0][-1] == states.ACTIVE
    assert not undone.exists()
    await second.stop()


async def test_a_version_that_is_barred_meanwhile_never_plays(
    checker: Checker, roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = submit(roster, code(toml=KOFFER))

    async def barred(*_: object) -> trial.Trial:
        roster.disable_version(version.id, "bad", organiser=True)
        return trial.Trial(1, 1)

    monkeypatch.setattr(checking, "play_trial", barred)
    await checker.start()
    assert (await outcome(checker, version))[0][-1] == states.BARRED
    assert roster.bot("mybot").active is None


class TestInBubblewrap:
    pytestmark = needs_bwrap

    async def test_code_is_checked_behind_a_wall(
        self, roster: Roster, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(trial, "DEALS", 1)
        monkeypatch.setattr(trial, "KINDS", {"koffer": ({},)})
        looks = f"return 0 if not Path({str(tmp_path / 'arena.db')!r}).exists() else 'seen'"
        files = code(looks, toml=KOFFER)
        version = submit(roster, files | {"main.py": "from pathlib import Path\n" + files["main.py"]})
        catalog = Catalog(roster, shelf, Custody("bwrap"))
        checker = Checker(roster, catalog, shelf, tmp_path / "data")
        await checker.start()
        assert (await outcome(checker, version))[0][-1] == states.ACTIVE
        await checker.stop()


@pytest.fixture
def in_containers(roster: Roster, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checker:
    build = BuildLimits(base={"python": python_image()})
    catalog = Catalog(roster, shelf, Custody("docker", Organiser(build=build)))
    monkeypatch.setattr(trial, "DEALS", 1)
    monkeypatch.setattr(trial, "KINDS", {"koffer": ({},)})
    return Checker(roster, catalog, shelf, tmp_path / "data")


@pytest.mark.docker
async def test_code_and_an_image_are_built_and_checked_in_containers(
    in_containers: Checker, roster: Roster
) -> None:
    written = code(toml=f'{KOFFER}\nbuild = "echo made > made.txt; echo built by {time.time_ns()}"')
    version = submit(roster, written)
    await in_containers.start()
    client = connect()
    images: set[str] = set()
    try:
        assert (await outcome(in_containers, version))[0][-1] == states.ACTIVE
        built = roster.version_by_id(version.id)
        images.add(built.spec["image"])
        assert "built by" in roster.logs(version.id)[0]

        upload = image_upload(1 << 30)
        for piece in client.get_image(built.spec["image"]):
            upload.feed(piece)
        image, size = Images().load(upload.finish())
        upload.close()
        images.add(image)
        spec = image_spec("other", image, ("koffer",)).to_json()
        other = NewVersion(IMAGE, image.removeprefix("sha256:"), size=size, spec=spec)
        second, _ = roster.submit(version.owner_id, "other", other)
        in_containers.wake()
        assert (await outcome(in_containers, second))[0][-1] == states.ACTIVE
        assert roster.version("other").spec["image"] == image
    finally:
        await in_containers.stop()
        for image in images:
            client.remove_image(image, force=True)
        client.close()


@pytest.mark.docker
async def test_a_build_that_fails_is_the_bots_fault_and_its_log_is_kept(
    in_containers: Checker, roster: Roster
) -> None:
    version = submit(roster, code(toml=f'{KOFFER}\nbuild = "echo my words; exit 3"'))
    await in_containers.start()
    assert (await outcome(in_containers, version))[0][-1] == states.FAILED
    await in_containers.stop()
    assert "exit code 3" in roster.version_by_id(version.id).reason
    assert "my words" in roster.logs(version.id)[0]
