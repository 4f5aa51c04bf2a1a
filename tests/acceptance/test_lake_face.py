"""The lake face on `waterclock up`: the seed's requests as they are written, while its scheduler and its worker run."""

from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server import Server, running, until
from tests.faces.lake.seed import SeedCall, calls

ENDED = {"Finished", "Error", "Killed"}


def client(server: Server) -> httpx.Client:
    token = (server.data / "token").read_text().strip()
    return httpx.Client(base_url=server.address, headers={"authorization": f"Bearer {token}"}, timeout=20)


def ended(http: httpx.Client, job_id: int) -> Any:
    """Its status, once it has run."""

    def found() -> Any:
        status = http.get(f"/lake/job/{job_id}/status").json()
        return status if status["current_sync_status"] in ENDED else None

    return until(found, f"job {job_id} never ended")


def history(http: httpx.Client, job_id: int) -> list[Any]:
    return list(http.post("/lake/history/list", json={"job_id": job_id}).json()["data"])


def names(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: names(each) for name, each in value.items()}
    return [names(each) for each in value] if isinstance(value, list) else None


def test_the_seed_is_served_and_a_job_of_inline_code_runs(tmp_path: Path) -> None:
    with running(tmp_path) as server, client(server) as http:
        job_id = _replayed(http, calls())
        assert [run["job_status"] for run in history(http, job_id)] == ["Error"]
        job = {"class_name": "python_job", "display_name": "hello", "code": "print('hello from the lake')"}
        made = http.post("/lake/job/create", json={"job": job}).json()["job"]
        started = http.put(f"/lake/schedule/job/{made['job_id']}/now", json={}).json()
        assert ended(http, made["job_id"])["current_sync_status"] == "Finished", server.errors()
        (run,) = history(http, made["job_id"])
        assert (run["run_id"], run["job_status"]) == (started["run_id"], "Finished")
        log = http.get(f"/api/v1/runs/{run['log_id']}/log").json()["text"]
        assert "hello from the lake" in log


def _replayed(http: httpx.Client, sent: list[SeedCall]) -> int:
    """The seed's jobs run at once, and fail: only then may they be changed. The number of the first of them."""
    first = job_id = 0
    for call in sent:
        answer = http.request(call.method, call.path(job_id), json=call.request)
        assert answer.status_code == 200, (call.title, answer.text)
        assert names(answer.json()) == names(call.answer), call.title
        if call.url.endswith("/create"):
            job_id = answer.json()["job"]["job_id"]
            first = first or job_id
            assert ended(http, job_id)["current_sync_status"] == "Error"
            (run,) = history(http, job_id)
            assert run["message"], call.title
    return first
