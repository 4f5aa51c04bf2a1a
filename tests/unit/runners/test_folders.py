"""What is copied of a folder of programs, what is left out, and what is refused."""

import os
from pathlib import Path

import pytest

from waterclock.domain.errors import CannotRun
from waterclock.runners import copying
from waterclock.runners.copying import Copy
from waterclock.runners.folders import LocalRoot, script_path
from waterclock.runners.s3_folders import object_of

SETTING = "chains.jobfolder"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """A root with a folder of two scripts, a folder inside it, and another beside it."""
    root = tmp_path / "jobs"
    (root / "보고서" / "lib").mkdir(parents=True)
    (root / "보고서" / "적재.py").write_text("print('안녕')")
    (root / "보고서" / "lib" / "수식.py").write_text("x = 1")
    (root / "common").mkdir()
    (root / "common" / "shared.py").write_text("y = 2")
    (root / "alone.sh").write_text("echo alone")
    return root


def copied(root: Path, script: str) -> Path:
    to = root.parent / "copy"
    to.mkdir()
    LocalRoot(path=root, setting=SETTING).copy(script_path(script), Copy(folder=str(to)))
    return to


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_script_brings_its_own_folder_and_nothing_else(jobs: Path) -> None:
    copy = copied(jobs, "보고서/적재.py")
    assert names(copy) == {"적재.py", "lib", "lib/수식.py"}
    assert (copy / "적재.py").read_text() == "print('안녕')"


def test_a_script_of_the_root_brings_the_roots_files_without_its_folders(jobs: Path) -> None:
    (jobs / "linked").symlink_to("common")
    assert names(copied(jobs, "alone.sh")) == {"alone.sh"}


def test_a_folder_inside_a_folder_is_a_scripts_own(jobs: Path) -> None:
    assert names(copied(jobs, "보고서/./lib//수식.py")) == {"수식.py"}


def test_modes_and_times_are_kept_and_the_copy_can_be_written(jobs: Path) -> None:
    script = jobs / "alone.sh"
    script.chmod(0o555)
    os.utime(script, ns=(1_700_000_000_000_000_123, 1_700_000_000_000_000_123))
    found = (copied(jobs, "alone.sh") / "alone.sh").stat()
    assert found.st_mode & 0o777 == 0o755
    assert found.st_mtime_ns == 1_700_000_000_000_000_123


def test_a_file_of_several_chunks_is_copied_whole(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waterclock.runners.folders.CHUNK_BYTES", 7)
    content = os.urandom(100)
    (jobs / "data").write_bytes(content)
    assert (copied(jobs, "alone.sh") / "data").read_bytes() == content


# Links


def test_a_link_inside_the_folder_points_into_the_copy(jobs: Path) -> None:
    (jobs / "보고서" / "lib" / "up.py").symlink_to(jobs / "보고서" / "적재.py")
    (jobs / "보고서" / "first").symlink_to("lib")
    copy = copied(jobs, "보고서/적재.py")
    assert (copy / "lib" / "up.py").resolve() == copy / "적재.py"
    assert (copy / "first").resolve() == copy / "lib"


def test_a_link_to_elsewhere_below_the_root_points_to_the_original(jobs: Path) -> None:
    (jobs / "보고서" / "common").symlink_to("../common")
    copy = copied(jobs, "보고서/적재.py")
    assert (copy / "common").is_symlink()
    assert (copy / "common").resolve() == jobs / "common"


def test_a_link_to_nothing_stays_one(jobs: Path) -> None:
    (jobs / "보고서" / "later").symlink_to("not-there-yet")
    assert os.readlink(copied(jobs, "보고서/적재.py") / "later") == "not-there-yet"


@pytest.mark.parametrize("target", ["/etc/passwd", "../../elsewhere", "../common/hop"])
def test_a_link_that_leaves_the_root_is_refused_by_name(jobs: Path, target: str) -> None:
    (jobs / "common" / "hop").symlink_to("/etc")
    (jobs / "보고서" / "way-out").symlink_to(target)
    with pytest.raises(CannotRun, match=r"the link .*보고서/way-out leads out of .*jobs, to /"):
        copied(jobs, "보고서/적재.py")


def test_a_script_or_folder_that_is_a_link_must_stay_below_the_root(jobs: Path) -> None:
    (jobs / "outside.py").symlink_to("/etc/passwd")
    (jobs / "out").symlink_to("/etc")
    for script in ("outside.py", "out/passwd"):
        with pytest.raises(CannotRun, match=rf"leads out of .*jobs \(setting {SETTING}\): to /etc"):
            LocalRoot(path=jobs, setting=SETTING).copy(script_path(script), Copy(folder="/nowhere"))


def test_a_root_that_is_a_link_itself_is_the_place_it_leads_to(jobs: Path) -> None:
    (jobs.parent / "link").symlink_to(jobs)
    assert names(copied(jobs.parent / "link", "common/shared.py")) == {"shared.py"}


# What is not there, or too much


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("reports/load.py", r"there is no folder 'reports' below .*/jobs \(setting chains\.jobfolder\)"),
        ("alone.sh/x.py", "there is no folder 'alone.sh' below"),
        ("common/load.py", r"there is no script 'load\.py' in the folder 'common' below .*/jobs \(setting"),
        ("load.py", r"there is no script 'load\.py' directly in .*/jobs \(setting chains\.jobfolder\)"),
        ("common", "there is no script 'common' directly in"),
    ],
)
def test_what_is_not_there_is_named_with_its_root_and_setting(jobs: Path, script: str, words: str) -> None:
    with pytest.raises(CannotRun, match=words):
        copied(jobs, script)


def test_a_root_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=rf"the folder of programs .*/gone \(setting {SETTING}\) does not exist"):
        copied(tmp_path / "gone", "a/b.py")


@pytest.mark.parametrize("script", ["/etc/passwd", "../x.py", "a/../../x.py", "", ".", "a/.."])
def test_a_script_is_a_path_below_its_root(script: str) -> None:
    with pytest.raises(CannotRun, match=r"must be a path below the folder of programs, such as folder/script\.py"):
        script_path(script)


def test_a_nul_in_a_scripts_name_is_refused() -> None:
    with pytest.raises(CannotRun, match="NUL"):
        script_path("a/b\0.py")


@pytest.mark.parametrize("name", ["../x.sh", "b//x.sh", "./x.sh", "b/..", "x\0.sh"])
def test_a_key_of_a_bucket_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(CannotRun, match=r"the key 'jobs/a/.*' cannot be the name of a file"):
        object_of({"Key": f"jobs/a/{name}", "Size": 1}, "jobs/a/")


def test_a_folder_with_too_many_entries_or_bytes_is_refused(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "MOST_ENTRIES", 2)
    with pytest.raises(CannotRun, match="has more than 2 entries, and is copied for every run"):
        copied(jobs, "보고서/적재.py")
    monkeypatch.setattr(copying, "MOST_BYTES", 4)
    (jobs.parent / "copy").rename(jobs.parent / "first")
    with pytest.raises(CannotRun, match="has more than 4 bytes"):
        copied(jobs, "common/shared.py")


def test_folders_without_end_are_refused(jobs: Path) -> None:
    (jobs / "common" / "/".join("d" * (copying.DEEPEST + 2))).mkdir(parents=True)
    with pytest.raises(CannotRun, match=f"more than {copying.DEEPEST} deep"):
        copied(jobs, "common/shared.py")


def test_what_is_neither_file_nor_folder_is_refused(jobs: Path) -> None:
    os.mkfifo(jobs / "common" / "pipe")
    with pytest.raises(CannotRun, match="common/pipe is neither a file, a folder nor a link"):
        copied(jobs, "common/shared.py")


def test_a_copy_that_nobody_waits_for_goes_no_further(jobs: Path, tmp_path: Path) -> None:
    copy = Copy(folder=str(tmp_path / "copy"))
    copy.abandoned.set()
    with pytest.raises(CannotRun, match="stopped while its folder was copied"):
        LocalRoot(path=jobs, setting=SETTING).copy(script_path("common/shared.py"), copy)
    assert not (tmp_path / "copy").exists()
