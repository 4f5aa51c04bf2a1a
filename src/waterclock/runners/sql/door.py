"""The socket of a SQL host: one file in a folder, for one system user and root."""

import os
import socket
import struct
from pathlib import Path
from typing import Final

from waterclock.runners import proc
from waterclock.runners.proc import Process

_UCRED: Final = struct.Struct("3i")
_WAITING: Final = 64


def connect(path: Path) -> socket.socket:
    """Through an open folder, because an address holds no more than 107 bytes of path."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    return connection


def listen(path: Path) -> socket.socket:
    """Whoever holds the host's lock may remove what an earlier one has left."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        server.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.umask(mask)
        os.close(folder)
    server.listen(_WAITING)
    server.setblocking(False)
    return server


def caller_of(connection: socket.socket) -> Process | None:
    """Who has connected, if it is the same system user or root: the socket's mode says so already, the kernel again."""
    pid, uid, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return proc.identify(pid) if uid in (0, os.geteuid()) else None
