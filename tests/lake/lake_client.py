"""The lake face of a running server, as a test speaks to it."""

import itertools
from typing import Any, Final

import httpx

from tests.acceptance.server import Server, until

ENDED: Final = frozenset({"Finished", "Error", "Killed"})
PATIENCE_SECONDS: Final = 120.0


class LakeClient:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx.Client(base_url=server.address, timeout=20)

    def close(self) -> None:
        self._http.close()

    def create(self, class_name: str, **task: Any) -> int:
        """A job that runs only when it is told to."""
        job = {
            "class_name": class_name,
            "display_name": "test",
            "job_type": class_name.removesuffix("_job").capitalize(),
            "schedule_time": {"class_name": "none_schedule"},
            **task,
        }
        return int(self._call("POST", "/lake/job/create", {"job": job})["job"]["job_id"])

    def table(self, name: str, kind: str, path: str) -> None:
        self._call("POST", "/lake/table/create", {"name": name, "format": kind, "path": path})

    def source(self, name: str, kind: str, **config: Any) -> None:
        self._call("POST", "/lake/source/create", {"name": name, "kind": kind, "config": config})

    def start(self, job_id: int) -> int:
        return int(self._call("PUT", f"/lake/schedule/job/{job_id}/now", {})["run_id"])

    def kill(self, job_id: int) -> None:
        assert self._call("PUT", f"/lake/schedule/job/{job_id}/kill", {}) == {"success": True}

    def status(self, job_id: int) -> dict[str, Any]:
        return self._call("GET", f"/lake/job/{job_id}/status")

    def until(self, job_id: int, *wanted: str) -> list[str]:
        """The statuses that were seen on the way, each once, up to one that is wanted."""
        seen: list[str] = []

        def reached() -> bool:
            seen.append(self.status(job_id)["current_sync_status"])
            assert seen[-1] in wanted or seen[-1] not in ENDED, self.last(job_id)
            return seen[-1] in wanted

        until(reached, f"job {job_id} is not {wanted}", PATIENCE_SECONDS, pause=0.1)
        return [status for status, _ in itertools.groupby(seen)]

    def ended(self, job_id: int) -> dict[str, Any]:
        """Its newest run, once it has ended."""
        self.until(job_id, *ENDED)
        return self.last(job_id)

    def run(self, job_id: int) -> dict[str, Any]:
        run_id = self.start(job_id)
        ended = self.ended(job_id)
        assert ended["run_id"] == run_id
        return ended

    def last(self, job_id: int) -> dict[str, Any]:
        found = self._call("POST", "/lake/history/list", {"job_id": job_id, "from": 0, "size": 100})["data"]
        return max((run for run in found if run["job_id"] == job_id), key=lambda run: int(run["run_id"]))

    def log(self) -> str:
        """Of the program that wrote last."""
        logs = [path for path in (self._server.data / "logs").rglob("*") if path.is_file()]
        return max(logs, key=lambda path: path.stat().st_mtime_ns).read_text()

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._http.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found
