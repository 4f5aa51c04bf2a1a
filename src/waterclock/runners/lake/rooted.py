"""A file of this worker that a lake job may name: below one of the folders that its order allows."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from waterclock.runners.lake.task import TaskFailed


def under_roots(location: str, roots: Sequence[str]) -> Path:
    """A path, or file://; one that is not absolute is looked for in each root. Where it really is, links followed."""
    path = _path(location)
    found = [real for root in roots if (real := _real(Path(root), path)) is not None]
    if not found:
        known = ", ".join(roots) or "none is set"
        raise TaskFailed(f"script {location!r} is not a file below a folder that jobs may read (lake.roots: {known})")
    return found[0]


def _path(location: str) -> Path:
    if "\0" in unquote(location):
        raise TaskFailed("script: its location holds a NUL character")
    if "://" not in location:
        return Path(location)
    parts = urlsplit(location)
    if parts.scheme.lower() != "file":
        raise TaskFailed(f"script {location!r}: a script is a path, file:///path or s3://bucket/key")
    if parts.netloc not in ("", "localhost"):
        raise TaskFailed(f"script {location!r} names another host; file:// has three slashes: file:///path/to/script")
    return Path(unquote(parts.path))


def _real(root: Path, path: Path) -> Path | None:
    """None where it is no file, or not below the root."""
    try:
        real, base = (root / path).resolve(strict=True), root.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if real.is_relative_to(base) and real.is_file() else None
