"""Lake jobs run by hand: started, followed by their status and history, killed; also by way of /api/v1."""

from typing import Any

import httpx

from tests.faces.api.serving import Served
from tests.faces.lake.samples import ONCE_LATER, PYTHON, SQL, made, refused, started
from waterclock.domain.run import RunState


async def status(lake: httpx.AsyncClient, job_id: int) -> Any:
    answer = await lake.get(f"/lake/job/{job_id}/status")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def history(lake: httpx.AsyncClient, **asked: Any) -> list[Any]:
    answer = await lake.post("/lake/history/list", json=asked)
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["data", "total"]
    return list(answer.json()["data"])


async def test_a_run_is_told_from_its_start_to_its_end(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake, SQL, last_run_time=100)
    before = await status(lake, job["job_id"])
    assert before == {
        "job_id": job["job_id"],
        "current_sync_status": "Initialized",
        "last_sync_status": "Initialized",
        "last_run_time": 100,
        "next_run_time": None,
        "run_id": None,
        "progress": {},
    }
    run_id = await started(lake, job["job_id"])
    queued = await status(lake, job["job_id"])
    assert (queued["run_id"], queued["current_sync_status"], queued["last_sync_status"]) == (
        run_id,
        "Queued",
        "Initialized",
    )
    assert queued["last_run_time"] > 1_600_000_000_000
    held = await server.hand.begin()
    assert (await status(lake, job["job_id"]))["current_sync_status"] == "Running"
    await held.end(RunState.FAILED, exit_code=1, message="git_url: no such host")
    ended = await status(lake, job["job_id"])
    assert (ended["current_sync_status"], ended["last_sync_status"], ended["run_id"]) == ("Error", "Error", run_id)
    (run,) = await history(lake)
    assert list(run) == [
        *("run_id", "job_id", "job_name", "job_type", "start_time", "end_time", "updated_time", "job_status"),
        *("message", "stats", "log_id"),
    ]
    assert (run["run_id"], run["job_id"], run["job_name"], run["job_type"]) == (
        run_id,
        job["job_id"],
        "orders of today",
        "Sql",
    )
    assert (run["job_status"], run["message"], run["stats"]) == ("Error", "git_url: no such host", {})
    assert run["start_time"] <= run["end_time"] <= run["updated_time"]


async def test_one_run_at_a_time(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake)
    await started(lake, job["job_id"])
    again = await lake.put(f"/lake/schedule/job/{job['job_id']}/now", json={"mode": "Once"})
    assert "concurrent" in refused(again, reason="not_allowed")
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    second = await started(lake, job["job_id"])
    runs = await history(lake, job_id=job["job_id"])
    assert [(run["run_id"] == second, run["job_status"]) for run in runs] == [(True, "Queued"), (False, "Finished")]
    assert runs[0]["start_time"] is runs[0]["end_time"] is None


async def test_a_call_that_is_repeated_with_its_key_is_one_run(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake)
    now, key = f"/lake/schedule/job/{job['job_id']}/now", {"idempotency-key": "a lost answer"}
    first = await lake.put(now, headers=key)
    assert first.json() == (await lake.put(now, headers=key)).json()
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    assert first.json() == (await lake.put(now, headers=key)).json()
    assert len(await history(lake)) == 1
    other = await lake.put(now, headers={"idempotency-key": "another call"})
    assert other.json()["run_id"] != first.json()["run_id"]
    long = await lake.put(now, headers={"idempotency-key": "x" * 256})
    assert "idempotency-key: must have 1 to 255 characters" in refused(long)


async def test_killing_says_whether_there_was_something_to_kill(lake: httpx.AsyncClient) -> None:
    job = await made(lake)
    kill = f"/lake/schedule/job/{job['job_id']}/kill"
    assert (await lake.put(kill)).json() == {"success": False}
    await started(lake, job["job_id"])
    assert (await lake.put(kill, json={})).json() == {"success": True}
    assert (await status(lake, job["job_id"]))["current_sync_status"] == "Killed"
    assert (await lake.put(kill)).json() == {"success": False}


async def test_a_run_by_hand_leaves_the_schedule_as_it_is(lake: httpx.AsyncClient) -> None:
    job = await made(lake, schedule_time=ONCE_LATER)
    await started(lake, job["job_id"])
    assert (await status(lake, job["job_id"]))["next_run_time"] == ONCE_LATER["start_time"]


async def test_what_is_wrong_with_a_run_by_hand_is_named(lake: httpx.AsyncClient) -> None:
    job = await made(lake)
    now = f"/lake/schedule/job/{job['job_id']}/now"
    for sent, message in (
        ({"at_time": -1}, "at_time: must be a whole number"),
        ({"at_time": "soon"}, "at_time: must be a whole number"),
        ({"mode": "Twice"}, "mode: must be one of Once, Continuous"),
    ):
        assert message in refused(await lake.put(now, json=sent))
    assert await history(lake) == []
    answer = await lake.put(now, json={"at_time": 1, "mode": "Continuous", "more": 1})
    assert answer.json()["success"] is True


async def test_history_is_searched_sorted_and_kept_after_its_job(lake: httpx.AsyncClient, server: Served) -> None:
    jobs = [await made(lake, display_name=name) for name in ("alpha", "beta")]
    for job in jobs:
        await started(lake, job["job_id"])
        await (await server.hand.begin()).end(RunState.SUCCEEDED)
    assert (await lake.delete(f"/lake/job/{jobs[0]['job_id']}")).status_code == 200
    assert [run["job_name"] for run in await history(lake)] == ["beta", "alpha"]
    assert [run["job_name"] for run in await history(lake, keyword="alp")] == ["alpha"]
    assert [run["job_name"] for run in await history(lake, sorts=[{"field": "run_id"}])] == ["alpha", "beta"]
    assert [run["job_name"] for run in await history(lake, job_id=jobs[1]["job_id"], size=5)] == ["beta"]
    refused(await lake.post("/lake/history/list", json={"job_id": 10**9}), 404, "not_found")


async def test_the_log_of_a_run_is_read_by_way_of_the_api(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake)
    await started(lake, job["job_id"])
    held = await server.hand.begin()
    held.write(b"hello\n")
    await held.end(RunState.SUCCEEDED)
    (run,) = await history(lake)
    assert (await server.client.get(f"/runs/{run['log_id']}/log")).json()["text"] == "hello\n"


async def test_the_api_starts_and_stops_runs_of_lake_jobs(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake)
    name = str(job["job_id"])
    begun = await server.client.post("/runs", json={"job": name, "namespace": "lake"})
    assert begun.status_code == 201, begun.text
    (run,) = await history(lake)
    assert (run["log_id"], run["job_status"]) == (begun.json()["id"], "Queued")
    again = await server.client.post("/runs", json={"job": name, "namespace": "lake"})
    assert again.json()["error"]["type"] == "concurrent_runs_exceeded"
    assert (await server.client.post(f"/runs/{run['log_id']}/stop")).status_code == 202
    assert (await status(lake, job["job_id"]))["current_sync_status"] == "Killed"


async def test_the_api_changes_nothing_behind_the_lakes_back(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake, schedule_time=ONCE_LATER)
    name = str(job["job_id"])
    for method, path, sent in (
        ("DELETE", f"/jobs/{name}?namespace=lake", None),
        ("PUT", f"/jobs/{name}?namespace=lake", {"kind": "python"}),
        ("DELETE", f"/triggers/{name}?namespace=lake", None),
        ("PUT", f"/triggers/{name}?namespace=lake", {"actions": [{"job": "x"}]}),
        ("POST", f"/triggers/{name}/start?namespace=lake", None),
        ("POST", f"/triggers/{name}/stop?namespace=lake", None),
    ):
        answer = await server.client.request(method, path, json=sent)
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "not_allowed"), (method, path)
        assert "lake" in answer.json()["error"]["message"]
    assert (await lake.get(f"/lake/job/{name}")).json() == {"job": job}
    shown = (await server.client.get(f"/jobs/{name}?namespace=lake")).json()
    assert (shown["kind"], shown["max_concurrent"], shown["owner"]) == ("python_job", 1, "admin")
    assert [each["name"] for each in (await server.client.get("/triggers?namespace=lake")).json()["items"]] == [name]


async def test_neither_a_job_of_the_api_nor_its_number_is_one_of_the_lake(
    lake: httpx.AsyncClient, server: Served
) -> None:
    other = (await server.client.post("/jobs", json={"name": "mine", "kind": "python"})).json()
    for method, path in (("GET", "job/{}"), ("DELETE", "job/{}"), ("PUT", "schedule/job/{}/now")):
        refused(await lake.request(method, f"/lake/{path.format(other['id'])}"), 404, "not_found")
    refused(await lake.put(f"/lake/job/{other['id']}", json={"job": PYTHON}), 404, "not_found")
