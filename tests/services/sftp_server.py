"""The program of tests/services/sftp.py, a component of the tests: a folder behind SFTP.

Runs under the interpreter that has paramiko. Its keys are made on the first start and kept, so that a server that is
started again is known to its clients.
"""

import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import paramiko


class Door(paramiko.ServerInterface):  # type: ignore[misc]
    """Whoever knows the password or has the key may open one channel for SFTP, and nothing else."""

    def __init__(self, user: str, password: str, key: paramiko.PKey) -> None:
        self._user, self._password, self._key = user, password, key

    def get_allowed_auths(self, username: str) -> str:
        return "password,publickey"

    def check_auth_password(self, username: str, password: str) -> int:
        return _verdict((username, password) == (self._user, self._password))

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return _verdict(username == self._user and key.asbytes() == self._key.asbytes())

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return int(paramiko.OPEN_SUCCEEDED if kind == "session" else paramiko.OPEN_FAILED_UNKNOWN_CHANNEL_TYPE)


class Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
    """Below `root`, whatever a path says: `..` stops there, as in a chroot."""

    root: Path

    def _real(self, path: str) -> str:
        return f"{self.root}{os.path.normpath('/' + path)}"

    def list_folder(self, path: str) -> Any:
        try:
            return [self._told(os.lstat(entry.path), entry.name) for entry in os.scandir(self._real(path))]
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)

    def stat(self, path: str) -> Any:
        try:
            return self._told(os.stat(self._real(path)))
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)

    def lstat(self, path: str) -> Any:
        return self.stat(path)

    def open(self, path: str, flags: int, attr: object) -> Any:
        try:
            fd = os.open(self._real(path), flags | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            return paramiko.SFTPServer.convert_errno(problem.errno or 0)
        handle = paramiko.SFTPHandle(flags)
        file = os.fdopen(fd, "rb" if not flags & (os.O_WRONLY | os.O_RDWR) else "wb")
        handle.readfile = handle.writefile = file
        return handle

    def _told(self, found: os.stat_result, name: str | None = None) -> paramiko.SFTPAttributes:
        return paramiko.SFTPAttributes.from_stat(found, name)


def serve(line: socket.socket, host_key: paramiko.PKey, door: Door) -> None:
    transport = paramiko.Transport(line)
    transport.add_server_key(host_key)
    transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
    try:
        transport.start_server(server=door)
        transport.join()  # its channels are served in threads of their own
    except (paramiko.SSHException, OSError, EOFError):
        transport.close()


def kept_key(path: Path) -> paramiko.PKey:
    if not path.exists():
        key = paramiko.ECDSAKey.generate()
        key.write_private_key_file(str(path))
        path.with_suffix(".pub").write_text(f"{key.get_name()} {key.get_base64()}\n")
    return paramiko.ECDSAKey.from_private_key_file(str(path))


def main(port: str, folder: str, user: str, password: str) -> None:
    Files.root = Path(folder, "files").resolve()
    host_key = kept_key(Path(folder, "host_key"))
    door = Door(user, password, kept_key(Path(folder, "user_key")))
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        while True:
            line, _ = listener.accept()
            threading.Thread(target=serve, args=(line, host_key, door), daemon=True).start()


def _verdict(right: bool) -> int:
    return int(paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED)


if __name__ == "__main__":
    main(*sys.argv[1:])
