"""Where control groups are made, and with which limits: on a made-up tree of version 2, and of version 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bots import cgroups
from arena.bots.limits import BotLimits

LIMITS = BotLimits(memory_bytes=100 << 20, cpus=1.5, pids=20)
OFFERED = "cpuset cpu io memory pids"


class Unified:
    """A tree of version 2 whose files behave as the kernel's, as far as the arena knows them."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
        self.mounts, self.process = root / "cgroup", root / "self"
        self.process.mkdir(parents=True)
        (self.process / "cgroup").write_text(f"0::{group}\n")
        self.own = self.mounts / group.lstrip("/")
        self.own.mkdir(parents=True)
        for folder in {self.mounts, self.own}:
            (folder / "cgroup.controllers").write_text(OFFERED)
            (folder / "cgroup.subtree_control").write_text("")
            (folder / "cgroup.procs").write_text("")
        monkeypatch.setattr(cgroups, "_set", self._set)

    def find(self) -> cgroups.Trees | None:
        return cgroups.find(self.mounts, self.process)

    def _set(self, file: Path, value: str) -> None:
        """What the kernel does when a value is written."""
        folder = file.parent
        if file.name == "cgroup.procs":
            for other in self.mounts.rglob("cgroup.procs"):
                other.write_text("\n".join(pid for pid in other.read_text().split() if pid != value))
            value = f"{file.read_text() if file.exists() else ''}\n{value}"
        if file.name == "cgroup.subtree_control":
            if (folder / "cgroup.procs").read_text().split() and folder != self.mounts:
                raise OSError(16, "a group that has processes limits no groups in it")
            value = f"{file.read_text()} {value.removeprefix('+')}"
        file.with_name(file.name.rstrip("?")).write_text(value)


@pytest.fixture
def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Unified]:
    return lambda group: Unified(tmp_path, monkeypatch, group)


@pytest.mark.parametrize("group", ["/user.slice/run-7.scope", "/"])
def test_version_2_gives_limits_to_groups_beside_the_arena(
    unified: Callable[[str], Unified], group: str
) -> None:
    tree = unified(group)
    (tree.own / "cgroup.procs").write_text("41\n42\n")
    trees = tree.find()
    assert trees is not None
    assert list(trees.folders) == [tree.own]
    assert (tree.own / "cgroup.subtree_control").read_text().split() == ["memory", "pids", "cpu"]
    if tree.own != tree.mounts:
        assert (tree.own / "cgroup.procs").read_text() == ""
        assert (tree.own / "arena-self" / "cgroup.procs").read_text().split() == ["41", "42"]
    made = trees.make("life", LIMITS, cores=2)
    written = {file.name: file.read_text() for file in (tree.own / "life").iterdir()}
    assert written == {
        "memory.max": str(100 << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "20",
        "cpu.max": "150000 100000",
    }
    assert (made.killed.name, made.peak.name) == ("memory.events", "memory.peak")


def test_version_2_finds_the_place_again_after_it_moved_away(unified: Callable[[str], Unified]) -> None:
    tree = unified("/run-7.scope")
    (tree.own / "cgroup.procs").write_text("41")
    tree.find()
    (tree.process / "cgroup").write_text("0::/run-7.scope/arena-self\n")
    again = tree.find()
    assert again is not None
    assert list(again.folders) == [tree.own]
    assert [path.name for path in tree.own.iterdir() if path.is_dir()] == ["arena-self"]


def test_no_quota_that_could_not_be_reached(unified: Callable[[str], Unified]) -> None:
    tree = unified("/x")
    trees = tree.find()
    assert trees is not None
    trees.make("life", LIMITS, cores=1)
    assert not (tree.own / "life" / "cpu.max").exists()


def test_version_2_without_the_controllers_is_of_no_use(unified: Callable[[str], Unified]) -> None:
    tree = unified("/x")
    (tree.own / "cgroup.controllers").write_text("cpu io")
    assert tree.find() is None


def test_version_2_where_others_are_in_the_way_is_of_no_use(
    unified: Callable[[str], Unified], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = unified("/x")
    (tree.own / "cgroup.procs").write_text("1")

    def refuse(file: Path, value: str) -> None:
        raise PermissionError(13, "not yours")

    monkeypatch.setattr(cgroups, "_set", refuse)
    assert tree.find() is None


def hierarchy(root: Path, **groups: str) -> tuple[Path, Path]:
    """Mounts of version 1 in which we are in a group of each controller, and our folder in /proc."""
    process = root / "self"
    process.mkdir()
    lines = [f"{number}:{name}:{group}\n" for number, (name, group) in enumerate(groups.items(), 1)]
    (process / "cgroup").write_text("".join([*lines, "0::/\n"]))
    for name, group in groups.items():
        for folder in (root / "cgroup" / name, root / "cgroup" / name / group.lstrip("/")):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.procs").touch()
    return root / "cgroup", process


def test_version_1_makes_groups_within_our_own(tmp_path: Path) -> None:
    trees = cgroups.find(*hierarchy(tmp_path, memory="/ours/here", pids="/", cpu="/"))
    assert trees is not None
    trees.make("life", LIMITS, cores=2)
    written = {
        str(file.relative_to(tmp_path / "cgroup")): file.read_text()
        for file in (tmp_path / "cgroup").rglob("life/*")
    }
    memory = str(100 << 20)
    assert written == {
        "memory/ours/here/life/memory.limit_in_bytes": memory,
        "memory/ours/here/life/memory.memsw.limit_in_bytes": memory,
        "memory/ours/here/life/memory.swappiness": "0",
        "pids/life/pids.max": "20",
        "cpu/life/cpu.cfs_period_us": "100000",
        "cpu/life/cpu.cfs_quota_us": "150000",
    }


def test_version_1_with_a_group_that_is_not_mounted_uses_what_is(tmp_path: Path) -> None:
    mounts, process = hierarchy(tmp_path, memory="/", pids="/")
    (process / "cgroup").write_text("1:memory:/docker/77\n2:pids:/docker/77\n")
    trees = cgroups.find(mounts, process)
    assert trees is not None
    assert list(trees.folders) == [mounts / "memory", mounts / "pids"]


@pytest.mark.parametrize("groups", [{"memory": "/"}, {"pids": "/"}, {}])
def test_version_1_without_memory_or_pids_is_of_no_use(tmp_path: Path, groups: dict[str, str]) -> None:
    assert cgroups.find(*hierarchy(tmp_path, **groups)) is None


def test_a_machine_without_control_groups(tmp_path: Path) -> None:
    assert cgroups.find(tmp_path / "none", tmp_path / "nor here") is None
