"""Bots as strangers submit them."""

from __future__ import annotations

import io
import tarfile

from arena.server.uploads import Packed, UploadLimits, code_upload

MAIN = """
from botarena import Bot, Turn, run


class Mine(Bot):
    def choose(self, turn: Turn) -> int:
        {choose}


run(Mine)
"""


def code(choose: str = "return 0", *, main: str | None = None, toml: str = "") -> dict[str, str]:
    """Files of a bot.

    Args:
        choose: what it does when it is asked.
        main: all of its program.
        toml: more lines of its bot.toml.
    """
    return {
        "bot.toml": f'name = "mybot"\ncommand = ["python3", "main.py"]\n{toml}\n',
        "main.py": MAIN.format(choose=choose) if main is None else main,
    }


def archive(files: dict[str, str]) -> bytes:
    """Them as they are sent."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def packed(files: dict[str, str]) -> Packed:
    """Them as they are kept."""
    upload = code_upload(UploadLimits())
    upload.feed(archive(files))
    return upload.finish()
