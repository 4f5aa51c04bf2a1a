"""A full disk: nothing is taken that could not be run."""

import os
from pathlib import Path

import pytest

from waterclock.runners.disk_space import LEAST_BYTES, LEAST_FILES, DiskSpace

ENOUGH = 1_000_000


@pytest.mark.parametrize(
    ("free_bytes", "files", "free_files", "is_short"),
    [
        (LEAST_BYTES, ENOUGH, LEAST_FILES, False),
        (LEAST_BYTES - 4096, ENOUGH, ENOUGH, True),
        (LEAST_BYTES, ENOUGH, LEAST_FILES - 1, True),
        (LEAST_BYTES, 0, 0, False),  # a file system that does not count its files
    ],
)
def test_a_disk_is_short_of_bytes_or_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, files: int, free_files: int, is_short: bool
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _folder: _found(free_bytes, files, free_files))
    assert DiskSpace(tmp_path).is_short() is is_short


def test_it_is_told_once_that_the_disk_is_full_and_once_that_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    space = DiskSpace(tmp_path)
    for free_bytes in (LEAST_BYTES, 0, 0, LEAST_BYTES, LEAST_BYTES):
        monkeypatch.setattr(os, "statvfs", lambda _folder, free=free_bytes: _found(free, ENOUGH, ENOUGH))
        space.is_short()
    full, again = caplog.messages
    assert "is full (0 KiB" in full
    assert "there is room again" in again


def test_a_disk_that_cannot_be_asked_is_not_known_to_be_full(tmp_path: Path) -> None:
    assert not DiskSpace(tmp_path / "none").is_short()


def _found(free_bytes: int, files: int, free_files: int) -> os.statvfs_result:
    """In blocks of 4 KiB."""
    return os.statvfs_result((4096, 4096, ENOUGH, 0, free_bytes // 4096, files, free_files, free_files, 0, 255))
