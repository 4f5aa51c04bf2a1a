"""Runs of chains over HTTP: every probe and every step with its state, stopped, kept when the chain is gone."""

import asyncio
from pathlib import Path

import httpx

from tests.faces.api.serving import PATIENCE_SECONDS, served
from tests.faces.chains.hand import ChainHand, body, made, shown, started, states
from waterclock.domain.gate import Verdict
from waterclock.domain.run import RunState

SHORT = {
    *("run_id", "chain_id", "job_desc", "status", "fire_at", "started_at", "ended_at", "dep_pass_ts", "message"),
    *("role", "requested_by"),
}


async def test_a_run_is_shown_from_its_first_probe_to_its_failure_on_every_store(
    tmp_path: Path, store_url: str
) -> None:
    async with served(tmp_path, url=store_url) as server:
        headers = {"authorization": f"Bearer {server.token}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as chains:
            await fail_in_the_second_level(chains, ChainHand(server.database))


async def fail_in_the_second_level(chains: httpx.AsyncClient, hand: ChainHand) -> None:
    chain_id = (await made(chains))["id"]
    run_id = await started(chains, chain_id)
    run = await shown(chains, run_id)
    assert run.keys() == {*SHORT, "deps", "levels"}
    assert (run["status"], run["fire_at"], run["requested_by"], run["role"]) == ("RUNNING...", None, "admin", None)
    assert run["deps"][0]["next_probe_at"]
    assert run["deps"][0]["probes"] == []
    assert set(states(run).values()) == {"WAITING"}

    await hand.probe(Verdict.NOT_YET, output="1\n", message="not yet")
    await hand.probe(Verdict.ERROR, exit_code=3, output="no such host\n")
    await hand.probe(Verdict.PASSED, output="0\n")
    run = await shown(chains, run_id)
    (gate,) = run["deps"]
    assert (gate["node"], gate["desc"], gate["state"]) == (f"gate-{gate['id']}", "orders are there", "Success")
    assert (gate["errors"], gate["next_probe_at"], gate["probe_until"] > run["started_at"]) == (1, None, True)
    said = [(each["number"], each["verdict"], each["exit_code"], each["output"]) for each in gate["probes"]]
    assert said == [(1, "not_yet", 0, "1\n"), (2, "error", 3, "no such host\n"), (3, "passed", 0, "0\n")]
    assert all(each["at"] <= each["ended_at"] for each in gate["probes"])
    assert gate["probes"][1]["wire_id"].endswith("_attempt_1")
    assert run["dep_pass_ts"] == gate["dep_pass_ts"] == gate["probes"][2]["ended_at"]
    (short,) = (await chains.get(f"/chains/runs/{run_id}", params={"probes": 1})).json()["deps"]
    assert ([each["number"] for each in short["probes"]], short["errors"]) == ([3], 1)
    assert set(states(run).items()) >= {("load.py;eu", "RUNNING..."), ("sum.py", "WAITING"), ("mail.py", "WAITING")}

    for attempt in (await hand.begin()).values():
        await hand.end(attempt)
    (last,) = (await hand.begin()).values()
    await hand.end(last, RunState.FAILED, exit_code=7, message="exit code 7", output="no disk\n")
    run = await shown(chains, run_id)
    assert run["status"] == "Failed"
    assert run["ended_at"]
    assert "sum.py" in run["message"]
    assert states(run) == {
        "load.py;eu": "Success",
        "load.py;us": "Success",
        "sum.py": "Failed",
        "mail.py": "SKIPPED",
    }
    assert [level["name"] for level in run["levels"]] == ["level 1", "level 2", "level 5"]
    eu, us = run["levels"][0]["steps"]
    assert (eu["job_desc"], us["job_desc"], eu["step_lvl"], eu["exit_code"]) == ("load EU", None, 1, 0)
    assert eu["seconds"] >= 0
    assert eu["run"].startswith("jr_")
    ((failed,), (skipped,)) = (level["steps"] for level in run["levels"][1:])
    assert (failed["exit_code"], failed["message"], failed["run"]) == (7, "exit code 7", last.wire_id)
    assert (skipped["run"], skipped["started_at"], skipped["step_lvl"]) == (None, None, 5)
    chain = (await chains.get(f"/chains/{chain_id}")).json()
    assert chain["last_run"] == {name: run[name] for name in SHORT}
    assert (await chains.get(f"/chains/{chain_id}/runs")).json()["items"] == [chain["last_run"]]


async def test_a_run_that_is_stopped_is_killed_when_nothing_of_it_lives(
    chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains)
    run_id = await started(chains, 1)
    await hand.probe(Verdict.PASSED)
    begun = await hand.begin()
    stopping = await chains.post(f"/chains/runs/{run_id}/stop")
    assert (stopping.status_code, stopping.json()["status"]) == (202, "RUNNING...")
    assert stopping.json().keys() == SHORT
    for attempt in begun.values():
        await hand.end(attempt, RunState.STOPPED, exit_code=None)
    run = await shown(chains, run_id)
    assert run["status"] == "KILLED"
    assert list(states(run).values()) == ["KILLED", "KILLED", "SKIPPED", "SKIPPED"]
    again = await chains.post(f"/chains/runs/{run_id}/stop")
    assert (again.status_code, again.json()["error"]["type"]) == (409, "not_allowed")


async def test_a_probe_that_was_called_off_is_no_evidence(chains: httpx.AsyncClient) -> None:
    await made(chains)
    run_id = await started(chains, 1)
    await chains.post(f"/chains/runs/{run_id}/stop")
    (gate,) = (await shown(chains, run_id))["deps"]
    assert (gate["state"], gate["probes"], gate["next_probe_at"]) == ("KILLED", [], None)


async def test_run_now_ignores_the_switch_and_refuses_to_overlap(chains: httpx.AsyncClient) -> None:
    await made(chains, switch="OFF")
    await started(chains, 1)
    for refused in (await chains.post("/chains/1/run"), await chains.delete("/chains/1")):
        assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")
        assert "stop it or wait for its end first" in refused.json()["error"]["message"]


async def test_a_chain_for_main_alone_does_not_run_while_main_is_down(
    chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains, main_flag=1)
    refused = await chains.post("/chains/1/run")
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")
    assert "main is down" in refused.json()["error"]["message"]
    await hand.main_lives()
    assert (await shown(chains, await started(chains, 1)))["role"] == "main"


async def test_a_run_by_its_schedule_has_its_due_instant(chains: httpx.AsyncClient, hand: ChainHand) -> None:
    await hand.main_lives()
    due = (await made(chains, main_flag=1, timestr="* * * * * ?"))["next_fire_at"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (runs := (await chains.get("/chains/1/runs")).json()["items"]):
            await hand.fire()
    assert runs[-1]["fire_at"] == due
    await chains.put("/chains/1/switch", json={"switch": "OFF"})


async def test_runs_of_a_deleted_chain_can_still_be_shown(chains: httpx.AsyncClient, hand: ChainHand) -> None:
    await made(chains)
    run_id = await started(chains, 1)
    await hand.finish()
    before = await shown(chains, run_id)
    gone = await chains.delete("/chains/1")
    assert (gone.status_code, gone.json()["id"], gone.json()["last_run"]["status"]) == (200, 1, "Success")
    assert (await chains.get("/chains/1")).status_code == 404
    assert (await chains.get("/chains/1/runs")).status_code == 404
    assert await shown(chains, run_id) == {**before, "job_desc": None}


async def test_a_changed_chain_shows_old_runs_as_they_were(chains: httpx.AsyncClient, hand: ChainHand) -> None:
    await made(chains)
    run_id = await started(chains, 1)
    await hand.finish()
    before = await shown(chains, run_id)
    step = {"command": "other.py", "step_lvl": 9, "ottime": 1}
    assert (await chains.put("/chains/1", json=body(jobs=[step], job_desc="new"))).status_code == 200
    assert await shown(chains, run_id) == {**before, "job_desc": "new"}


async def test_runs_come_in_pages_newest_first_and_teach_what_is_usual(
    chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains, timezone="Asia/Seoul")
    ids = []
    for _ in range(3):
        ids.append(await started(chains, 1))
        await hand.finish()
    page = (await chains.get("/chains/1/runs", params={"size": 2})).json()
    rest = (await chains.get("/chains/1/runs", params={"size": 2, "token": page["next_token"]})).json()
    assert [each["run_id"] for each in page["items"] + rest["items"]] == ids[::-1]
    assert rest["next_token"] is None
    wrong = await chains.get("/chains", params={"token": page["next_token"]})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (400, "token")
    chain, run = (await chains.get("/chains/1")).json(), await shown(chains, ids[-1])
    usual = chain["deps"][0]["usual_pass"]
    utc = run["deps"][0]["dep_pass_ts"]
    assert int(usual[:2]) in {(int(utc[11:13]) + 9 + near) % 24 for near in (-1, 0)}  # an hour may begin meanwhile
    assert run["deps"][0]["usual_pass"] == usual
    assert chain["jobs"][0]["usual_seconds"] == run["levels"][0]["steps"][0]["usual_seconds"] >= 0
