"""docs/library.md is true: its programs print what it shows, its examples answer, its tables have every name."""

import doctest
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from inspect import signature
from itertools import groupby
from pathlib import Path

import pytest

from waterclock import events
from waterclock.executors.registry import EXECUTORS
from waterclock.faces.library.configuring import JOB_DEFAULTS
from waterclock.jobstores.registry import JOBSTORES
from waterclock.jobstores.sql import SQLJobStore
from waterclock.schedulers.background import BackgroundScheduler

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "library.md").read_text()
FILES = dict(re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
SHOWN = re.findall(r"```console\n\$ python (\S+)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a reader has the files of the page; what the page imports from there is forgotten afterwards."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in FILES:
        sys.modules.pop(name.removesuffix(".py"), None)


def said_by(program: str, environment: Mapping[str, str] = os.environ) -> str:
    ran = subprocess.run(
        [sys.executable, program], check=False, capture_output=True, text=True, timeout=60, env=environment
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout


@pytest.mark.usefixtures("folder")
def test_every_example_on_the_page_answers_as_printed() -> None:
    result = doctest.testfile(str(DOCS / "library.md"), module_relative=False)
    assert result.attempted > 40
    assert result.failed == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("program", "shown"), SHOWN)
def test_a_program_on_the_page_prints_what_is_shown(program: str, shown: str) -> None:
    assert different_lines(said_by(program)) == different_lines(shown)


def different_lines(text: str) -> list[str]:
    """How often a job runs in two and a half seconds is the machine's business."""
    return [line for line, _ in groupby(text.splitlines())]


def test_a_trigger_and_an_executor_of_a_package_are_found_by_their_entry_points(folder: Path) -> None:
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    install(folder, project["name"], project["version"], project["entry-points"])
    assert said_by("use_mine.py", {**os.environ, "PYTHONPATH": str(folder)}).startswith(
        "calling builtins:print\nonce a second\n"
    )


def install(folder: Path, name: str, version: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """As pip leaves a package behind."""
    metadata = folder / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line for group, names in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


def test_an_error_at_the_start_says_which_of_the_pending_jobs_it_is_about(sqlite_url: str) -> None:
    scheduler = BackgroundScheduler(jobstores={"default": {"type": "sql", "url": sqlite_url}})
    scheduler.add_job("os:getpid", "interval", hours=1)
    scheduler.add_job(lambda: None, "interval", hours=1, id="mine", name="a lambda")
    with pytest.raises(ValueError, match="Cannot create a reference to a lambda") as raised:
        scheduler.start()
    assert raised.value.__notes__ == ["This is about job 'mine' (a lambda)."]
    assert [job.pending for job in scheduler.get_jobs()] == [True, True]


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_event_is_in_the_table() -> None:
    table, told = section("Events"), []
    for prefix, more in re.findall(r"`(EVENT_\w+)`((?:, `_\w+`)*)", table.replace("mask=EVENT_ALL", "")):
        stem = prefix.rpartition("_")[0]
        told += [prefix, *(stem + each for each in re.findall(r"_\w+", more))]
    named = {name for name in vars(events) if name.startswith("EVENT_")} - {"EVENT_ALL", "EVENT_SCHEDULER_START"}
    assert sorted(told) == sorted(named)
    assert len(told) == 17


def test_every_option_of_a_job_is_in_the_table_with_its_default() -> None:
    rows = [row.split(" | ") for row in section("Options of a job").splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named == set(signature(BackgroundScheduler.add_job).parameters) - {"self", "func", "trigger", "trigger_args"}
    defaults = {row[0].removesuffix(" *").strip("| `"): row[1] for row in rows if row[0].endswith("*")}
    assert defaults == {
        name: f"{default:g}" if isinstance(default, float) else str(default) for name, default in JOB_DEFAULTS.items()
    }


def test_every_executor_store_and_option_of_a_store_is_named() -> None:
    for kind in EXECUTORS:
        assert f"| `{kind}`" in section("Executors")
    stores = section("Job stores")
    for kind in JOBSTORES:
        assert f"| `{kind}`" in stores
    parameters = signature(SQLJobStore).parameters
    for name in parameters.keys() - {"url", "pickle_protocol"}:
        (shown,) = re.findall(rf"^\| `{name}` \| (\S+) \|", stores, re.MULTILINE)
        assert (
            shown.strip('`"') == f"{parameters[name].default:g}"
            if name.endswith(("s", "days"))
            else parameters[name].default
        )


def test_every_page_and_file_that_the_page_names_is_there() -> None:
    for link in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", PAGE):
        assert (DOCS / link).exists(), link
