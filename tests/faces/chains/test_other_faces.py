"""What a chain is made of is seen by nobody who speaks Glue, and operated by nobody but its own face."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.faces.api.serving import Served
from tests.faces.chains.hand import RULES, made
from tests.faces.http.served import Served as GlueServed
from waterclock.domain.chain import ChainSpec, Step
from waterclock.domain.rules import GUARDED
from waterclock.faces.http.auth import first_admin
from waterclock.services.chains import Chains

ADMIN = first_admin(address="", request_id="")
NAME = "chain-1"


async def test_chains_are_operated_by_chains_alone(chains: httpx.AsyncClient, server: Served) -> None:
    await made(chains, main_flag=1)
    step: dict[str, Any] = {"job": NAME, "namespace": "chains"}
    for method, path, sent in (
        ("POST", "/triggers/chain-1/start?namespace=chains", None),
        ("POST", "/triggers/chain-1/stop?namespace=chains", None),
        ("DELETE", "/triggers/chain-1?namespace=chains", None),
        ("PUT", "/triggers/chain-1?namespace=chains", {"actions": [{"job": "x"}]}),
        ("DELETE", "/jobs/chain-1?namespace=chains", None),
        ("PUT", "/jobs/chain-1?namespace=chains", {"kind": "python"}),
        ("POST", "/runs", step),
        ("POST", "/runs/batch", {"runs": [{"job": NAME}], "namespace": "chains"}),
    ):
        refused = await server.client.request(method, path, json=sent)
        assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed"), (method, path)
        assert "chains" in refused.json()["error"]["message"]
    trigger = (await server.client.get("/triggers/chain-1?namespace=chains")).json()
    assert (trigger["state"], trigger["generation"]) == ("RUNNING", 1)
    assert (await server.client.get("/runs")).json()["items"] == []
    assert (await server.client.get("/workflows")).json()["items"] == []


def test_the_glue_face_sees_nothing_of_a_chain(tmp_path: Path) -> None:
    spec = ChainSpec(timestr="@daily", steps=(Step(command="a.py", step_lvl=1, ottime=1),), main_flag=False)
    with GlueServed(tmp_path, GUARDED) as served:
        chains = Chains(served.database, RULES, probe_seconds=60)
        chain = served.run(chains.create(ADMIN, spec)).chain
        run_id = served.run(chains.start(ADMIN, chain.id))
        shown = served.run(chains.run(ADMIN, run_id))
        ((attempt,),) = shown.attempts.values()
        glue = served.client(served.first.key)
        assert glue.get_jobs()["Jobs"] == glue.list_jobs()["JobNames"] == []
        assert glue.get_triggers()["Triggers"] == glue.list_triggers()["TriggerNames"] == []
        assert glue.list_workflows()["Workflows"] == []
        asked: list[Callable[[], Any]] = [
            lambda: glue.get_job(JobName=NAME),
            lambda: glue.start_job_run(JobName=NAME),
            lambda: glue.get_job_run(JobName=NAME, RunId=attempt.wire_id),
            lambda: glue.get_job_runs(JobName=NAME),
            lambda: glue.update_job(JobName=NAME, JobUpdate={"Role": "x", "Command": {"Name": "pythonshell"}}),
            lambda: glue.start_trigger(Name=NAME),
            lambda: glue.stop_trigger(Name=NAME),
            lambda: glue.start_workflow_run(Name=NAME),
            lambda: glue.get_workflow_run(Name=NAME, RunId=shown.run.wire_id),
            lambda: glue.stop_workflow_run(Name=NAME, RunId=shown.run.wire_id),
        ]
        for ask in asked:
            with pytest.raises(ClientError, match="EntityNotFoundException"):
                ask()
        glue.delete_job(JobName=NAME)
        glue.delete_trigger(Name=NAME)
        glue.delete_workflow(Name=NAME)
        assert glue.batch_stop_job_run(JobName=NAME, JobRunIds=[attempt.wire_id])["SuccessfulSubmissions"] == []
        assert served.run(chains.run(ADMIN, run_id)) == shown
