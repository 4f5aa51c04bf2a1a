"""Files of an SFTP server whose key is known: nobody is told a password before the server has shown who it is."""

import base64
import hashlib
import io
import socket
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final

from waterclock.reachable import public_only
from waterclock.runners.sync.places.globs import glob_of
from waterclock.runners.sync.places.place import CHUNK_BYTES, Found, Stream
from waterclock.runners.sync.places.walking import Entry, walk
from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.service.wire import ALLOWED_BY
from waterclock.runners.sync.source import Means, SourceFailed

_SECONDS: Final = 30.0
_PIECE_BYTES: Final = 32 * 1024  # what every server answers at once


class SftpPlace:
    is_listed = True

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        given = Given(config)
        self._host, self._port = given.text("host"), given.whole("port", 22, least=1, most=65_535)
        self._user = given.text("user")
        self._password, self._key = given.text("password", ""), given.text("private_key", "")
        self._host_key = given.text("host_key", "").strip()
        self._means = means
        self.where = f"sftp://{self._host}:{self._port}"
        self._begin = ""  # a path from the root, or from where the user begins
        self._transport: Any = None
        self._client: Any = None

    def test(self) -> str:
        with self._said() as client:
            return f"{self.where} answered: {len(client.listdir('.'))} entries"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        self._begin = "/" if pattern.startswith("/") else ""
        return walk(glob_of(pattern), self._entries, most=most)

    def open(self, found: Found) -> Stream:
        with self._said() as client:
            path = f"{self._begin}{found.name}"
            return _SftpStream(client, path, f"{self.where}/{found.name}", found)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = self._client = None

    def _entries(self, folder: Sequence[str]) -> Iterator[Entry]:
        path = f"{self._begin}{'/'.join(folder)}" or "."
        with self._said() as client:
            try:
                found = client.listdir_attr(path)
            except FileNotFoundError:
                return
            entries = [_entry(each, client, path) for each in found]
        yield from (entry for entry in entries if entry is not None)

    @contextmanager
    def _said(self) -> Iterator[Any]:
        import paramiko

        try:
            if self._client is None:
                self._client = self._connected()
            yield self._client
        except paramiko.AuthenticationException:
            raise SourceFailed(f"{self.where} refuses the user {self._user!r} with this password or key") from None
        except (paramiko.SSHException, EOFError, OSError) as problem:
            raise SourceFailed(f"{self.where}: {problem or 'the connection was cut'}") from None

    def _connected(self) -> Any:
        import paramiko

        self._transport = paramiko.Transport(self._dialled())
        if not self._host_key.startswith("SHA256:") and (kind := self._host_key.partition(" ")[0]):
            self._ask_for(kind)
        self._transport.start_client(timeout=_SECONDS)
        self._check_host(self._transport.get_remote_server_key())
        if self._key:
            self._transport.auth_publickey(self._user, _private_key(self._key))
        else:
            self._transport.auth_password(self._user, self._password)
        client = paramiko.SFTPClient.from_transport(self._transport)
        client.get_channel().settimeout(_SECONDS)
        return client

    def _ask_for(self, kind: str) -> None:
        """A server has keys of several kinds, and shows the one that it is asked for."""
        options = self._transport.get_security_options()
        wanted = [each for each in options.key_types if each == kind or (kind == "ssh-rsa" and "rsa" in each)]
        if wanted:
            options.key_types = wanted

    def _dialled(self) -> socket.socket:
        with public_only(unless=self._means.allows_private) as refused:
            try:
                return socket.create_connection((self._host, self._port), timeout=_SECONDS)
            except OSError as problem:
                if refused:
                    raise SourceFailed(f"{self.where}: {refused[-1]} is not a public address; {ALLOWED_BY}") from None
                raise SourceFailed(f"{self.where} cannot be reached: {problem}") from None

    def _check_host(self, key: Any) -> None:
        shown, line = _fingerprint(key), f"{key.get_name()} {key.get_base64()}"
        if self._host_key in (shown, line) or self._host_key.startswith(f"{line} "):
            return
        self.close()
        if not self._host_key:
            raise SourceFailed(
                f"{self.where}: host_key is missing. The server shows {shown}; if that is it, give host_key: {line}"
            )
        raise SourceFailed(f"{self.where} shows another key than host_key: {shown} ({key.get_name()})")


class _SftpStream:
    """Asks for some pieces at a time, so that neither the way there nor our memory is what it waits for."""

    def __init__(self, client: Any, path: str, shown: str, found: Found) -> None:
        self._client, self._path, self._shown, self._found = client, path, shown, found
        self._file = client.open(path, "rb", bufsize=0)
        self._at = 0
        self.check()

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        end = min(self._at + size, self._found.size or 0)
        pieces = [(at, min(_PIECE_BYTES, end - at)) for at in range(self._at, end, _PIECE_BYTES)]
        data = b"".join(self._pieces(pieces))
        if len(data) < end - self._at:
            raise self._cut()
        self._at = end
        if not data:
            self.check()
        return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None:
        with self._said():
            now = self._client.stat(self._path)  # not every server tells it of an open file
        if _version(now) != self._found.version:
            raise SourceFailed(f"{self._shown} was changed while it was read")

    def close(self) -> None:
        with suppress(SourceFailed), self._said():
            self._file.close()

    def _pieces(self, pieces: Sequence[tuple[int, int]]) -> list[bytes]:
        with self._said():
            return [bytes(each) for each in self._file.readv(pieces)] if pieces else []

    @contextmanager
    def _said(self) -> Iterator[None]:
        import paramiko

        try:
            yield
        except (paramiko.SSHException, EOFError, OSError):
            raise self._cut() from None

    def _cut(self) -> SourceFailed:
        return SourceFailed(f"{self._shown}: the connection was cut after {self._at} of {self._found.size} bytes")


def _entry(each: Any, client: Any, folder: str) -> Entry | None:
    if stat.S_ISLNK(each.st_mode or 0):
        try:
            name = each.filename
            each = client.stat(f"{folder}/{name}")
            each.filename = name
        except OSError:
            return None
    if stat.S_ISDIR(each.st_mode or 0):
        return Entry(name=each.filename, is_folder=True)
    if stat.S_ISREG(each.st_mode or 0):
        return Entry(name=each.filename, is_folder=False, version=_version(each), size=each.st_size)
    return None


def _version(found: Any) -> str:
    return f"{found.st_mtime}-{found.st_size}"


def _fingerprint(key: Any) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _private_key(text: str) -> Any:
    import paramiko

    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            return kind.from_private_key(io.StringIO(text))
        except (paramiko.SSHException, ValueError):
            continue
    raise SourceFailed("private_key is no key that can be read: ed25519, ecdsa or rsa, without a passphrase")
