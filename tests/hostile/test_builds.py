"""Builds of strangers' bots: in a container of their own, with limits, and nothing is left of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.bots.building import BuildFailedError
from arena.bots.engine import connect
from arena.bots.images import make_image
from arena.bots.organiser import BuildLimits
from arena.bots.reference import resolve
from tests.containers import python_image

pytestmark = pytest.mark.docker

LOG = 64 << 10
FETCH = "import socket; socket.create_connection(('1.1.1.1', 80), 3)"
MEMORY = "held = b'x' * (1 << 30)"

HOSTILE = {
    "has no end": "while :; do :; done",
    "writes without end": "yes 'what a flood'",
    "fetches": f'python3 -c "{FETCH}"',
    "takes memory": f'python3 -c "{MEMORY}"',
    "fills the disk": "dd if=/dev/zero of=large bs=1M count=1000",
    "makes files without end": "n=0; while :; do n=$((n+1)); : > $n; done",
    "forks without end": "f() { f | f & }; f; sleep 60",
    "changes the compiler for others": "echo poison > /usr/bin/python3",
    "leaves a device behind": "mknod disk b 8 0",
}


def left() -> list[str]:
    """Containers and images of builds."""
    client = connect()
    try:
        containers = client.containers(all=True, filters={"name": "hostile-build"})
        images = client.images(filters={"label": "org.botarena.name=hostile-build"}, quiet=True)
        return [*(str(one["Names"]) for one in containers), *images]
    finally:
        client.close()


@pytest.mark.parametrize("build", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_build_fails_alone(build: str, tmp_path: Path) -> None:
    image = python_image()
    (tmp_path / "bot.toml").write_text(
        f'name = "hostile-build"\nlanguage = "python"\nbuild = ["sh", "-c", \'\'\'{build}\'\'\']\n'
        'command = ["python3", "main.py"]\n'
    )
    (tmp_path / "main.py").write_text("")
    base = {"python": image, "python-build": image}
    limits = BuildLimits(memory_bytes=256 << 20, seconds=5, log_bytes=LOG, size_bytes=64 << 20, base=base)
    with pytest.raises(BuildFailedError) as failure:
        make_image(resolve(str(tmp_path)), limits)
    assert len(failure.value.log) < LOG + 1000
    assert left() == []
