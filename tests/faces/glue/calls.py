"""Short words for calls that many tests make."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.faces.http.served import SCRIPT


def make_job(client: Any, name: str = "job", **more: Any) -> str:
    client.create_job(**{"Name": name, "Role": "role", "Command": SCRIPT, **more})
    return name


def make_trigger(client: Any, name: str = "trigger", *, jobs: tuple[str, ...] = ("job",), **more: Any) -> str:
    actions = [{"JobName": job} for job in jobs]
    client.create_trigger(**{"Name": name, "Type": "ON_DEMAND", "Actions": actions, **more})
    return name


def state_of(client: Any, run_id: str, job: str = "job") -> str:
    return str(client.get_job_run(JobName=job, RunId=run_id)["JobRun"]["JobRunState"])


def states_of(client: Any, job: str = "job") -> list[str]:
    """Newest first."""
    return [run["JobRunState"] for run in client.get_job_runs(JobName=job)["JobRuns"]]


@contextmanager
def refused(code: str, match: str | None = None) -> Iterator[None]:
    with pytest.raises(ClientError, match=match) as caught:
        yield
    assert caught.value.response["Error"]["Code"] == code, caught.value
