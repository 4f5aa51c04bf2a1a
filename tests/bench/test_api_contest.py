"""The pieces of W7: what is sent, what the bare stub answers, and what is asked of whom."""

import argparse
import json

import httpx
import pytest

from bench import api
from bench.contest.contestant import LIMIT, PEER, US
from bench.glue import calls
from bench.limits.stub import app

GIVEN = argparse.Namespace(stores="postgres,sqlite", processes=1, connections=8, seconds=None, quick=False)


def test_each_action_is_a_contest_of_ours_moto_and_the_stub() -> None:
    found = api.contests(GIVEN)
    assert [each.name for each in found] == ["W7-api-StartJobRun", "W7-api-GetJobRun", "W7-api-CreateJob"]
    assert all([one.role for one in each.contestants] == [US, US, PEER, LIMIT] for each in found)


def test_goals_are_of_the_starts_and_of_the_share_of_the_stub() -> None:
    goals = {(each.name, one.key): one.goal for each in api.contests(GIVEN) for one in each.figures if one.goal}
    assert goals == {("W7-api-StartJobRun", "calls_per_second"): 2_500, ("W7-api-GetJobRun", "stub_percent"): 60}


@pytest.mark.parametrize(
    ("action", "answered"),
    [("CreateJob", "Name"), ("StartJobRun", "JobRunId"), ("GetJobRun", "JobRun")],
)
async def test_the_stub_answers_what_the_client_sends(action: str, answered: str) -> None:
    text = calls.bodies(action, [("bench 1", "jr_1")])[0]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://stub") as client:
        answer = await client.post("/", content=text, headers={"x-amz-target": f"AWSGlue.{action}"})
    assert answer.status_code == 200
    assert list(answer.json()) == [answered]


def test_runs_are_asked_for_by_the_job_and_id_that_were_started() -> None:
    assert json.loads(calls.bodies("GetJobRun", [("a", "jr_1")])[0]) == {"JobName": "a", "RunId": "jr_1"}
