"""Folders that are used again: only those that a run left as it got them, and never with anything in them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from waterclock.runners.workspace import Workspaces


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces(work_root=tmp_path / "work", log_root=tmp_path / "logs")


def inode(folder: Path) -> int:
    return os.stat(folder).st_ino


def test_a_folder_that_a_run_left_as_it_was_is_the_next_ones(workspaces: Workspaces) -> None:
    first = inode(workspaces.make(1))
    workspaces.remove(1)
    assert list(workspaces.work_root.iterdir()) == []
    second = workspaces.make(2)
    assert (inode(second), second.name, list(second.iterdir())) == (first, "2", [])


def test_what_a_run_left_in_its_folder_is_not_in_the_next_ones(workspaces: Workspaces) -> None:
    folder = workspaces.make(1)
    (folder / "file").write_text("left")
    (folder / "link").symlink_to("/etc")
    workspaces.remove(1)
    assert list(workspaces.make(2).iterdir()) == []
    assert os.path.exists("/etc/passwd")


def _widen(folder: Path) -> None:
    folder.chmod(0o777)


def _fill(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "file").write_text("left")


def _mark(folder: Path) -> None:
    try:
        os.setxattr(folder, "user.mark", b"1")
    except OSError:
        pytest.skip("this file system has no such attributes")


@pytest.mark.parametrize("change", [_widen, _fill, _mark])
def test_a_folder_that_a_run_changed_is_nobodys(workspaces: Workspaces, change: Callable[[Path], None]) -> None:
    change(workspaces.make(1))
    workspaces.remove(1)
    assert not workspaces.folder(1).exists()
    second = workspaces.make(2)
    assert (second.stat().st_mode & 0o777, list(second.iterdir()), os.listxattr(second)) == (0o700, [], [])


def test_a_folder_with_something_in_it_is_not_replaced_by_a_spare(workspaces: Workspaces) -> None:
    workspaces.make(1)
    (workspaces.make(2) / "fetched").write_text("script")
    workspaces.remove(1)
    assert [path.name for path in workspaces.make(2).iterdir()] == ["fetched"]
    assert list(workspaces.fresh(2).iterdir()) == []


def test_the_folders_of_another_users_programs_are_not_used_again(tmp_path: Path) -> None:
    workspaces = Workspaces(work_root=tmp_path / "work", log_root=tmp_path / "logs", user="nobody")
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    workspaces.make(1)
    workspaces.remove(1)
    assert not workspaces.folder(1).exists()
    assert not Path(f"{workspaces.work_root}.spare").exists()


def test_a_new_worker_removes_what_an_earlier_one_had_in_reserve(workspaces: Workspaces) -> None:
    workspaces.make(1)
    workspaces.remove(1)
    later = Workspaces(work_root=workspaces.work_root, log_root=workspaces.log_root)
    later.set_aside(())()
    assert list(Path(f"{workspaces.work_root}.spare").iterdir()) == []
    assert list(workspaces.make(2).iterdir()) == []  # its spare has gone: it makes one
