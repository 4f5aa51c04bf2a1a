"""Secrets at rest: sealed with AES-256-GCM under a key that lives in a file of its own, never in the database.

The key file (mode 0600) holds one key a line, `ID BASE64`; the last seals, all open. `rotate` adds one. A sealed value
names its key, so old values stay readable until sealed again (`is_stale` tells which). A `context`, such as the
row the secret belongs to, is bound into the seal: a value moved to another row does not open.
"""

import fcntl
import os
import secrets
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from waterclock.domain.errors import WaterclockError

VERSION: Final = "v1"
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


class SecretUnreadable(WaterclockError):
    """The sealed value was damaged, moved, or sealed with a key that the file no longer has."""


class KeyFileRefused(WaterclockError):
    """The key file cannot be trusted as it is; says what to do."""


class SecretBox:
    """Seals and opens short texts. The key file is made when it is first needed; several processes may share it."""

    def __init__(self, key_file: str | os.PathLike[str]) -> None:
        self._file = Path(key_file)
        self._keys: dict[str, bytes] = {}

    def seal(self, secret: str, *, context: str = "") -> str:
        key_id, key = self._current()
        nonce = os.urandom(NONCE_BYTES)
        sealed = nonce + AESGCM(key).encrypt(nonce, secret.encode(), _bound(key_id, context))
        return f"{VERSION}.{key_id}.{urlsafe_b64encode(sealed).decode()}"

    def make_ready(self) -> None:
        """From now on sealing touches no file: it may be done inside a transaction."""
        self._current()

    def open(self, sealed: str, *, context: str = "") -> str:
        key_id, data = _parse(sealed)
        nonce, sealed_bytes = data[:NONCE_BYTES], data[NONCE_BYTES:]
        try:
            return AESGCM(self._key(key_id)).decrypt(nonce, sealed_bytes, _bound(key_id, context)).decode()
        except InvalidTag:
            raise SecretUnreadable("a sealed secret is damaged or stands in the wrong place") from None

    def is_stale(self, sealed: str) -> bool:
        """Whether it should be opened and sealed again, because the key was rotated since."""
        return _parse(sealed)[0] != self._current()[0]

    @property
    def beginning(self) -> str:
        """What every seal begins with that is made now: in the store, the others are stale."""
        return f"{VERSION}.{self._current()[0]}."

    def rotate(self) -> str:
        """A new key seals from now on; returns its id. Other processes learn of it when they meet it, or start anew."""
        self._current()
        key_id, line = _new_key()
        with _locked(self._file.parent):
            _replace(self._file, _read_private(self._file).rstrip() + "\n" + line)
        self._load()
        return key_id

    def _current(self) -> tuple[str, bytes]:
        if not self._keys:
            if not self._file.exists():
                _create(self._file, _new_key()[1])
            self._load()
        return next(reversed(self._keys.items()))

    def _key(self, key_id: str) -> bytes:
        if key_id not in self._keys:
            self._load()  # another process may have rotated
        if key_id not in self._keys:
            raise SecretUnreadable(f"{self._file} has no key {key_id!r}")
        return self._keys[key_id]

    def _load(self) -> None:
        lines = _read_private(self._file).splitlines()
        self._keys = dict(_read_key(self._file, line) for line in lines if line.strip())
        if not self._keys:
            raise KeyFileRefused(f"{self._file} is empty: restore it from a backup")


def _bound(key_id: str, context: str) -> bytes:
    return f"{VERSION}.{key_id}.{context}".encode()


def _parse(sealed: str) -> tuple[str, bytes]:
    match sealed.split("."):
        case [version, key_id, text] if version == VERSION:
            try:
                data = urlsafe_b64decode(text.encode())
            except ValueError:
                data = b""
            # The decoder skips what it does not know: one secret, one spelling.
            if len(data) > NONCE_BYTES and urlsafe_b64encode(data).decode() == text:
                return key_id, data
    raise SecretUnreadable("this is not a sealed secret")


def _new_key() -> tuple[str, str]:
    key_id = secrets.token_hex(4)
    return key_id, f"{key_id} {b64encode(os.urandom(KEY_BYTES)).decode()}\n"


def _read_key(file: Path, line: str) -> tuple[str, bytes]:
    key_id, _, text = line.strip().partition(" ")
    try:
        key = b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeyFileRefused(f"{file} has a line that is not a key: restore it from a backup")
    return key_id, key


def _read_private(file: Path) -> str:
    try:
        with open(file, encoding="ascii") as opened:
            if os.fstat(opened.fileno()).st_mode & 0o077:
                raise KeyFileRefused(f"{file} may be read by others: chmod 600 it")
            return opened.read()
    except FileNotFoundError:
        raise KeyFileRefused(f"{file} is missing: restore it from a backup") from None
    except UnicodeDecodeError:
        raise KeyFileRefused(f"{file} is not a key file: restore it from a backup") from None


def _create(file: Path, text: str) -> None:
    """Whole or not at all; whoever comes second uses the first one's file."""
    with _locked(file.parent):
        if not file.exists():
            _replace(file, text)


def _replace(file: Path, text: str) -> None:
    """Written aside and moved into place: a crash leaves the old file or the new one, never half a key."""
    aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        _write_private(aside, text)
        os.replace(aside, file)
    finally:
        aside.unlink(missing_ok=True)


def _write_private(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="ascii") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer of the key file at a time; what was written is on disk when this ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
