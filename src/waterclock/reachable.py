"""Which addresses what users define may be sent to: only public ones, unless an admin has allowed the others.

A name is looked up when it is given to us, but what it stands for may change, and a server may send us elsewhere.
So the last word is spoken when a connection is made, by whatever code and to whatever address: Python tells of it.
A program that connects by itself is held to the addresses that were found public: `addresses_of`.
"""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from ipaddress import IPv6Address, ip_address
from typing import Final

CONNECTING: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})

_this_thread: Final = threading.local()


def is_public(host: str) -> bool:
    """Of an address in digits; a name is none, until it is looked up."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_global and not address.is_multicast


def addresses_of(host: str) -> list[str]:
    """What this name stands for now, the address to try first in front; none where nobody knows it."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def private_address_of(host: str) -> str | None:
    """The first address of this name that is not public. One that nobody knows has none: it may be known later."""
    return next((each for each in addresses_of(host) if not is_public(each)), None)


@contextmanager
def public_only(*, unless: bool = False) -> Iterator[list[str]]:
    """In this thread no connection is made but to public addresses; those that were refused are in the list."""
    refused: list[str] = []
    if unless:
        yield refused
        return
    _listen()
    _this_thread.refused = refused
    try:
        yield refused
    finally:
        del _this_thread.refused


@cache
def _listen() -> None:
    """Once in a process, and for good: such a hook cannot be taken out."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event not in CONNECTING:
        return
    refused: list[str] | None = getattr(_this_thread, "refused", None)
    if refused is None:
        return
    match arguments[1]:
        case (str(host), *_) if is_public(host):
            return
        case (str(host), *_):
            refused.append(host)
        case _:
            refused.append("a local socket")
    raise ConnectionRefusedError(f"{refused[-1]} is not a public address")
