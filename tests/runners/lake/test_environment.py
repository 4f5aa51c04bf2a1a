"""Environments of Python jobs: whole or not there, made once, kept while they are used. pip is a stand-in here."""

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from waterclock.runners import virtualenv
from waterclock.runners.lake import environment
from waterclock.runners.lake.cache import Cache
from waterclock.runners.lake.environment import KIND, environment_for
from waterclock.runners.lake.requirements import requirements_of
from waterclock.runners.lake.task import TaskFailed

MAKE = 'mkdir -p "$0/bin"; ln -s "$1" "$0/bin/python"; printf "#!$0/bin/python\\nprint(1)" > "$0/bin/tool"'


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What was installed, and when."""
    calls: list[Sequence[str]] = []

    def making(folder: Path) -> tuple[str, ...]:
        return ("/bin/sh", "-c", MAKE, str(folder), sys.executable)

    def installing(folder: Path, *what: str) -> tuple[str, ...]:
        wanted = Path(what[-1]).read_text()
        calls.append(wanted.split())
        return (
            "/bin/sh",
            "-c",
            "echo ERROR: No matching distribution; echo advice; exit 1" if "bad" in wanted else ":",
        )

    monkeypatch.setattr(virtualenv, "making", making)
    monkeypatch.setattr(virtualenv, "installing", installing)
    return calls


def entries(cache: Path) -> list[str]:
    return sorted(each.name for each in (cache / KIND).iterdir() if not each.name.endswith(".lock"))


def test_one_is_made_once_and_then_found(tmp_path: Path, made: list[Sequence[str]]) -> None:
    first = environment_for(tmp_path, ("six==1.17.0", "tomli"), {})
    second = environment_for(tmp_path, ("tomli", "six==1.17.0"), {})
    assert (first[0], first[1], second) == (second[0], True, (first[0], False))
    assert made == [["six==1.17.0", "tomli"]]
    assert environment_for(tmp_path, ("tomli",), {})[1] is True


def test_its_scripts_name_the_place_that_it_is_in(tmp_path: Path, made: list[Sequence[str]]) -> None:
    folder, _ = environment_for(tmp_path, ("six",), {})
    assert (folder / "bin" / "tool").read_text().splitlines()[0] == f"#!{folder}/bin/python"


def test_what_could_not_be_installed_is_told_and_leaves_nothing(
    tmp_path: Path, made: list[Sequence[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TaskFailed, match=r"^cannot install the requirements: No matching distribution$"):
        environment_for(tmp_path, ("bad",), {})
    assert "advice" in capfd.readouterr().out
    assert entries(tmp_path) == []


def test_one_that_was_killed_in_the_middle_is_made_anew(tmp_path: Path, made: list[Sequence[str]]) -> None:
    digest = environment.name_of(("six",))
    half = tmp_path / KIND / f".new-{digest}"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").touch()
    folder, fresh = environment_for(tmp_path, ("six",), {})
    assert (fresh, entries(tmp_path)) == (True, [digest])
    assert (folder / "bin" / "python").is_symlink()


def test_two_runs_that_want_the_same_make_it_once(tmp_path: Path, made: list[Sequence[str]]) -> None:
    found: list[tuple[Path, bool]] = []
    threads = [threading.Thread(target=lambda: found.append(environment_for(tmp_path, ("six",), {}))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), sorted(fresh for _, fresh in found)) == (1, [False, False, False, True])


def test_one_that_a_program_uses_is_not_pruned(tmp_path: Path, made: list[Sequence[str]]) -> None:
    """The lock goes with the process, whatever program it becomes."""
    folder, _ = environment_for(tmp_path, ("six",), {})
    lock = next(int(fd) for fd in os.listdir("/proc/self/fd") if _is_lock(int(fd), folder))
    assert os.get_inheritable(lock)
    with subprocess.Popen(["sleep", "60"], pass_fds=(lock,)) as program:
        os.close(lock)
        Cache(tmp_path, most_bytes=0).prune()
        assert folder.exists()
        program.kill()
    Cache(tmp_path, most_bytes=0).prune()
    assert not folder.exists()


def _is_lock(fd: int, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}") == f"{folder}.lock" and fcntl.fcntl(fd, fcntl.F_GETFD) == 0
    except OSError:
        return False


def test_where_packages_come_from_is_told_to_pip_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def making(folder: Path) -> tuple[str, ...]:
        return ("/bin/sh", "-c", 'mkdir "$0/bin"; env > "$0/env"', str(folder))

    monkeypatch.setattr(virtualenv, "making", making)
    monkeypatch.setattr(virtualenv, "installing", lambda folder, *what: ("/bin/true",))
    folder, _ = environment_for(tmp_path, ("six",), {"PIP_INDEX": "here"})
    told = (folder / "env").read_text().splitlines()
    assert {"PIP_INDEX=here", f"PIP_CACHE_DIR={tmp_path}/pip"} <= set(told)
    assert environment.KIND == KIND
    assert "PIP_INDEX" not in os.environ


# What is wanted


def test_requirements_are_read_as_pip_reads_them(tmp_path: Path) -> None:
    text = "six==1.17.0 \\\n  --hash=sha256:ab  # pinned\n\n# a comment\n tomli>=2 ; python_version < '4'\n"
    wanted = ("six==1.17.0 --hash=sha256:ab", "tomli>=2 ; python_version < '4'")
    (tmp_path / "requirements.txt").write_text(text)
    assert requirements_of(text, None) == wanted
    assert requirements_of("requirements.txt", tmp_path) == wanted
    assert requirements_of(["six", "tomli"], None) == ("six", "tomli")
    assert requirements_of(None, None) == requirements_of("", None) == requirements_of([], None) == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["-r /etc/passwd"], "is an option"),
        ("six\n--index-url x", "is an option"),
        ("six \\\n\n  -e .", "is an option"),
        (["./local"], "is a path"),
        (["x @ file:///etc"], "is a path"),
        ([5], "must be a list of packages"),
        ({"six": "1"}, "must be a list of packages"),
        ("requirements.txt", "there is no requirements.txt in the repository"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, given: object, words: str) -> None:
    with pytest.raises(TaskFailed, match=words):
        requirements_of(given, tmp_path)


def test_a_list_that_is_a_link_out_of_the_repository_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "secret").write_text("hunter22")
    (tmp_path / "repository" / "requirements.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(TaskFailed, match=r"there is no requirements\.txt"):
        requirements_of("requirements.txt", tmp_path / "repository")
