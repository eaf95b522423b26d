"""TLS: who gets through, and where the server does without."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import UsageError
from arena.server.tls import check_binding, credentials
from tests.server.certificates import Files, make


@pytest.mark.parametrize(
    ("host", "tls", "insecure", "allowed"),
    [
        ("127.0.0.1", False, False, True),
        ("127.8.9.1", False, False, True),
        ("localhost", False, False, True),
        ("::1", False, False, True),
        ("[::1]", False, False, True),
        ("0.0.0.0", False, False, False),
        ("::", False, False, False),
        ("", False, False, False),
        ("192.0.2.1", False, False, False),
        ("arena.example", False, False, False),
        ("localhost.example", False, False, False),
        ("0.0.0.0", True, False, True),
        ("0.0.0.0", False, True, True),
    ],
)
def test_tokens_leave_the_machine_in_tls_alone(host: str, tls: bool, insecure: bool, allowed: bool) -> None:
    if allowed:
        check_binding(host, tls, insecure)
    else:
        with pytest.raises(UsageError, match="--tls-cert"):
            check_binding(host, tls, insecure)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make(tmp_path_factory.mktemp("tls") / "pki")


def test_files_that_cannot_be_used_are_named(files: Files, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nnot base64\n-----END CERTIFICATE-----\n")
    for cert, key, ca, named in [
        (tmp_path / "none.pem", files.key, None, "none.pem"),
        (files.cert, empty, None, "empty.pem"),
        (broken, files.key, None, "broken.pem"),
        (files.cert, files.client_key, None, "example.org.key"),
        (files.cert, files.key, empty, "empty.pem"),
    ]:
        with pytest.raises(UsageError, match=named):
            credentials(cert, key, ca)
    credentials(files.cert, files.key, files.ca)
