"""Where a script is: `file://`, `s3://`, or a path under its owner's folder; found, never guessed."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from waterclock.domain.errors import CannotRun

LARGEST_BYTES: Final = 64 * 1024 * 1024

Reader = Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """`readers` fetch what is not on this host, by scheme."""

    owners_root: Path
    allowed_roots: tuple[Path, ...] = ()  # empty: file:// may name any file
    readers: Mapping[str, Reader] = field(default_factory=dict)

    def local(self, location: str, owner: str) -> Path | None:
        """The file itself where it is on this host; None where it must be fetched."""
        if "\0" in unquote(location):
            raise CannotRun("the script's location holds a NUL character")
        scheme = urlsplit(location).scheme.lower() if "://" in location else ""
        if scheme == "file":
            return self._file(location)
        if not scheme:
            return self._owned(location, owner)
        if scheme not in self.readers:
            known = ", ".join(sorted({"file://", *(f"{name}://" for name in self.readers)}))
            raise CannotRun(
                f"cannot read a script from {scheme}:// ; known here: {known}, or a path in the script folder"
            )
        return None

    async def fetch(self, location: str, folder: Path) -> Path:
        """Read what is not local into `folder`, in a thread."""
        scheme = urlsplit(location).scheme.lower()
        data = await asyncio.to_thread(self.readers[scheme], location)
        if len(data) > LARGEST_BYTES:
            raise CannotRun(f"the script {location} has {len(data)} bytes; the most is {LARGEST_BYTES}")
        path = folder / (Path(unquote(urlsplit(location).path)).name or "script")
        path.write_bytes(data)
        return path

    def _file(self, location: str) -> Path:
        parts = urlsplit(location)
        if parts.netloc not in ("", "localhost"):
            raise CannotRun(
                f"{location} names another host; a file:// location has three slashes: file:///path/to/script"
            )
        path = _existing(Path(unquote(parts.path)), location)
        if self.allowed_roots and not any(path.is_relative_to(root.resolve()) for root in self.allowed_roots):
            raise CannotRun(f"the script {location} is outside the folders that the administrator allows")
        return path

    def _owned(self, location: str, owner: str) -> Path:
        folder = (self.owners_root / _safe(owner)).resolve()
        path = (folder / location).resolve()
        if not path.is_relative_to(folder):
            raise CannotRun(f"the script {location!r} is outside its owner's folder {folder}; elsewhere needs file://")
        return _existing(path, location)


def s3_reader(endpoint: str, region: str) -> Reader:
    """Through botocore, with the worker's own credentials (environment, shared file, instance role)."""

    def read(location: str) -> bytes:
        import botocore.exceptions
        import botocore.session

        parts = urlsplit(location)
        client = botocore.session.get_session().create_client("s3", region_name=region, endpoint_url=endpoint or None)
        try:
            answer = client.get_object(Bucket=parts.netloc, Key=unquote(parts.path.lstrip("/")))
            return bytes(answer["Body"].read(LARGEST_BYTES + 1))
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as problem:
            raise CannotRun(f"cannot read the script {location}: {problem}") from None

    return read


def _existing(path: Path, location: str) -> Path:
    try:
        found = os.path.realpath(path, strict=True)
    except OSError:
        raise CannotRun(f"the script {location} does not exist on this worker") from None
    if not os.path.isfile(found):
        raise CannotRun(f"the script {location} is not a file")
    return Path(found)


def _safe(owner: str) -> str:
    """A user name as one folder's name: never a way out."""
    return owner.replace("/", "_").replace("\0", "_") if owner not in ("", ".", "..") else "_"
