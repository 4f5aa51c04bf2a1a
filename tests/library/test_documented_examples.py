"""APScheduler 3.11's documented examples run when nothing but the name of the package is changed.

Each file of `documented/` is a program for Waterclock. Most are run on APScheduler as well, so that what they say is
known to be true of it.
"""

import ast
import re
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from tests.library.nursery import Nursery

PROGRAMS = {path.stem: path for path in sorted((Path(__file__).parent / "documented").glob("[a-z]*.py"))}
OURS, THEIRS = "waterclock", "apscheduler"
NOT_THEIRS = {
    "trigger_and": "APScheduler searches for ever: its calendar interval answers with its start at any moment",
    "faq_sharing_a_store": "APScheduler's stores must not be shared",
    "example_processpool": "APScheduler may wait for ever for workers that were interrupted, too",
    "example_sqlalchemy": "APScheduler loses an interrupt that comes while a listener is told of its start",
}
DRIVERS = {"postgresql:": "postgresql+psycopg2:", "mysql:": "mysql+pymysql:"}  # as programs for SQLAlchemy name them
ENTRY_POINTS = """
[apscheduler.triggers]
my_trigger = extending_triggers:MyTrigger
[apscheduler.executors]
my_executor = extending_executors:MyExecutor
[apscheduler.jobstores]
my_jobstore = extending_jobstores:MyJobStore
"""
PRELOADED = ("schedulers.background", "schedulers.asyncio", "jobstores.sqlalchemy")
TICKING = {
    "example_background": ("Tick! The time is",),
    "example_blocking": ("Tick! The time is",),
    "example_asyncio": ("Tick! The time is", "Tock! In the loop of the program: True"),
    "example_processpool": ("Tick! In a process of its own: True",),
    "example_reference": ("Tick!",),
}
SHOWN = "Prints:\n"
RAISING = {"guide_listening"}  # a job of it does, and that is logged
BYE = "Bye\n"


def docstring(program: str) -> str:
    return ast.get_docstring(ast.parse(PROGRAMS[program].read_text())) or ""


def on_both(programs: Collection[str]) -> list[tuple[str, str]]:
    return [
        *((OURS, program) for program in programs),
        *((THEIRS, program) for program in programs if program not in NOT_THEIRS),
    ]


@pytest.fixture(scope="module")
def nurseries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Nursery]]:
    """One for each package, with a package of the user's that has entry points."""
    installed = tmp_path_factory.mktemp("installed")
    metadata = installed / "my_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    nurseries = {
        package: Nursery([f"{package}.{module}" for module in PRELOADED], installed) for package in (OURS, THEIRS)
    }
    yield nurseries
    for nursery in nurseries.values():
        nursery.close()


def script(package: str, program: str, folder: Path) -> Path:
    """The program as a user of the package has it."""
    written = folder / f"{program}.py"
    written.write_text(re.sub(rf"\b{OURS}\b", package, PROGRAMS[program].read_text()))
    return written


@pytest.mark.parametrize(("package", "program"), on_both([name for name in PROGRAMS if SHOWN in docstring(name)]))
def test_a_documented_example_prints_what_it_says(
    package: str, program: str, nurseries: dict[str, Nursery], tmp_path: Path
) -> None:
    with nurseries[package].running(script(package, program, tmp_path)) as running:
        said = running.rest()
    assert said.rstrip() == textwrap.dedent(docstring(program).partition(SHOWN)[2]).rstrip(), running.errors()
    assert package == THEIRS or program in RAISING or "Traceback" not in running.errors()


@pytest.mark.parametrize(("package", "program"), on_both(TICKING))
def test_a_job_runs_again_and_again_until_ctrl_c(
    package: str, program: str, nurseries: dict[str, Nursery], tmp_path: Path
) -> None:
    with nurseries[package].running(script(package, program, tmp_path)) as running:
        assert "Ctrl+C" in running.line_with("Ctrl+C")
        for sign in TICKING[program] * 3:
            assert sign in running.line_with(sign)
        assert running.interrupted().endswith(BYE)
    assert package == THEIRS or "Traceback" not in running.errors()


def test_an_alarm_goes_off_once_although_its_program_was_restarted(
    store_url: str, nurseries: dict[str, Nursery], tmp_path: Path
) -> None:
    for plain, with_driver in DRIVERS.items():
        store_url = store_url.replace(plain, with_driver)
    program = script(OURS, "example_sqlalchemy", tmp_path)
    said = ""
    for by, seconds in (("first", "1"), ("second", "3600")):
        with nurseries[OURS].running(program, store_url, seconds, by) as running:
            assert "Ctrl+C" in running.line_with("Ctrl+C")
            if (
                by == "second" and "Alarm!" not in said
            ):  # on a slow machine it went off before the first was interrupted
                said += running.line_with("Alarm!")
            said += running.interrupted()
            assert "Traceback" not in running.errors()
    assert said.count("Alarm!") == said.count("Alarm! It was set by the first in 20") == 1
    assert said.count(BYE) == 2


def test_two_programs_share_a_store_and_no_instant_runs_twice(
    postgres_url: str, nurseries: dict[str, Nursery], tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    scripts = [script(OURS, "faq_sharing_a_store", folder) for folder in folders]
    nursery = nurseries[OURS]
    with nursery.running(scripts[0], postgres_url) as one, nursery.running(scripts[1], postgres_url) as other:
        said = [running.line_with("Tick!") for running in (one, other) for _ in range(5)]
        for running in (one, other):
            said += [line for line in running.interrupted().splitlines(keepends=True) if "Tick!" in line]
    assert len(said) == len(set(said)) >= 10
