"""The calls of workers of others over HTTP, as a program that knows nothing but these three makes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served, served
from tests.faces.lake.samples import SQL, made, refused, started
from waterclock.domain.access import Role

NEXT, REPORT, PROGRESS = (f"/lake/schedule/job/{name}" for name in ("next", "report", "progress"))
NOTHING = {"has_job": False, "data": None}


@asynccontextmanager
async def worker_of(
    server: Served, user: str = "rack", *, role: Role = Role.WORKER, org_id: int = 1
) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {await server.token_of(user, role, org_id=org_id)}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


@pytest.fixture
async def worker(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with worker_of(server) as client:
        yield client


async def asked(worker: httpx.AsyncClient, wait: float = 0) -> Any:
    answer = await worker.get(NEXT, params={"wait": wait})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def told(worker: httpx.AsyncClient, run_id: int, status: str, **more: Any) -> Any:
    answer = await worker.post(REPORT, json={"run_id": run_id, "job_status": status, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_worker_gets_a_run_reports_it_and_ends_it(lake: httpx.AsyncClient, worker: httpx.AsyncClient) -> None:
    job = await made(lake, SQL, queue="lake")
    assert await asked(worker) == NOTHING
    run_id = await started(lake, job["job_id"])
    offered = await asked(worker)
    assert (offered["has_job"], offered["data"]["run_id"], offered["data"]["attempt"]) == (True, run_id, 0)
    shown = (await lake.get(f"/lake/job/{job['job_id']}")).json()["job"]
    assert offered["data"]["job"] == shown
    whole = {"job_id": job["job_id"], "message": "", "total_sync_record": 5, "total_execution_time": 70}
    assert await told(worker, run_id, "Compiling", **whole, updated_time=1_639_113_936_764, more="ignored") == {
        "success": True
    }
    (live,) = (await worker.get(PROGRESS)).json()["data"]
    assert (live["run_id"], live["job_status"], live["progress"]) == (
        run_id,
        "Compiling",
        {"rows_written": 5, "execution_ms": 70},
    )
    assert (await lake.get(PROGRESS)).json()["total"] == 1
    assert await told(worker, run_id, "Finished", total_sync_record=9) == {"success": True}
    (run,) = (await lake.post("/lake/history/list", json={"job_id": job["job_id"]})).json()["data"]
    assert (run["job_status"], run["stats"]) == ("Finished", {"rows_written": 9, "execution_ms": 70})
    assert (await worker.get(PROGRESS)).json() == {"data": [], "total": 0}


async def test_who_waits_is_answered_when_there_is_a_run(lake: httpx.AsyncClient, worker: httpx.AsyncClient) -> None:
    job = await made(lake, SQL, queue="lake")
    waiting = asyncio.create_task(asked(worker, 20))
    async with asyncio.timeout(PATIENCE_SECONDS / 2):  # sooner than it would be answered anyway
        while (await lake.get("/api/v1/nodes")).json()["items"] == []:
            await asyncio.sleep(0.02)
        run_id = await started(lake, job["job_id"])
        assert (await waiting)["data"]["run_id"] == run_id


async def test_nothing_is_offered_to_a_question_that_was_given_up(
    server: Served, lake: httpx.AsyncClient, worker: httpx.AsyncClient
) -> None:
    job = await made(lake, SQL, queue="lake")
    headers = {"authorization": worker.headers["authorization"]}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as impatient:
        given_up = asyncio.create_task(asked(impatient, 20))
        while (await lake.get("/api/v1/nodes")).json()["items"] == []:
            await asyncio.sleep(0.02)
        given_up.cancel()
    run_id = await started(lake, job["job_id"])
    async with asyncio.timeout(PATIENCE_SECONDS / 2):  # sooner than an offer is made again
        assert (await asked(worker, 20))["data"]["run_id"] == run_id


async def test_a_server_that_is_to_stop_keeps_no_worker_waiting(tmp_path: Any) -> None:
    stopping = asyncio.Event()
    async with served(tmp_path, stopping=stopping) as server, worker_of(server) as worker:
        waiting = asyncio.create_task(asked(worker, 20))
        await asyncio.sleep(0)
        stopping.set()
        async with asyncio.timeout(PATIENCE_SECONDS / 2):
            assert await waiting == NOTHING


async def test_a_kill_and_a_late_report_are_told_in_the_answer(
    lake: httpx.AsyncClient, worker: httpx.AsyncClient
) -> None:
    job = await made(lake, SQL, queue="lake")
    run_id = await started(lake, job["job_id"])
    await asked(worker)
    await told(worker, run_id, "Running")
    assert (await lake.put(f"/lake/schedule/job/{job['job_id']}/kill")).json() == {"success": True}
    assert await told(worker, run_id, "Running") == {"success": True, "kill": True}
    assert await told(worker, run_id, "Killed") == {"success": True}
    assert await told(worker, run_id, "Killed") == {"success": True}
    late = await told(worker, run_id, "Running")
    assert (late["success"], late["kill"], late["job_status"]) == (False, True, "Killed")
    assert f"run {run_id} is over: Killed" in late["message"]
    status = (await lake.get(f"/lake/job/{job['job_id']}/status")).json()
    assert status["current_sync_status"] == "Killed"


async def test_two_workers_share_the_runs_and_touch_only_their_own(
    server: Served, lake: httpx.AsyncClient, worker: httpx.AsyncClient
) -> None:
    jobs = [await made(lake, SQL, queue="lake", display_name=f"job {number}") for number in range(2)]
    runs = {await started(lake, job["job_id"]) for job in jobs}
    elsewhere = await server.other_organisation()
    async with (
        worker_of(server, "barn") as other,
        worker_of(server, "far", org_id=elsewhere) as stranger,
    ):
        found = await asyncio.gather(asked(worker), asked(other), asked(stranger))
        assert found[2] == NOTHING
        mine, theirs = (each["data"]["run_id"] for each in found[:2])
        assert {mine, theirs} == runs
        for nobody in (worker, stranger):
            answer = await nobody.post(REPORT, json={"run_id": theirs, "job_status": "Finished"})
            assert f"run {theirs} not found" in refused(answer, 404, "not_found")
        assert (await stranger.get(PROGRESS)).json()["total"] == 0


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"job_status": "Running"}, "run_id: is required"),
    ({"run_id": 1}, "job_status: is required"),
    ({"run_id": "1", "job_status": "Running"}, "run_id: must be a whole number"),
    ({"run_id": 1, "job_status": "Initialized"}, "must be one of Queued, Compiling, Running, Finished, Error, Killed"),
    ({"run_id": 1, "job_status": "Running", "total_sync_record": -1}, "total_sync_record: must be a whole number"),
    ({"run_id": 1, "job_status": "Running", "message": 5}, "message: must be text"),
)


async def test_what_is_wrong_is_refused_in_the_shape_of_the_face(server: Served, worker: httpx.AsyncClient) -> None:
    for body, words in WRONG:
        assert words in refused(await worker.post(REPORT, json=body))
    for wait in ("-1", "31", "soon"):
        assert "wait: must be a number, 0 to 30" in refused(await worker.get(NEXT, params={"wait": wait}))
    async with worker_of(server, "ann", role=Role.ADMIN) as admin:
        refused(await admin.get(NEXT, params={"wait": 0}), 403, "forbidden")
        refused(await admin.post(REPORT, json={"run_id": 1, "job_status": "Running"}), 403, "forbidden")
    async with httpx.AsyncClient(base_url=server.url) as nobody:
        refused(await nobody.get(NEXT), 401, "unauthenticated")
