"""The socket that the faces listen on. `up` opens it in the parent, so that it outlives an API process that dies."""

import os
import socket
from typing import Final

from waterclock.domain.errors import NotAllowed

BACKLOG: Final = 2048
INHERITED_FD: Final = "WATERCLOCK_LISTEN_FD"


def bind(host: str, port: int) -> socket.socket:
    """Port 0 takes a free one; a port that is taken, or may not be had, is said."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else problem
        raise NotAllowed(f"cannot listen on {host}:{port}: {why}; choose another with --port") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # inherited: an answer never waits for an ACK
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def is_inherited() -> bool:
    """Whether a parent has opened it for us."""
    return INHERITED_FD in os.environ


def inherited_or_bound(host: str, port: int) -> socket.socket:
    fd = os.environ.pop(INHERITED_FD, None)
    return bind(host, port) if fd is None else socket.socket(fileno=int(fd))
