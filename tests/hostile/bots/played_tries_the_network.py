"""Tries every way into a network."""

import ctypes
import socket

from tests.hostile.probe import Probe, play_probing

FAMILIES = {
    "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17, "AF_VSOCK": 40, "AF_ALG": 38,
    "AF_BLUETOOTH": 31, "AF_CAN": 29, "AF_TIPC": 30, "AF_RDS": 21, "AF_XDP": 44, "AF_KCM": 41,
}  # fmt: skip
LIBC = ctypes.CDLL(None, use_errno=True)


def opened(family: int, kind: int) -> bool:
    """Whether the kernel gives a socket, asked without the help of Python's own checks."""
    descriptor = LIBC.socket(family, kind, 0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "socket")
    return True


def connected(family: int, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(1)
        one.connect(address)
        return True


def sent(address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", address)
        return True


def interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex() if name != "lo"]


def attempts(probe: Probe) -> None:
    for name, number in FAMILIES.items():
        for kind in (1, 2, 3):
            probe.attempt(f"socket {name} {kind}", opened, number, kind)
    probe.attempt("connect to an address", connected, socket.AF_INET, ("1.1.1.1", 80))
    probe.attempt("connect to this host", connected, socket.AF_INET, ("127.0.0.1", 22))
    probe.attempt("connect by IPv6", connected, socket.AF_INET6, ("2606:4700:4700::1111", 80))
    probe.attempt("connect to the hypervisor", connected, socket.AF_VSOCK, (2, 1024))
    probe.attempt("send a datagram", sent, ("8.8.8.8", 53))
    probe.attempt("resolve a name", socket.getaddrinfo, "example.com", 80)
    probe.attempt("see an interface", interfaces)


if __name__ == "__main__":
    play_probing(attempts)
