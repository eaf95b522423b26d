"""`--sandbox` and `--limits`: what is stored, what is told, and that nothing goes on with less."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots import images
from arena.bots.limits import BotLimits
from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotSpec
from arena.bots.sandbox import LEVELS, strictest
from arena.cli.output import OUT
from arena.errors import NotFoundError, UsageError
from arena.runs import custody as custody_module
from arena.runs import images as run_images
from arena.runs.custody import Custody, confine, confine_again, custody
from arena.runs.definition import Definition, bots_of, read_definition
from arena.runs.names import database_file
from arena.store.store import Store, sqlite_url
from arena.store.stored import StoredTournament
from tests.bots.parts import needs_bwrap
from tests.e2e.arena import Arena

HOUSE = ["house:random", "house:first"]


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[str]:
    """Levels that were asked for, of a machine that has them all."""
    levels: list[str] = []
    if "arena" not in request.fixturenames:

        def check(level: str) -> str:
            levels.append(level)
            return "half of it is missing" if level == "gvisor" else ""

        monkeypatch.setattr(custody_module, "check_available", check)
        monkeypatch.setattr(run_images, "make_image", _with_image)
    return levels


def _with_image(
    bot: BotSpec, build: BuildLimits, *, fresh: bool, tell: Callable[[str], None]
) -> images.Image:
    tell(f"building {bot.name}")
    return images.Image(replace(bot, image="sha256:77"), 1)


@pytest.fixture
def limits(tmp_path: Path) -> Path:
    path = tmp_path / "limits.toml"
    path.write_text('sandbox = "bwrap"\n[most]\nmemory = "100MiB"\ncpus = 1')
    return path


@pytest.fixture
def wishful(tmp_path: Path) -> str:
    """A bot that asks for more than anybody gets."""
    folder = tmp_path / "wishful"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "wishful"\ncommand = ["true"]\n[limits]\nmemory = "8GiB"\nstart = "50s"\npids = 9'
    )
    return str(folder)


def built(held: Custody, *bots: str) -> StoredTournament:
    return Definition("koffer", bots or HOUSE, deals=1, custody=held).build(OUT.say)


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_stored_with_each_bot(checked: list[str], level: str) -> None:
    cup = built(custody(level, None))
    assert [bot.sandbox for bot in bots_of(cup)] == [level, level]
    assert checked == [level]


def test_who_says_nothing_has_none(limits: Path) -> None:
    assert strictest(bots_of(built(custody(None, None)))) == "none"
    assert strictest(bots_of(built(custody(None, limits)))) == "bwrap"
    assert strictest(bots_of(built(custody("docker", limits)))) == "docker"


def test_a_level_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="use none, bwrap, docker, gvisor"):
        custody("chroot", None)


def test_a_file_that_does_not_exist() -> None:
    with pytest.raises(NotFoundError):
        custody(None, Path("no such file"))


def test_a_tournament_file_names_a_level_and_the_line_goes_before_it(tmp_path: Path, limits: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(f'game = "koffer"\nbots = {HOUSE}\nsandbox = "docker"')
    written = read_definition(path).custody
    assert written == Custody("docker", None)
    assert custody("gvisor", limits).over(written).level == "gvisor"
    assert custody(None, limits).over(written).level == "docker"


def test_who_asks_for_more_than_there_is_gets_what_there_is_and_is_told(
    wishful: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = built(Custody(), wishful, "house:random")
    assert bots_of(cup)[0].limits == BotLimits(memory_bytes=1 << 30, start_us=20_000_000, pids=9)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("wishful gets no more")
    assert "memory 1GiB (it asked for memory 8GiB)" in line
    assert "start 20s (it asked for start 50s)" in line


def test_who_asks_for_nothing_is_capped_and_not_told(
    limits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = built(custody(None, limits))
    assert {bot.limits.memory_bytes for bot in bots_of(cup)} == {100 << 20}
    assert capsys.readouterr().err == ""


def test_bots_get_their_images_before_they_are_stored(capsys: pytest.CaptureFixture[str]) -> None:
    free = built(Custody())
    held = built(custody("docker", None))
    again = confine_again(free, custody("gvisor", None))
    images_of = [[bot.image for bot in bots_of(cup)] for cup in (free, held, again)]
    assert images_of == [["", ""], ["sha256:77"] * 2, ["sha256:77"] * 2]
    assert "building random" in capsys.readouterr().err


def test_an_image_runs_in_containers_alone() -> None:
    image = BotSpec("docker:x", "x", "", (), "", image="sha256:77")
    for level in ("none", "bwrap"):
        with pytest.raises(UsageError, match="--sandbox docker"):
            confine([image], custody(level, None))
    assert confine([image], custody("docker", None))[0].sandbox == "docker"


def test_what_of_a_level_is_missing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    built(custody("gvisor", None))
    assert "half of it is missing" in capsys.readouterr().err


@pytest.mark.parametrize("stored", LEVELS)
@pytest.mark.parametrize("asked", [None, *LEVELS])
def test_what_goes_on_is_held_no_worse(stored: str, asked: str | None) -> None:
    cup = built(custody(stored, None))
    if asked is not None and LEVELS.index(asked) < LEVELS.index(stored):
        with pytest.raises(UsageError, match=stored):
            confine_again(cup, custody(asked, None))
    else:
        assert strictest(bots_of(confine_again(cup, custody(asked, None)))) == (asked or stored)


def test_a_file_of_the_organiser_never_lowers_what_is_stored(limits: Path) -> None:
    again = bots_of(confine_again(built(custody("docker", None)), custody(None, limits)))
    assert {(bot.sandbox, bot.limits.memory_bytes) for bot in again} == {("docker", 100 << 20)}
    assert strictest(bots_of(confine_again(built(Custody()), custody(None, limits)))) == "bwrap"


@pytest.mark.parametrize(
    ("db", "file"),
    [
        ("arena.db", "arena.db"),
        ("/a/b.db", "/a/b.db"),
        ("sqlite:///x/y.db", "x/y.db"),
        ("sqlite:////x/y.db?timeout=3", "/x/y.db"),
        ("sqlite+pysqlite:///y.db", "y.db"),
        ("sqlite://", None),
        ("sqlite:///:memory:", None),
        ("postgresql://me@there/arena", None),
    ],
)
def test_where_the_database_is(db: str, file: str | None) -> None:
    assert database_file(db) == (None if file is None else Path(file))


class TestCommands:
    pytestmark = needs_bwrap

    @pytest.fixture
    def arena(self, tmp_path: Path) -> Arena:
        return Arena(tmp_path)

    def test_a_tournament_is_held_and_repeats_and_goes_on_so(self, arena: Arena) -> None:
        line = ("tournament", "run", "koffer", *HOUSE, "--deals", "1", "--name", "cup", "--seed", "7")
        done = arena.run(*line, "--sandbox", "bwrap")
        assert "sandbox bwrap · name cup" in done.stderr
        assert "--sandbox bwrap" in done.stderr.splitlines()[-1]
        with closing(Store(sqlite_url(arena.folder / "arena.db"))) as store:
            assert strictest(bots_of(store.tournament("cup"))) == "bwrap"
        held = arena.records("cup")
        told = arena.run("tournament", "resume", "cup", "--sandbox", "none", code=2).stderr
        assert "it began with bwrap" in told
        arena.run(*(word if word != "cup" else "free" for word in line))
        assert list(arena.records("free").values()) == list(held.values())
        assert arena.processes() == {}

    def test_a_bot_that_would_see_the_database_does_not_play(self, arena: Arena) -> None:
        (arena.folder / "bot.toml").write_text('name = "nosy"\ncommand = ["true"]')
        for line in (("play", "koffer"), ("tournament", "run", "koffer")):
            told = arena.run(*line, ".", "house:random", "--sandbox", "bwrap", code=2).stderr
            assert "nosy would see the database" in told
        assert arena.lines("tournament", "list") == []
        assert arena.processes() == {}
