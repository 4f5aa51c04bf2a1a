"""The address of a server that a job names: one that answers, and is public unless an admin has allowed others."""

import socket
from collections.abc import Sequence
from typing import Final

from waterclock import reachable
from waterclock.runners.sql.outputs import OutputFailed

CONNECT_SECONDS: Final = 5.0


def address_of(host: str, port: int, *, where: str, allows_private: bool) -> str:
    """In digits, so that whoever connects is held to it."""
    addresses = reachable.addresses_of(host)
    if not addresses:
        raise OutputFailed(f"{where}: nobody knows the host {host!r}")
    private = next((each for each in addresses if not reachable.is_public(each)), None)
    if private and not allows_private:
        raise OutputFailed(
            f"{where}: {host} is at {private}, which is not a public address: "
            "an admin may allow such with the setting lake.private"
        )
    return _answering(addresses, port, where)


def _answering(addresses: Sequence[str], port: int, where: str) -> str:
    problem: OSError | None = None
    for address in addresses:
        try:
            with socket.create_connection((address, port), timeout=CONNECT_SECONDS):
                return address
        except OSError as failed:
            problem = failed
    raise OutputFailed(f"{where} cannot be reached: {problem}")
