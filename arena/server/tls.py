"""TLS: what the server shows and asks for, and where it may do without."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import grpc

from arena.errors import UsageError


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine's own programs are at a host, by its name."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(host: str, tls: bool, insecure: bool) -> None:
    """Refuse to listen where tokens would travel in the clear.

    Args:
        host: to listen at.
        tls: whether there is a certificate.
        insecure: whether that was asked for.

    Raises:
        UsageError: they would, and nobody asked for it.
    """
    if not (is_loopback(host) or tls or insecure):
        raise UsageError(
            f"{host} is not served without TLS",
            "everybody on the way could read the tokens",
            "give --tls-cert and --tls-key, listen at 127.0.0.1, or behind a proxy say --insecure",
        )


def credentials(cert: Path, key: Path, client_ca: Path | None = None) -> grpc.ServerCredentials:
    """What a server shows, and what it asks for.

    Args:
        cert: its certificate and those between it and the root, PEM.
        key: its private key, PEM.
        client_ca: if clients must have a certificate, by whom: PEM.

    Raises:
        UsageError: a file cannot be read, or the certificate and the key do not belong together.
    """
    check_pair(cert, key)
    roots = None if client_ca is None else read_pem(client_ca)
    return grpc.ssl_server_credentials(
        [(read_pem(key), read_pem(cert))], root_certificates=roots, require_client_auth=roots is not None
    )


def check_pair(cert: Path, key: Path) -> None:
    """Refuse a certificate and a key that TLS could not use: gRPC would fail later, without a word.

    Raises:
        UsageError: they cannot be read, or do not belong together.
    """
    import ssl  # gRPC has TLS of its own: this is only needed here

    read_pem(cert)
    read_pem(key)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        raise UsageError(
            f"{cert} and {key} cannot be used",
            str(error),
            "give a certificate and its key without a password, both PEM",
        ) from None


def _no_password() -> str:
    raise ValueError("the key has a password")


def read_pem(path: Path) -> bytes:
    """What a file of certificates or keys has in it.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read", str(error.strerror), "give a file that this user may read"
        ) from None
    if b"-----BEGIN " not in data:
        raise UsageError(
            f"{path} cannot be used", "it has no certificate and no key in it", "give a file in PEM form"
        )
    return data
