"""Every face of the API, asked again and again while something is wrong: what it answered, and after how long."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError

from tests.chaos.cluster import Cluster
from waterclock import clock

OK, LOST = 200, 0  # LOST: no answer came back
PATIENCE_SECONDS = 30.0
OF_RUNS = {"Glue's runs": 400, "/api/v1/runs": 404}  # asked for one that is not there
MANY = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    face: str
    at: float  # by the monotonic clock
    seconds: float
    status: int

    @property
    def is_ok(self) -> bool:
        """The store was asked, and answered."""
        return self.status == OF_RUNS.get(self.face, OK)


class Faces:
    """`calls` ask one question of each; nothing that they ask for changes anything."""

    def __init__(self, cluster: Cluster) -> None:
        headers = {"authorization": f"Bearer {cluster.token}"}
        self._http = httpx.Client(
            base_url=cluster.address, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False, limits=httpx.Limits()
        )
        self._glue = cluster.glue(retries=1)
        self.asked: list[Asked] = []
        self._enough = threading.Event()

    @property
    def calls(self) -> Mapping[str, Callable[[], int]]:
        return {
            "Glue": lambda: _of_glue(self._glue.get_jobs),
            "Glue's runs": lambda: _of_glue(lambda: self._glue.get_job_run(JobName="none", RunId="jr_none")),
            "/api/v1": lambda: self._get("/api/v1/jobs"),
            "/api/v1/runs": lambda: self._get("/api/v1/runs/jr_none"),
            "/chains": lambda: self._get("/chains"),
            "/readyz": lambda: self._get("/readyz"),
        }

    def ask(self, face: str) -> Asked:
        at = clock.monotonic()
        status = self.calls[face]()
        found = Asked(face=face, at=at, seconds=clock.monotonic() - at, status=status)
        self.asked.append(found)
        return found

    def ask_on(self, face: str, pause_seconds: float) -> None:
        while not self._enough.wait(pause_seconds):
            self.ask(face)

    def stop(self) -> None:
        self._enough.set()

    def _get(self, path: str) -> int:
        try:
            return self._http.get(path).status_code
        except httpx.HTTPError:
            return LOST


def _of_glue(call: Callable[[], Any]) -> int:
    try:
        return int(call()["ResponseMetadata"]["HTTPStatusCode"])
    except ClientError as refused:
        return int(refused.response["ResponseMetadata"]["HTTPStatusCode"])
    except BotoCoreError:
        return LOST


@contextmanager
def asking(cluster: Cluster) -> Iterator[Faces]:
    """Some clients of each face, out of step with each other; most of what is asked for most often, single runs.

    All of them together hold fewer connections to the store than a process has: nobody fails for want of one.
    """
    faces = Faces(cluster)
    threads = [
        threading.Thread(target=faces.ask_on, args=(face, 0.11 * (number + 1)))
        for face in faces.calls
        for number in range(MANY if face in OF_RUNS else 1)
    ]
    for thread in threads:
        thread.start()
    try:
        yield faces
    finally:
        faces.stop()
        for thread in threads:
            thread.join()
