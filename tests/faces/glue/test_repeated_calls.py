"""Starts as SDKs repeat them: the answer is lost on its way, and there is one run all the same (RELIABILITY 12)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import orjson
import pytest
from botocore.config import Config

from tests.faces.glue.calls import make_job, states_of
from tests.faces.http.raw import Answer, request, sign
from tests.faces.http.served import DEADLINE, Account, Served
from tests.stores.proxy import Proxy
from waterclock.domain.access import Role
from waterclock.domain.rules import GUARDED
from waterclock.services.access import NewKey

INVOCATION = "9e6ff1b6-4ab2-4c5e-8a3e-2a1c8f1f6a6e"


@pytest.fixture
def on_any_store(tmp_path: Path, store_url: str) -> Iterator[Account]:
    with Served(tmp_path, GUARDED, url=store_url) as served:
        yield served.account()


@pytest.fixture
def losing(on_any_store: Account) -> Iterator[Proxy]:
    """The way to the server, on which the first answer to a start is lost."""
    served = on_any_store.served
    proxy = Proxy(served.port)
    proxy.losing = lambda data: b"AWSGlue.Start" in data and not proxy.lost.is_set()
    served.run(proxy.open())
    yield proxy
    served.run(proxy.close())


def client_through(proxy: Proxy, key: NewKey) -> Any:
    return boto3.client(
        "glue",
        endpoint_url=f"http://127.0.0.1:{proxy.port}",
        region_name="us-east-1",
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
        config=Config(retries={"total_max_attempts": 3, "mode": "standard"}, read_timeout=DEADLINE),
    )


def start(account: Account, key: NewKey, *, invocation: str | None = INVOCATION, job: str = "job") -> Answer:
    """Signed as SDKs do: the invocation id is sent, but not signed."""
    body = orjson.dumps({"JobName": job, "Arguments": {"--a": "1"}})
    headers = sign(account.served, key, body, {"X-Amz-Target": "AWSGlue.StartJobRun"})
    named = {} if invocation is None else {"amz-sdk-invocation-id": invocation}
    return request(account.served, "POST", headers={**headers, **named}, body=body)


def test_a_retry_after_a_lost_answer_makes_no_second_run(on_any_store: Account, losing: Proxy) -> None:
    glue = client_through(losing, on_any_store.key())
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 10})
    answer = glue.start_job_run(JobName="job")
    assert losing.lost.is_set()
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1
    assert [run["Id"] for run in glue.get_job_runs(JobName="job")["JobRuns"]] == [answer["JobRunId"]]


def test_a_workflow_too_is_started_once(on_any_store: Account, losing: Proxy) -> None:
    glue = client_through(losing, on_any_store.key())
    glue.create_workflow(Name="flow")
    answer = glue.start_workflow_run(Name="flow")
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1
    assert [run["WorkflowRunId"] for run in glue.get_workflow_runs(Name="flow")["Runs"]] == [answer["RunId"]]


@pytest.mark.parametrize("kind", [{"Type": "ON_DEMAND"}, {"Type": "SCHEDULED", "Schedule": "rate(1 day)"}])
def test_a_trigger_too_is_started_once(on_any_store: Account, losing: Proxy, kind: dict[str, str]) -> None:
    glue = client_through(losing, on_any_store.key())
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 10})
    glue.create_trigger(Name="trigger", Actions=[{"JobName": "job"}], **kind)
    assert glue.start_trigger(Name="trigger")["ResponseMetadata"]["RetryAttempts"] == 1
    assert len(glue.get_job_runs(JobName="job")["JobRuns"]) == int(kind["Type"] == "ON_DEMAND")


def test_copies_of_one_call_at_the_same_time_make_one_run(on_any_store: Account) -> None:
    glue, key = on_any_store.client(), on_any_store.key()
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 10})
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: start(on_any_store, key), range(8)))
    assert [answer.status for answer in answers] == [200] * 8
    assert len({answer.body["JobRunId"] for answer in answers}) == 1
    assert states_of(glue) == ["STARTING"]


def test_a_refused_call_leaves_nothing_and_its_retry_is_a_new_try(account: Account) -> None:
    glue, key = account.client(), account.key()
    make_job(glue)
    first = start(account, key, invocation="first").body["JobRunId"]
    refusal = start(account, key)
    assert (refusal.status, refusal.body["__type"]) == (400, "ConcurrentRunsExceededException")
    account.served.end(first)
    assert start(account, key).status == 200


@pytest.mark.parametrize("invocation", [None, ""])
def test_calls_without_an_invocation_id_are_all_different(account: Account, invocation: str | None) -> None:
    glue, key = account.client(), account.key()
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 10})
    assert start(account, key, invocation=invocation).body != start(account, key, invocation=invocation).body


def test_the_same_id_with_another_body_or_another_key_is_another_call(account: Account) -> None:
    glue, key = account.client(), account.key()
    for job in ("job", "other"):
        make_job(glue, job, ExecutionProperty={"MaxConcurrentRuns": 10})
    calls = [start(account, key), start(account, key, job="other"), start(account, account.key(Role.OPERATOR))]
    assert len({answer.body["JobRunId"] for answer in calls}) == 3
    assert start(account, key).body == calls[0].body


def test_two_calls_of_one_client_are_two_runs(glue: Any) -> None:
    make_job(glue, ExecutionProperty={"MaxConcurrentRuns": 10})
    assert glue.start_job_run(JobName="job")["JobRunId"] != glue.start_job_run(JobName="job")["JobRunId"]


def test_without_authentication_a_repeated_call_is_known_by_its_id_alone(tmp_path: Path) -> None:
    with Served(tmp_path, GUARDED, auth=False) as served:
        account, anybody = Account(served=served, org_id=1, number="123456789012"), NewKey(id="any", secret="any")
        make_job(served.client(anybody), ExecutionProperty={"MaxConcurrentRuns": 10})
        assert start(account, anybody).body == start(account, NewKey(id="other", secret="other")).body
