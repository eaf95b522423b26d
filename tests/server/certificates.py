"""Certificates for tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True, slots=True)
class Files:
    """Certificates and keys as files.

    Attributes:
        ca: of who signed.
        cert: of a server at 127.0.0.1.
        key: its.
        client_cert: of a client.
        client_key: its.
    """

    ca: Path
    cert: Path
    key: Path
    client_cert: Path
    client_key: Path


def make(folder: Path) -> Files:
    """Make an authority and what it signs."""
    folder.mkdir()
    authority = trustme.CA()
    ca = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    paths = [_issued(folder, authority, name) for name in ("127.0.0.1", "ann@example.org")]
    return Files(ca, *paths[0], *paths[1])


def _issued(folder: Path, authority: trustme.CA, name: str) -> tuple[Path, Path]:
    leaf = authority.issue_cert(name)
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    leaf.private_key_pem.write_to_path(str(key))
    for number, pem in enumerate(leaf.cert_chain_pems):
        pem.write_to_path(str(cert), append=number > 0)
    return cert, key
