"""The first start of a store: an admin, a key and a token, in files that only we can read.

The files are written aside before the store knows the key and renamed after: a crash at any line leaves either no
user, or a user whose key is at hand.
"""

import configparser
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from waterclock.services.access import Access, FirstStart

log: Final = logging.getLogger("waterclock")


class PrivateFiles:
    """`credentials` in the AWS form, so that AWS_SHARED_CREDENTIALS_FILE just works, and `token` for our own CLI."""

    def __init__(self, folder: Path) -> None:
        self.credentials = folder / "credentials"
        self.token = folder / "token"
        self._lock = folder / "first-start.lock"

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def write_aside(self, made: FirstStart) -> None:
        key = f"[default]\naws_access_key_id = {made.key.id}\naws_secret_access_key = {made.key.secret}\n"
        _write_private(_aside(self.credentials), key)
        _write_private(_aside(self.token), made.token + "\n")

    def aside_key(self) -> str | None:
        """The id of a key that an interrupted first start left."""
        parsed = configparser.ConfigParser()
        parsed.read(_aside(self.credentials))
        return parsed.get("default", "aws_access_key_id", fallback=None)

    def put_in_place(self) -> None:
        for path in (self.token, self.credentials):
            if _aside(path).exists():
                _aside(path).rename(path)

    def drop_aside(self) -> None:
        for path in (self.token, self.credentials):
            _aside(path).unlink(missing_ok=True)


async def first_start(access: Access, folder: Path) -> None:
    files = PrivateFiles(folder)
    with files.alone():
        left = files.aside_key()
        if left and await access.secret_of(left):
            files.put_in_place()
            return
        made = await access.first_start(files.write_aside)
        if made:
            files.put_in_place()
            log.info("made the user 'admin': its key is in %s, its token in %s", files.credentials, files.token)
        else:
            files.drop_aside()


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _write_private(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        os.fchmod(fd, 0o600)
        file.write(text)
        file.flush()
        os.fsync(fd)
