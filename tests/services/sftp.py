"""A real SFTP server on loopback: paramiko's, in a process of its own under the interpreter that has it."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.services.server import Server

USER: Final = "waterclock"
PASSWORD: Final = "a password of the tests"


class SftpServer(Server):
    """What lies in `files` is served as `/`, read and written by `user` with `password` or with `private_key`."""

    user = USER
    password = PASSWORD

    def __init__(self, python: Path) -> None:
        super().__init__("sftp")
        self._python = python
        self.files = self.folder / "files"

    @property
    def private_key(self) -> str:
        """PEM, of the user; made anew with each server."""
        return (self.folder / "user_key").read_text()

    @property
    def host_key(self) -> str:
        """As `known_hosts` has it: `ecdsa-sha2-nistp256 AAAA…`."""
        return (self.folder / "host_key.pub").read_text().strip()

    def _as_its_user(self, *argv: str | Path) -> list[str]:
        return list(map(str, argv))

    def _prepare(self) -> None:
        self.files.mkdir()

    def _command(self) -> Sequence[str | Path]:
        program = Path(__file__).with_name("sftp_server.py")
        return [self._python, "-P", program, str(self.port), self.folder, USER, PASSWORD]

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as greeted:
                return greeted.recv(4) == b"SSH-"
        except OSError:
            return False
