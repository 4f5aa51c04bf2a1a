"""Schedulers for tests, and the files that they keep their jobs in: made once, copied for each test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.library.scheduling import running
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "template.sqlite"
    with running(jobstores={"default": SQLiteJobStore(path)}):
        return path


@pytest.fixture
def path(migrated: Path, tmp_path: Path) -> Path:
    """An SQLite file without a job."""
    return Path(shutil.copy(migrated, tmp_path / "jobs.sqlite"))


@pytest.fixture(params=["memory", "sqlite"])
def stopped(request: pytest.FixtureRequest) -> Iterator[BackgroundScheduler]:
    """A scheduler that was not started, on each kind of store that needs no server."""
    scheduler = BackgroundScheduler(timezone="UTC")
    if request.param == "sqlite":
        scheduler.add_jobstore("sqlite", path=request.getfixturevalue("path"))
    yield scheduler
    if scheduler.running:
        scheduler.shutdown()


@pytest.fixture
def scheduler(stopped: BackgroundScheduler) -> BaseScheduler:
    """The same, running."""
    stopped.start()
    return stopped
