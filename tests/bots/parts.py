"""Parts of a machine that some tests need: marks that skip where they are missing, with the reason."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from arena.bots import cgroups


def _without_bwrap() -> str:
    """Why bubblewrap cannot be used here; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    line = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    tried = subprocess.run(line, capture_output=True, text=True, check=False)
    return f"bubblewrap cannot be used here: {tried.stderr.strip()}" if tried.returncode else ""


_WITHOUT_BWRAP = _without_bwrap()

needs_bwrap = [
    pytest.mark.bwrap,
    pytest.mark.skipif(bool(_WITHOUT_BWRAP), reason=_WITHOUT_BWRAP or "it can be used"),
]
needs_groups = [
    pytest.mark.root,
    pytest.mark.skipif(cgroups.find() is None, reason="needs control groups that it may make"),
]
