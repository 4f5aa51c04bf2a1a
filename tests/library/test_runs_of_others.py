"""A queue is a name that others may use, too: what is no job of the library fails by itself, with words."""

import asyncio
import threading
from pathlib import Path

from waterclock.domain.job import JobSpec
from waterclock.domain.library import NAMESPACE, ORGANISATION, queue_of
from waterclock.domain.run import Attempt, RunState
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.stores import database_from_url
from waterclock.stores.ops import reading, starting
from waterclock.stores.ops.jobs import create_job

TURNS = 600


async def started(url: str) -> str:
    """A run of a server's job, which names the queue of a program's executor."""
    database = database_from_url(url)
    await database.open()
    await database.migrate()
    spec = JobSpec(kind="python", script="/srv/job.py", queue=queue_of(NAMESPACE, "default"))
    await database.write(
        create_job,
        org_id=ORGANISATION,
        namespace="api",
        name="job",
        owner="ann",
        spec=spec,
        definition={},
        tags={},
    )
    request = starting.RunRequest(job_name="job")
    (run,) = await database.write(
        starting.start_runs, org_id=ORGANISATION, namespace="api", requested_by="ann", requests=[request]
    )
    await database.close()
    return run.wire_id


async def attempt_of(url: str, wire_id: str) -> Attempt:
    database = database_from_url(url)
    await database.open()
    found = await database.read(reading.get_attempt, org_id=ORGANISATION, wire_id=wire_id)
    await database.close()
    assert found is not None
    return found


def test_a_servers_run_in_a_programs_queue_fails_and_says_why(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.sqlite"
    wire_id = asyncio.run(started(url))
    scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore(url=url)})
    scheduler.start()
    pause = threading.Event()
    for _ in range(TURNS):
        if asyncio.run(attempt_of(url, wire_id)).ended:
            break
        pause.wait(0.05)
    scheduler.shutdown()
    attempt = asyncio.run(attempt_of(url, wire_id))
    assert attempt.state is RunState.FAILED
    assert "no job of the library" in (attempt.message or "")
