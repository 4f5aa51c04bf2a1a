"""`waterclock workflow`: what it prints, what it waits for, and with which exit code it ends."""

import asyncio
import json
import signal

import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.api.workflows import make_workflow
from tests.faces.cli.conftest import CommandLine, ended
from waterclock.domain.run import RunState


@pytest.fixture(autouse=True)
async def _workflow(server: Served) -> None:
    await make_workflow(server)


async def failed_run(wc: CommandLine, server: Served) -> str:
    """a failed, so c ran."""
    run_id = (await wc.ok("workflow", "start", "flow")).strip()
    await (await server.hand.begin()).end(RunState.FAILED)
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    return run_id


async def test_a_workflow_is_shown_level_by_level_with_the_states_of_its_last_run(
    wc: CommandLine, server: Served
) -> None:
    before = await wc.ok("workflow", "show", "flow")
    assert [line.split() for line in before.splitlines()[-4:]] == [
        ["LEVEL", "TRIGGER", "WHEN", "JOB", "STATE", "RUN"],
        ["1", "flow-start", "-", "flow-a", "-", "-"],
        ["2", "flow-alarm", "flow-a", "FAILED", "flow-c", "-", "-"],
        ["2", "flow-then", "flow-a", "SUCCEEDED", "flow-b", "-", "-"],
    ]
    run_id = await failed_run(wc, server)
    after = await wc.ok("workflow", "show", "flow")
    assert run_id in after
    assert "flow-c  SUCCEEDED  jr_" in after
    of_run = await wc.ok("workflow", "show", "flow", "--run", run_id)
    assert of_run.splitlines()[-4:] == after.splitlines()[-4:]
    assert json.loads(await wc.ok("workflow", "show", "flow", "--json"))["last_run"]["id"] == run_id
    assert json.loads(await wc.ok("workflow", "show", "flow", "--run", run_id, "--json"))["state"] == "COMPLETED"


async def test_workflows_and_their_runs_are_listed(wc: CommandLine, server: Served) -> None:
    run_id = await failed_run(wc, server)
    assert f"flow  admin  {run_id}  COMPLETED" in await wc.ok("workflow", "list")
    assert json.loads(await wc.ok("workflow", "list", "--json"))[0]["name"] == "flow"
    assert "1 FAILED, 1 SUCCEEDED" in await wc.ok("workflow", "runs", "flow")
    (listed,) = json.loads(await wc.ok("workflow", "runs", "flow", "--json", "-n", "5"))
    assert (listed["id"], listed["states"]) == (run_id, {"FAILED": 1, "SUCCEEDED": 1})


async def test_following_tells_each_change_and_ends_with_the_whole(wc: CommandLine, server: Served) -> None:
    following = await wc.start("workflow", "start", "flow", "--follow", "--property", "day=monday")
    for _ in range(2):
        await (await server.hand.begin_soon()).end(RunState.SUCCEEDED)
    said = await ended(following)
    assert said.code == 0, said
    assert " flow-b is SUCCEEDED" in said.err
    assert " is COMPLETED" in said.err
    assert "flow-b  SUCCEEDED" in said.out
    (run,) = json.loads(await wc.ok("workflow", "runs", "flow", "--json"))
    assert run["properties"] == {"day": "monday"}


async def test_following_a_run_with_a_failed_node_ends_with_1_and_names_it(wc: CommandLine, server: Served) -> None:
    following = await wc.start("workflow", "start", "flow", "--follow", "--json")
    await (await server.hand.begin_soon()).end(RunState.FAILED)
    await (await server.hand.begin_soon()).end(RunState.SUCCEEDED)
    said = await ended(following)
    assert (said.code, json.loads(said.out)["state"]) == (1, "COMPLETED")
    assert said.err.endswith(" is COMPLETED: flow-a FAILED\n")


async def test_an_interrupt_stops_the_following_not_the_run(wc: CommandLine, server: Served) -> None:
    following = await wc.start("workflow", "start", "flow", "-f")
    await server.hand.begin_soon()
    assert following.stderr is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while b"flow-a is RUNNING" not in (line := await following.stderr.readline()):
            assert line, "it ended before"
    following.send_signal(signal.SIGINT)
    said = await ended(following)
    assert said.code == 130
    assert "the run goes on. Stop it with: waterclock workflow stop flow wr_" in said.err
    (run,) = json.loads(await wc.ok("workflow", "runs", "flow", "--json"))
    assert run["state"] == "RUNNING"


async def test_stopping_waits_until_nothing_is_left(wc: CommandLine, server: Served) -> None:
    run_id = (await wc.ok("workflow", "start", "flow")).strip()
    held = await server.hand.begin()
    stopping = await wc.start("workflow", "stop", "flow", run_id)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await server.client.get(f"/workflows/flow/runs/{run_id}")).json()["state"] != "STOPPING":
            await asyncio.sleep(0.02)
    assert await wc.ok("workflow", "stop", "flow", run_id, "--no-wait") == f"{run_id} is STOPPING\n"
    await held.end(RunState.STOPPED)
    said = await ended(stopping)
    assert (said.code, said.out) == (0, f"{run_id} is STOPPED\n")
    again = await wc.here("workflow", "stop", "flow", run_id)
    assert (again.code, again.err) == (2, f"waterclock: workflow run '{run_id}' has ended: it is STOPPED\n")


async def test_a_run_is_resumed_where_it_failed_or_where_it_is_told(wc: CommandLine, server: Served) -> None:
    old = await failed_run(wc, server)
    new = (await wc.ok("workflow", "resume", "flow", old)).strip()
    assert old in await wc.ok("workflow", "runs", "flow")
    for _ in range(2):
        await (await server.hand.begin()).end(RunState.SUCCEEDED)
    assert "flow-b  SUCCEEDED" in await wc.ok("workflow", "show", "flow", "--run", new)
    nothing = await wc.here("workflow", "resume", "flow", new)
    assert (nothing.code, "nothing of this run failed" in nothing.err) == (2, True)
    told = json.loads(await wc.ok("workflow", "resume", "flow", new, "--node", "flow-b", "--json"))
    assert len(told["nodes"]) == 1
    not_run = await wc.here("workflow", "resume", "flow", new, "--node", "flow-c")
    assert (not_run.code, "none of these nodes ran" in not_run.err) == (2, True)


WRONG = (
    (["workflow", "show", "nobody"], "workflow 'nobody' not found"),
    (["workflow", "start", "nobody"], "workflow 'nobody' not found"),
    (["workflow", "start", "flow", "--property", "oops"], "'oops' is not key=value"),
    (["workflow", "runs", "nobody"], "workflow 'nobody' not found"),
    (["workflow", "stop", "flow", "wr_nobody"], "workflow run 'wr_nobody' not found"),
    (["workflow", "resume", "flow", "wr_nobody"], "workflow run 'wr_nobody' not found"),
)


async def test_what_went_wrong_is_one_line_on_stderr(wc: CommandLine) -> None:
    for args, words in WRONG:
        said = await wc.here(*args)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), args
        assert words in said.err
