"""`waterclock import apscheduler` on real stores: shown first, made when asked, repeatable, unhurt by hostile rows."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers import background
from apscheduler.triggers.interval import IntervalTrigger
from click.testing import CliRunner

from tests.acceptance.server import alive, until
from tests.library.apscheduler_store import NEVER_AGAIN, Hostile, OldStore, job_of, nightly, state_of, tick
from waterclock.domain.library import LibraryJob
from waterclock.faces.cli import main
from waterclock.faces.cli.importing.apscheduler.children import unpickled
from waterclock.faces.cli.importing.apscheduler.reading import Row
from waterclock.faces.cli.importing.apscheduler.target import Target
from waterclock.faces.library.keeping import Declared, TextKeeper
from waterclock.faces.library.serializers import serializer_for
from waterclock.jobstores.sql import namespace_of
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library import change_library_job, library_jobs

PATIENCE_SECONDS = 30
TRUSTED = ("--trust-pickle",)
APPLIED = ("--trust-pickle", "--apply")
BEGUN = Event()


class Said:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def __repr__(self) -> str:
        return f"{self.code}\n{self.out}\n{self.err}"

    @property
    def line(self) -> str:
        """One line, whatever went wrong, and no password in it."""
        lines = [line for line in self.err.splitlines() if not line.startswith("waterclock: read ")]
        assert len(lines) == 1, self
        assert "hush" not in self.err
        return lines[0]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """In a directory of its own: where the jobs' modules are not."""
    with chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def old(sqlite_url: str) -> OldStore:
    return OldStore(sqlite_url)


def bring(url: str, *more: str) -> Said:
    said = CliRunner().invoke(main, ["import", "apscheduler", url, *more])
    assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
    return Said(said.exit_code, said.stdout, said.stderr)


def kept(url: str, table: str = "apscheduler_jobs") -> dict[str, LibraryJob]:
    """What our store has."""

    async def read() -> dict[str, LibraryJob]:
        database = database_from_url(url)
        await database.open()
        try:
            found = await database.read(library_jobs, namespace=namespace_of(table))
        finally:
            await database.close()
        return {stored.job.name: stored.job for stored in found}

    return asyncio.run(read())


def declared(job: LibraryJob, serializer: str = "json") -> Declared:
    return TextKeeper(serializer_for(serializer)).declared(job)


# Without trust


def test_without_trust_rows_are_listed_and_nothing_is_unpickled(old: OldStore, tmp_path: Path) -> None:
    old.add("b", next_run_time=None)
    old.put("a", 4070919600.25, pickle.dumps(Hostile(os.mkdir, str(tmp_path / "harm"))))
    run = bring(old.url, "--apply")
    assert run.code == 2
    assert [line.split() for line in run.out.splitlines()] == [
        ["ID", "NEXT", "RUN"],
        ["a", "2099-01-01T03:00:00.250000Z"],
        ["b", "paused"],
    ]
    assert "can run any code when it is read" in run.line
    assert "--trust-pickle reads them in a child process" in run.line
    shown = json.loads(bring(old.url, "--json").out)
    assert [row["id"] for row in shown["rows"]] == ["a", "b"]
    assert not (tmp_path / "harm").exists()
    assert old.tables().isdisjoint({"jobs", "triggers"})


def test_an_empty_store_needs_no_trust(old: OldStore) -> None:
    run = bring(old.url)
    assert (run.code, run.out) == (0, "\nnothing to carry over\n")


# From and to every database


def test_jobs_are_carried_over_whole_and_a_second_time_nothing_is_done(store_url: str, tmp_path: Path) -> None:
    old = OldStore(store_url)
    old.add("nightly", args=["a", (1, NEVER_AGAIN)], kwargs={"날짜": timedelta(1)}, name="the nightly", executor="slow")
    old.add("off", next_run_time=None, misfire_grace_time=None, coalesce=False, max_instances=3)
    old.add("object", args=[object])
    before = old.rows()
    run = bring(old.url, *TRUSTED)
    assert run.code == 0, run
    assert "nightly  2099-01-01T03:00:00Z  cron[hour='3']  create" in run.out
    assert "off      paused                cron[hour='3']  create" in run.out
    assert "args[0] is of type type, which is not kept as JSON" in run.out
    assert "2 to create, 1 cannot be carried over" in run.out
    assert "1 job(s) are to run here from their next run time on: stop the program" in run.err
    assert old.tables() & {"jobs", "triggers", "schema_migrations"} == set()  # nothing was changed
    run = bring(old.url, *APPLIED)
    assert (run.code, run.err.splitlines()[-1]) == (1, "waterclock: 2 created, 1 left out"), run
    found = {name: declared(job) for name, job in kept(store_url).items()}
    assert found.keys() == {"nightly", "off"}
    job, off = found["nightly"], found["off"]
    assert (job.func, job.args, job.kwargs) == (tick, ("a", (1, NEVER_AGAIN)), {"날짜": timedelta(1)})
    assert (job.name, job.executor, job.next_run_time) == ("the nightly", "slow", NEVER_AGAIN)
    assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (1, True, 1)
    assert (off.misfire_grace_time, off.coalesce, off.max_instances, off.next_run_time) == (None, False, 3, None)
    assert "waterclock: 2 same, 1 left out\n" in bring(old.url, *APPLIED).err
    assert old.rows() == before


def test_a_store_that_apscheduler_wrote_goes_on_in_a_program_whose_imports_were_changed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.sqlite"
    theirs = SQLAlchemyJobStore(url)
    theirs.start(background.BackgroundScheduler(timezone=UTC), "default")
    hourly = IntervalTrigger(hours=1, timezone=UTC)
    due = datetime.now(UTC) - timedelta(minutes=5)
    theirs.add_job(job_of("due", func=begin, trigger=hourly, misfire_grace_time=None, next_run_time=due))
    theirs.add_job(job_of("later", func=begin, trigger=nightly(day="last"), next_run_time=None))
    theirs.shutdown()
    BEGUN.clear()
    run = bring(url, *APPLIED, "--json")
    assert (run.code, "its next run time has passed" in run.out) == (0, True), run
    ours = BackgroundScheduler(jobstores={"default": {"type": "sqlalchemy", "url": url}}, timezone=UTC)
    ours.start()
    try:
        assert BEGUN.wait(PATIENCE_SECONDS)
        assert {job.id: str(job.trigger) for job in ours.get_jobs()} == {
            "due": "interval[1:00:00]",
            "later": "cron[day='last', hour='3']",
        }
    finally:
        ours.shutdown()


def begin() -> None:
    BEGUN.set()


def test_another_table_schema_and_store_can_be_named(postgres_url: str, sqlite_url: str) -> None:
    outer = OldStore(postgres_url, table="outer_jobs")
    outer._run("CREATE SCHEMA app")
    old = OldStore(postgres_url, table='app."Jobs"')
    old.add("a")
    named = ("--schema", "app", "--table", "Jobs", "--to", sqlite_url)
    with_driver = postgres_url.replace("postgresql://", "postgresql+psycopg2://") + "?connect_timeout=3"
    assert bring(with_driver, *named, *APPLIED).code == 0
    assert kept(sqlite_url, "app.Jobs").keys() == {"a"}  # as SQLAlchemyJobStore(tableschema="app", tablename="Jobs")
    assert bring(with_driver, *named, *APPLIED, "--to-table", "apscheduler_jobs").code == 0
    assert kept(sqlite_url).keys() == {"a"}


# Repeated


def test_what_is_here_but_different_is_left_until_an_update_is_asked_for(old: OldStore) -> None:
    old.add("a")
    old.add("b", next_run_time=NEVER_AGAIN - timedelta(days=1))
    assert bring(old.url, *APPLIED).code == 0
    change_here(old.url, "a", retries=3, next_run_time=NEVER_AGAIN + timedelta(days=2))
    for name in ("a", "b"):
        old.drop(name)
    old.add("a", args=[5], max_instances=2)
    old.add("b", trigger=nightly(hour=4), next_run_time=NEVER_AGAIN - timedelta(days=2))
    run = bring(old.url, *APPLIED)
    assert run.code == 0
    assert "job 'a' left as it is: differs in arguments, max_instances" in run.err
    assert "job 'b' left as it is: differs in trigger" in run.err
    assert declared(kept(old.url)["a"]).args == ()
    assert "waterclock: 2 updated\n" in bring(old.url, *APPLIED, "--update").err
    found = {name: declared(job) for name, job in kept(old.url).items()}
    assert (found["a"].args, found["a"].max_instances) == ((5,), 2)
    assert found["a"].retries == 3  # which APScheduler does not know
    assert found["a"].next_run_time == NEVER_AGAIN + timedelta(days=2)  # what was run here is not run again
    assert found["b"].next_run_time == NEVER_AGAIN - timedelta(days=2)
    assert "waterclock: 2 same\n" in bring(old.url, *APPLIED, "--update").err


def change_here(url: str, name: str, **changes: Any) -> None:
    keeper = TextKeeper(serializer_for("json"))

    async def change() -> None:
        database = database_from_url(url)
        await database.open()
        try:
            await database.write(
                change_library_job,
                namespace="library",
                name=name,
                revise=lambda stored: keeper.kept(replace(keeper.declared(stored.job), **changes), "library"),
            )
        finally:
            await database.close()

    asyncio.run(change())


def test_where_one_was_added_in_the_meantime_none_is_written(old: OldStore, monkeypatch: pytest.MonkeyPatch) -> None:
    old.add("a")
    assert bring(old.url, *APPLIED).code == 0
    old.add("b")
    monkeypatch.setattr(Target, "here", lambda self: {})
    run = bring(old.url, *APPLIED)
    assert run.code == 1
    assert "job 'a' already exists: it was added in the meantime; nothing was written, repeat the import" in run.err
    assert kept(old.url).keys() == {"a"}


# Rows that are hostile, or cannot be read


def row(id: str, state: bytes) -> Row:
    return Row(id=id, next_at=None, state=state)


def hostile(id: str, function: Any, *args: object) -> Row:
    return row(id, pickle.dumps(Hostile(function, *args)))


def test_a_row_that_ends_its_process_or_fails_costs_itself_alone(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [
        hostile("exits", os._exit, 3),
        row("good", state_of("good")),
        hostile("prints", print, "a word"),
        hostile("reads", input),
        hostile("raises", exec, "raise SystemExit('enough')"),
        hostile("dies", os.kill, 0, signal.SIGKILL),  # its whole process group
        hostile("meddles", exec, "import os, sys; os.write(int(sys.argv[1]), b'{}\\n')"),
        row("last", state_of("last", args=[1])),
    ]
    found = {answer.row.id: answer for answer in unpickled(rows, serializer="json")}
    assert list(found) == [each.id for each in rows]
    reasons = {name: answer.reason for name, answer in found.items() if answer.reason}
    assert reasons == {
        "exits": "reading it ended its process: exit code 3",
        "prints": "it holds no job of APScheduler 3 but NoneType",
        "reads": "reading it failed: EOFError: EOF when reading a line",
        "raises": "reading it failed: SystemExit: enough",
        "dies": "reading it ended its process: signal SIGKILL",
        "meddles": "its process answered with something else",
    }
    assert found["last"].job is not None
    assert found["last"].job["arguments"] == {"args": [1], "kwargs": {}}
    said = capfd.readouterr()
    assert (said.out, "a word\n" in said.err) == ("", True)


def test_a_row_that_hangs_is_given_up_and_the_next_is_read() -> None:
    rows = [hostile("hangs", time.sleep, 2 * PATIENCE_SECONDS), row("good", state_of("good"))]
    hung, good = unpickled(rows, serializer="json", row_seconds=3)
    assert hung.reason == "reading it took longer than 3 s, and was given up"
    assert good.job is not None


def test_a_process_that_a_pickle_leaves_behind_does_not_hold_up_the_import() -> None:
    forks = hostile("forks", exec, "import os, time\nif os.fork() == 0: time.sleep(60)\nelse: os._exit(0)")
    (answer,) = unpickled([forks], serializer="json")
    assert answer.reason == "reading it ended its process: exit code 0"


def test_a_row_does_not_outlive_an_import_that_is_killed(old: OldStore, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    stays = f"import os, time; os.symlink(str(os.getpid()), {str(told)!r}); time.sleep({4 * PATIENCE_SECONDS})"
    old.put("stays", None, pickle.dumps(Hostile(exec, stays)))
    command = [sys.executable, "-m", "waterclock", "import", "apscheduler", old.url, *APPLIED]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        until(told.is_symlink, "the row is not read")
        process.kill()
    until(lambda: not alive(int(os.readlink(told))), "it goes on")


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    known = tmp_path / "gone.py"
    known.write_text("class Lost: pass\n")
    state = state_of("a").replace(b"apscheduler.triggers", b"apscheduler.trigger5")
    lost = b"\x80\x04\x8c\x04gone\x8c\x04Gone\x93."
    away = b"\x80\x04\x8c\x04away\x8c\x04Gone\x93."
    rows = [row("a", state), row("b", lost), row("c", away), row("d", state_of("d")[:50]), row("e", b"")]
    reasons = {answer.row.id: answer.reason or "" for answer in unpickled(rows, serializer="json")}
    assert reasons["a"] == "it needs the package apscheduler: install apscheduler<4 into this Python for the import"
    assert "Can't get attribute 'Gone' on <module 'gone'" in reasons["b"]
    assert reasons["c"].startswith(f"it needs the module away, which is not in {tmp_path}")
    assert "run the import where it is, or set PYTHONPATH" in reasons["c"]
    assert "pickle data was truncated" in reasons["d"]
    assert "EOFError" in reasons["e"]


def test_another_apscheduler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    four = tmp_path / "four/apscheduler-4.0.0.dist-info"
    four.mkdir(parents=True)
    (four / "METADATA").write_text("Metadata-Version: 2.1\nName: apscheduler\nVersion: 4.0.0\n")
    monkeypatch.setenv("PYTHONPATH", str(four.parent))
    (answer,) = unpickled([row("a", b"")], serializer="json")
    assert answer.reason is not None
    assert "cannot be read with APScheduler 4.0.0: install apscheduler<4" in answer.reason


def test_objects_of_the_programs_own_are_carried_by_pickle_where_asked(
    old: OldStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_in_a_test.py").write_text("class Order:\n    number = 7\n    def ship(self): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    old.add("ship", func=import_module("shop_in_a_test").Order().ship)
    old.add("plain", args=[1])
    assert "args[0] is of type shop_in_a_test.Order" in bring(old.url, *TRUSTED).out
    run = bring(old.url, *APPLIED, "--serializer", "pickle", "--json")
    assert 'only a job store with serializer="pickle" can load it' in json.loads(run.out)["steps"][1]["notes"][1]
    found = kept(old.url)
    assert declared(found["ship"], "pickle").args[0].number == 7
    assert declared(found["plain"]).args == (1,)  # JSON wherever it can be


def test_functions_are_not_imported_but_where_they_are_not_found_it_is_noted(old: OldStore, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("open('imported', 'w')")
    for name, function in (("a", "program:tick"), ("b", "away.from_here:tick"), ("c", "__main__:tick")):
        old.put(name, None, pickle.dumps({**job_of(name, misfire_grace_time=9).__getstate__(), "func": function}))
    shown = json.loads(bring(old.url, *TRUSTED, "--json").out)
    notes = {step["id"]: " ".join(step["notes"]) for step in shown["steps"]}
    assert notes["a"] == ""
    assert notes["b"].startswith(f"the module away of its function is not in {tmp_path}")
    assert "in the program's main script" in notes["c"]
    assert not (tmp_path / "imported").exists()


# Bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["oracle://ops:hush@host/x"], "URL: say which database: sqlite:///"),
        (["mysql://[ops:hush@host/x"], "URL: cannot be read"),
        (["sqlite://"], "a database in memory is gone with its process"),
        (["sqlite:///nowhere.sqlite"], "there is no file nowhere.sqlite"),
        (["mysql+pymysql://ops:hush@host:port/x"], "host and port cannot be read"),
        (["sqlite:///x", "--to", "redis://h"], "--to: say which database"),
        (["sqlite:///x", "--update"], "--update goes with --apply"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: list[str], words: str) -> None:
    run = bring(*arguments)
    assert (run.code, run.out) == (2, "")
    assert words in run.line


def test_what_is_no_store_is_told_in_one_line(store_url: str, tmp_path: Path) -> None:
    OldStore(store_url, table="jobs_of_mine")._run("ALTER TABLE jobs_of_mine DROP COLUMN job_state")
    run = bring(store_url)
    assert (run.code, "is no job store of APScheduler 3: " in run.line, "--table" in run.line) == (2, True, True)
    run = bring(store_url, "--table", "jobs_of_mine")
    assert (run.code, "job_state" in run.line) == (2, True)


def test_a_database_that_does_not_answer_or_let_us_in_is_told_without_the_password(
    mariadb_url: str, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bring(mariadb_url.replace(":clock@", ":hush@"))
    assert (run.code, "does not let us in: Access denied" in run.line) == (2, True)
    OldStore(mariadb_url)
    monkeypatch.setenv("MYSQL_PWD", "clock")
    assert bring(mariadb_url.replace(":clock@", "@")).code == 0
    run = bring("postgresql://ops:hush@127.0.0.1:1/x")
    assert (run.code, "nothing answers at postgresql://ops@127.0.0.1:1/x" in run.line) == (1, True)
    run = bring(postgres_url.rpartition("/")[0] + "/nobody")
    assert (run.code, '"nobody" does not exist' in run.line) == (2, True)
    (tmp_path / "text.sqlite").write_text("no database at all, but a text that is long enough to be read as one" * 20)
    run = bring("sqlite:///text.sqlite")
    assert (run.code, "file is not a database" in run.line) == (1, True)
