"""A web application with a scheduler inside: its jobs are kept in SQLite, and outlive the server.

    python examples/library/web_app.py [port]
    curl 127.0.0.1:8000/jobs
    curl 127.0.0.1:8000/jobs -d '{"task": "refresh", "seconds": 2, "arguments": {"table": "orders"}}'

The database is `web_app.sqlite` in the working directory, or what WATERCLOCK_URL says. With a PostgreSQL in its place
the application may run in several processes, and every job still runs once. Ctrl-C ends it.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from waterclock.job import Job
from waterclock.schedulers.asyncio import AsyncIOScheduler

scheduler = AsyncIOScheduler()


async def refresh(table: str = "orders") -> str:
    """A coroutine function: it runs in the application's own event loop."""
    await asyncio.sleep(0.1)
    return f"{table} is fresh"


def count(upto: int = 1_000) -> int:
    """A plain function: it runs in a thread, and the application goes on answering."""
    return sum(range(upto))


TASKS = {"refresh": refresh, "count": count}  # what may be asked for: never call what a client names


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    url = os.environ.get("WATERCLOCK_URL", "sqlite:///web_app.sqlite")
    scheduler.configure(jobstores={"default": {"type": "sql", "url": url}}, timezone="UTC")
    await scheduler.aio.start()
    await scheduler.aio.add_job(refresh, "cron", minute="*/5", id="every five minutes", replace_existing=True)
    yield
    await scheduler.aio.shutdown()  # waits for what runs


async def list_jobs(request: Request) -> JSONResponse:
    return JSONResponse([await asyncio.to_thread(shown, job) for job in await scheduler.aio.get_jobs()])


async def add_job(request: Request) -> JSONResponse:
    try:
        asked = await request.json()
        job = await scheduler.aio.add_job(
            TASKS[asked["task"]], "interval", seconds=asked["seconds"], kwargs=asked.get("arguments", {})
        )
    except (KeyError, TypeError, ValueError) as problem:
        return JSONResponse({"error": f"{type(problem).__name__}: {problem}"}, 400)
    return JSONResponse(await asyncio.to_thread(shown, job), 201)


def shown(job: Job) -> dict[str, Any]:
    """Reads the job's history from the database: not for the event loop's thread."""
    return {
        "id": job.id,
        "task": job.name,
        "trigger": str(job.trigger),
        "next_run_time": job.next_run_time and job.next_run_time.isoformat(),
        "runs": [
            {"at": run.scheduled_run_time.isoformat(), "state": run.state, "result": run.result, "message": run.message}
            for run in job.runs(limit=5)
        ],
    }


app = Starlette(
    routes=[Route("/jobs", list_jobs, methods=["GET"]), Route("/jobs", add_job, methods=["POST"])], lifespan=lifespan
)

if __name__ == "__main__":
    # By its name, not as the object: the functions above are then `web_app:refresh` for whoever runs them, not
    # `__main__:refresh`, which is something else in every program.
    uvicorn.run("web_app:app", port=int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
