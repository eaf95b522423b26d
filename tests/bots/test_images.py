"""Images of bots: hostile builds are stopped and told why, and nothing of them is left."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena.bots.building import BuildFailedError, BuildLog, remove_orphans
from arena.bots.engine import connect
from arena.bots.images import make_image
from arena.bots.languages import recipe_for
from arena.bots.organiser import BuildLimits
from arena.bots.reference import BotReferenceError, BotSpec, current_version, resolve
from arena.errors import ArenaError, NotFoundError
from tests.containers import python_image
from tests.e2e.arena import Arena

if TYPE_CHECKING:
    from docker import APIClient

TIGHT = BuildLimits(memory_bytes=96 << 20, seconds=20, log_bytes=4 << 10, size_bytes=8 << 20)


def write_bot(folder: Path, build: str = "", **more: Any) -> BotSpec:
    """A bot in Python with a build command, and code that no other test's bot has."""
    folder.mkdir(exist_ok=True)
    values = {
        "name": f"mine-{secrets.token_hex(6)}",
        "language": "python",
        "command": ["python3", "main.py"],
        **more,
    }
    if build:
        values["build"] = build
    (folder / "bot.toml").write_text(
        "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    )
    (folder / "main.py").write_text(f"print({str(folder)!r})\n")
    return resolve(str(folder))


class Trial:
    """An engine, and what is there before and after a test."""

    def __init__(self, client: APIClient, base: str) -> None:
        self.client = client
        self.build = replace(TIGHT, base={"python": base})
        self.made: set[str] = set()

    def left(self, bot: BotSpec) -> list[Any]:
        """Containers and images of a bot: others may be at work in the same engine."""
        of_it = {"label": f"org.botarena.name={bot.name}"}
        containers = self.client.containers(all=True, quiet=True, filters=of_it)
        return [*containers, *self.client.images(quiet=True, all=True, filters=of_it)]

    def make(self, bot: BotSpec, **more: Any) -> BotSpec:
        """The bot with its image."""
        made = make_image(bot, replace(self.build, **more)).bot
        self.made.add(made.image)
        return made

    def fails(self, bot: BotSpec, **more: Any) -> BuildFailedError:
        """How its build failed; nothing of it is left."""
        with pytest.raises(BuildFailedError) as caught:
            make_image(bot, replace(self.build, **more))
        assert self.left(bot) == []
        return caught.value

    def output(self, image: str, *command: str) -> str:
        """What a program in an image writes."""
        walls = self.client.create_host_config(network_mode="none")
        made = self.client.create_container(image, list(command) or None, host_config=walls)["Id"]
        try:
            self.client.start(made)
            self.client.wait(made)
            return str(self.client.logs(made).decode())
        finally:
            self.client.remove_container(made, force=True, v=True)


@pytest.fixture
def trial() -> Iterator[Trial]:
    base = python_image()
    client = connect()
    trial = Trial(client, base)
    yield trial
    for image in trial.made:
        client.remove_image(image, force=True)
    client.close()


@pytest.mark.docker
def test_a_folder_becomes_an_image_once_for_each_state_of_its_code(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_text("not code")
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    bot = trial.make(write_bot(tmp_path))
    assert bot.image.startswith("sha256:")
    assert trial.output(bot.image) == f"{tmp_path}\n"
    assert trial.output(bot.image, "ls", "/bot").split() == ["bot.toml", "main.py"]
    assert trial.output(bot.image, "id", "-u") == "65534\n"
    assert trial.left(bot) == [bot.image]
    labels = trial.client.inspect_image(bot.image)["Config"]["Labels"]
    assert labels["org.botarena.version"] == bot.version

    assert make_image(resolve(str(tmp_path)), trial.build).bot == bot
    assert make_image(bot, trial.build).bot == bot
    assert make_image(bot, trial.build).seconds == 0
    (tmp_path / "main.py").write_text("print('other')")
    assert trial.make(resolve(str(tmp_path))).image != bot.image
    trial.client.remove_image(bot.image, force=True)
    trial.made.remove(bot.image)
    with pytest.raises(NotFoundError):
        current_version(resolve(f"docker:{bot.image}"))


@pytest.mark.docker
def test_a_build_adds_to_the_folder_and_is_done_anew_when_asked(trial: Trial, tmp_path: Path) -> None:
    bot = write_bot(tmp_path, "mkdir target && id -u >target/who && echo done && date +%N >target/when")
    first = make_image(bot, trial.build)
    trial.made.add(first.bot.image)
    assert first.log == "done\n"
    assert trial.output(first.bot.image, "cat", "/bot/target/who") == "65534\n"
    again = make_image(first.bot, trial.build, fresh=True)
    trial.made.add(again.bot.image)
    assert again.seconds > 0
    assert again.bot.image != first.bot.image


@pytest.mark.docker
def test_one_file_and_an_image_of_somebodys_own(trial: Trial, tmp_path: Path) -> None:
    path = tmp_path / "clever bot.py"
    path.write_text("print('clever')\n")
    (tmp_path / "secret").write_text("")
    bot = trial.make(resolve(str(path)))
    assert bot.command == ("python3", "clever bot.py")
    assert trial.output(bot.image, "ls", "/bot") == "clever bot.py\n"

    own = resolve(f"docker:{bot.image}")
    assert (own.image, own.command) == (bot.image, ())
    assert make_image(own, trial.build).bot == own
    assert current_version(own) == own.version
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "own"\nimage = "{bot.image}"\n')
    assert resolve(str(folder)).image == bot.image


HOSTILE = {
    "fails": ("echo broken >&2; exit 3", {}, "exit code 3", "broken"),
    "endless": ("while true; do sleep 1; done", {"seconds": 2.0}, "longer than 2 s", ""),
    "endless in the background": ("sleep 1000 & setsid sleep 1000 & wait", {"seconds": 2.0}, "longer", ""),
    "too much memory": ("python3 -c 'bytearray(1 << 30)'", {}, "more than 96MiB of memory", ""),
    "memory of files": ("head -c 1G /dev/zero >/tmp/x; head -c 1G /dev/zero >x", {}, "exit code", "No space"),
    "too large": ("head -c 7M /dev/zero >x && cp x y", {}, "exit code 1", "No space"),
    "too many files": ("seq 300000 | xargs touch", {}, "more than 96MiB of memory", ""),
    "writes into the archive": (
        "echo rubbish >/proc/1/fd/1; yes | head -c 4M >/proc/1/fd/1",
        {},
        "archive",
        "",
    ),
    "fetches": (
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 80))'",
        {},
        "exit code 1",
        "not supported",
    ),
    "poisons what others use": ("touch /usr/x /var/x /opt/x", {}, "exit code 1", "Read-only file system"),
    "no program": ("exec /no/such/program", {}, "cannot be started", ""),
}


@pytest.mark.docker
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_builds_are_stopped_and_leave_nothing(trial: Trial, tmp_path: Path, name: str) -> None:
    command, limits, why, said = HOSTILE[name]
    failed = trial.fails(write_bot(tmp_path, command), **limits)
    assert why in failed.why
    assert said in failed.log


@pytest.mark.docker
def test_a_build_is_told_nothing_and_meets_nobody(trial: Trial, tmp_path: Path) -> None:
    command = "env; cat /proc/self/status; ls /proc/net /run /tmp; ls -d /proc/[0-9]*; exit 1"
    log = trial.fails(write_bot(tmp_path, command)).log
    assert "CapEff:\t0000000000000000" in log
    assert "NoNewPrivs:\t1" in log
    assert {line.partition("=")[0] for line in log.splitlines() if line[:1].isupper() and "=" in line} <= {
        "HOME",
        "HOSTNAME",
        "LANG",
        "OLDPWD",
        "PATH",
        "PWD",
        "TMPDIR",
    }


@pytest.mark.docker
def test_a_flood_of_output_is_kept_in_part(trial: Trial, tmp_path: Path) -> None:
    command = "echo first; yes | head -c 20M; echo last; exit 1"
    log = trial.fails(write_bot(tmp_path, command)).log
    assert log.startswith("first\n")
    assert log.endswith("last\n")
    assert len(log) < TIGHT.log_bytes + 100


@pytest.mark.docker
def test_builds_that_were_killed_are_swept_up_when_nobody_can_need_them(trial: Trial) -> None:
    host = trial.client.create_host_config(network_mode="none")
    names = {seconds: f"botarena-build-{seconds}-test" for seconds in (1, 1 << 40)}
    for name in names.values():
        trial.client.create_container(trial.build.base["python"], ["true"], name=name, host_config=host)
    try:
        remove_orphans(trial.client)
        found = trial.client.containers(all=True, filters={"name": "-test"})
        assert [each["Names"] for each in found] == [[f"/{names[1 << 40]}"]]
    finally:
        trial.client.remove_container(names[1 << 40], force=True)


@pytest.mark.docker
def test_an_image_that_is_not_there_or_has_no_bound_is_refused(trial: Trial, tmp_path: Path) -> None:
    bot = write_bot(tmp_path)
    with pytest.raises(NotFoundError, match="nobody/nothing"):
        trial.make(bot, base={"python": "nobody/nothing"})
    with pytest.raises(NotFoundError, match="nobody/nothing"):
        resolve("docker:nobody/nothing")
    host = trial.client.create_host_config(network_mode="none")
    made = trial.client.create_container(trial.build.base["python"], ["true"], host_config=host)["Id"]
    image = trial.client.commit(made, changes="VOLUME /data")["Id"]
    trial.made.add(image)
    trial.client.remove_container(made)
    with pytest.raises(ArenaError, match="volumes"):
        trial.make(bot, base={"python": image})


@pytest.mark.docker
def test_the_command_prints_the_image_or_why_there_is_none(trial: Trial, tmp_path: Path) -> None:
    arena = Arena(tmp_path)
    base = ("--base", trial.build.base["python"])
    write_bot(tmp_path / "good")
    (row,) = arena.lines("bot", "build", "good", *base)
    trial.made.add(row["image"])
    assert row["built"]
    assert row["image"] == arena.lines("bot", "build", "good", *base)[0]["image"]
    write_bot(tmp_path / "bad", "echo it is broken; exit 1")
    failed = arena.run("bot", "build", "bad", *base, "--log", "log.txt", code=3)
    assert "it is broken" in failed.stderr
    assert (tmp_path / "log.txt").read_text() == "it is broken\n"


# what needs no engine


def test_a_log_keeps_its_beginning_and_its_end() -> None:
    log = BuildLog(8)
    for number in range(10):
        log.add(f"{number}{number}".encode())
    assert log.text() == "0011\n... 12 bytes are left out ...\n8899"


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ('image = "x"\ncommand = ["x"]', "command"),
        ('image = "x"\nlanguage = "python"', "language"),
        ('command = ["x"]\nbuild = [1]', "build"),
        ('command = ["x"]\nbuild = 3', "build"),
        ("image = 3", "image"),
    ],
)
def test_a_bot_toml_that_contradicts_itself_is_refused(tmp_path: Path, manifest: str, why: str) -> None:
    (tmp_path / "bot.toml").write_text('name = "x"\n' + manifest)
    with pytest.raises(BotReferenceError, match=why):
        resolve(str(tmp_path))


def test_an_image_is_started_in_a_container_alone(tmp_path: Path) -> None:
    from arena.bots.sandbox import check_startable

    image = BotSpec("docker:x", "x", "1", (), "/", image="sha256:1")
    check_startable([image], "docker")
    with pytest.raises(ArenaError, match="--sandbox docker"):
        check_startable([image], "bwrap")


@pytest.mark.parametrize(
    ("base", "built", "run"),
    [
        ({}, "botarena/cpp-build:trixie", "botarena/cpp:trixie"),
        ({"cpp": "gcc:14"}, "gcc:14", "gcc:14"),
        ({"cpp": "slim", "cpp-build": "gcc:14"}, "gcc:14", "slim"),
    ],
)
def test_the_organiser_names_images(base: dict[str, str], built: str, run: str) -> None:
    recipe = recipe_for(resolve("tests/bots_native/cpp"), BuildLimits(base=base))
    assert (recipe.build_base, recipe.run_base) == (built, run)


def test_the_language_is_what_the_bot_says_or_is_plain_python(tmp_path: Path) -> None:
    bot = write_bot(tmp_path)
    assert recipe_for(replace(bot, language=""), BuildLimits()).language == "python"
    assert recipe_for(replace(bot, build=("make",)), BuildLimits()).build == ("make",)
    for nonsense in (replace(bot, language="cobol"), replace(bot, language="", command=("./main",))):
        with pytest.raises(BotReferenceError, match="language"):
            recipe_for(nonsense, BuildLimits())
