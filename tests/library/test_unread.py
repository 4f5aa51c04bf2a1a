"""What a process cannot read of a job it shows as a problem, and leaves as it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from waterclock.schedulers.background import BackgroundScheduler
from waterclock.triggers.interval import IntervalTrigger

TRIGGERS = """
from waterclock.triggers.interval import IntervalTrigger

class Hourly(IntervalTrigger):
    def __init__(self):
        super().__init__(hours=1, timezone="UTC")
"""


@contextmanager
def scheduler(url: str, **options: Any) -> Iterator[BackgroundScheduler]:
    """It fires nothing."""
    started = BackgroundScheduler(jobstores={"default": {"type": "sql", "url": url, **options}}, timezone="UTC")
    started.start(paused=True)
    try:
        yield started
    finally:
        started.shutdown()


def test_a_change_by_a_process_that_cannot_load_the_arguments_keeps_them(sqlite_url: str) -> None:
    with scheduler(sqlite_url, serializer="pickle") as trusting:
        trusting.add_job("builtins:repr", "interval", [Fraction(1, 7)], hours=1, id="odd")
    with scheduler(sqlite_url) as careful:
        job = careful.get_job("odd")
        assert job
        assert job.args == ()
        assert "pickle" in str(job.problem)
        job.pause()
        job.resume()
        job.modify(name="another")
        with pytest.raises(ValueError, match="job 'odd': cannot load the arguments"):
            careful.export_jobs(StringIO())
    with scheduler(sqlite_url, serializer="pickle") as trusting:
        job = trusting.get_job("odd")
        assert job
        assert (job.args, job.name, job.problem) == ((Fraction(1, 7),), "another", None)


def test_arguments_that_cannot_be_loaded_may_be_replaced(sqlite_url: str) -> None:
    with scheduler(sqlite_url, serializer="pickle") as trusting:
        trusting.add_job("builtins:repr", "interval", [Fraction(1, 7)], hours=1, id="odd")
    with scheduler(sqlite_url) as careful:
        careful.modify_job("odd", args=[8])
        job = careful.get_job("odd")
        assert job
        assert (job.args, job.problem) == ((8,), None)


@pytest.fixture
def hourly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package that has a trigger `hourly`, installed."""
    metadata = tmp_path / "hourly-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hourly\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[waterclock.triggers]\nhourly = hourly_triggers:Hourly\n")
    (tmp_path / "hourly_triggers.py").write_text(TRIGGERS)
    monkeypatch.syspath_prepend(tmp_path)
    yield metadata
    sys.modules.pop("hourly_triggers", None)


def test_a_job_whose_trigger_is_of_a_missing_package_is_shown_and_kept(sqlite_url: str, hourly: Path) -> None:
    with scheduler(sqlite_url) as complete:
        due = complete.add_job("builtins:print", "hourly", id="hourly").next_run_time
        complete.add_job("builtins:print", "interval", hours=2, id="ours")
    away = hourly.rename(hourly.with_suffix(".away"))
    with scheduler(sqlite_url) as lacking:
        job, other = lacking.get_jobs()
        assert (job.next_run_time, str(job.trigger)) == (due, "hourly, which is not installed here")
        assert other.id == "ours"
        job.modify(name="another")
    away.rename(hourly)
    with scheduler(sqlite_url) as complete:
        found = complete.get_job("hourly")
        assert found
        assert isinstance(found.trigger, IntervalTrigger)
        assert (type(found.trigger).__name__, found.name, found.next_run_time) == ("Hourly", "another", due)
