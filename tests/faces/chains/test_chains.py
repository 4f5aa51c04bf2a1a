"""Chains over HTTP: defined, sent back as they were shown, listed, switched, planned, imported, deleted."""

from typing import Any

import httpx
import pytest

from tests.faces.api.serving import Served
from tests.faces.chains.hand import body, made
from waterclock.domain.chain import PYTHON

STEP = {"command": "a.py", "step_lvl": 1, "ottime": 1}
GATE = {"command": "a.py", "ottime": 1}


async def test_a_chain_is_shown_as_it_was_sent_with_what_follows_from_it(chains: httpx.AsyncClient) -> None:
    chain = await made(chains, main_flag=True, BKP_flag=1, tag="important", subtag="eu", timezone="Europe/Berlin")
    assert {name: chain[name] for name in ("id", "name", "owner")} == {"id": 1, "name": "chain-1", "owner": "admin"}
    assert (chain["main_flag"], chain["BKP_flag"], chain["parallel"]) == (1, 1, True)
    assert (chain["switch"], chain["dep_err_tolerance"], chain["tag"], chain["subtag"]) == ("ON", 5, "important", "eu")
    assert (chain["total_stpes"], chain["problem"], chain["last_run"]) == (4, None, None)
    assert chain["next_fire_at"].endswith(":10:00Z")
    (gate,) = chain["deps"]
    assert gate.keys() == {"id", "env", "command", "desc", "ottime", "usual_pass"}
    assert [step["env"] for step in chain["jobs"]] == [PYTHON] * 4
    assert chain["jobs"][0].keys() == {"id", "env", "command", "step_lvl", "job_desc", "ottime", "usual_seconds"}
    assert (await chains.get("/chains/1")).json() == chain


async def test_what_was_shown_can_be_sent_back_and_keeps_its_numbers(chains: httpx.AsyncClient) -> None:
    chain = await made(chains)
    answer = await chains.put("/chains/1", json=chain)
    assert answer.status_code == 200, answer.text
    assert {**answer.json(), "updated_at": chain["updated_at"]} == chain
    copy = await chains.post("/chains", json=chain)
    assert (copy.status_code, copy.json()["id"], copy.json()["job_desc"]) == (201, 2, "orders"), copy.text
    assert not {each["id"] for each in chain["jobs"]} & {each["id"] for each in copy.json()["jobs"]}


async def test_a_put_replaces_all_of_it(chains: httpx.AsyncClient) -> None:
    old = await made(chains, tag="x", parallel=0, switch="OFF", dep_err_tolerance=0)
    new = (await chains.put("/chains/1", json={"timestr": "@hourly", "jobs": [STEP, old["jobs"][2]]})).json()
    assert (new["tag"], new["parallel"], new["switch"], new["main_flag"]) == (None, True, "ON", 1)
    assert (new["deps"], new["dep_ot"], new["dep_err_tolerance"], new["total_stpes"]) == ([], None, 5, 2)
    assert new["jobs"][1]["id"] == old["jobs"][2]["id"]
    assert new["jobs"][0]["id"] not in {step["id"] for step in old["jobs"]}


async def test_minutes_may_be_text_as_in_the_old_tables(chains: httpx.AsyncClient) -> None:
    chain = await made(chains, dep_ot="1.5", jobs=[{**STEP, "ottime": " 30 "}, {**STEP, "ottime": ".5"}])
    assert (chain["dep_ot"], [step["ottime"] for step in chain["jobs"]]) == (1.5, [30, 0.5])


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"timestr": "61 * * * *"}, "timestr", "61"),
    ({"timestr": ""}, "timestr", "cannot read schedule"),
    ({"timestr": None}, "timestr", "is required"),
    ({"timestr": 5}, "timestr", "must be text"),
    ({"timezone": "Mars/Olympus"}, "timezone", "no such time zone"),
    ({"jobs": None}, "jobs", "is required"),
    ({"jobs": []}, "jobs", "at least one step"),
    ({"jobs": {}}, "jobs", "must be a list"),
    ({"jobs": [STEP, STEP, {**STEP, "steplvl": 1}]}, "jobs[2].steplvl", "unknown field; known here: command, env"),
    ({"jobs": [{**STEP, "step_lvl": -1}]}, "jobs[0].step_lvl", "must be 0 to 999999"),
    ({"jobs": [{**STEP, "step_lvl": 1.5}]}, "jobs[0].step_lvl", "must be a whole number"),
    ({"jobs": [{**STEP, "step_lvl": None}]}, "jobs[0].step_lvl", "is required"),
    ({"jobs": [{**STEP, "ottime": -1}]}, "jobs[0].ottime", "must be more than 0 minutes"),
    ({"jobs": [{**STEP, "ottime": "soon"}]}, "jobs[0].ottime", "must be a number"),
    ({"jobs": [{**STEP, "ottime": "1_0"}]}, "jobs[0].ottime", "must be a number"),
    ({"jobs": [{**STEP, "ottime": "nan"}]}, "jobs[0].ottime", "must be a number"),
    ({"jobs": [{**STEP, "ottime": True}]}, "jobs[0].ottime", "must be a number"),
    ({"jobs": [{**STEP, "ottime": None}]}, "jobs[0].ottime", "is required"),
    ({"jobs": [{**STEP, "command": "../up.py"}]}, "jobs[0].command", "below the folder of programs"),
    ({"jobs": [{**STEP, "command": "/abs.py"}]}, "jobs[0].command", "below the folder of programs"),
    ({"jobs": [STEP, {**STEP, "command": "a.py;{{secret:}}"}]}, "jobs[1].command", "a reference to a secret is"),
    ({"jobs": [{**STEP, "env": "  "}]}, "jobs[0].env", "name the interpreter"),
    ({"deps": [{**GATE, "ottime": 0}]}, "deps[0].ottime", "must be more than 0 minutes"),
    ({"deps": [{**GATE, "step_lvl": 1}]}, "deps[0].step_lvl", "unknown field"),
    ({"deps": [{"ottime": 1}]}, "deps[0].command", "is required"),
    ({"dep_ot": 0}, "dep_ot", "must be more than 0 minutes"),
    ({"dep_ot": "-3"}, "dep_ot", "must be more than 0 minutes"),
    ({"dep_ot": None}, "dep_ot", "is required where there are deps"),
    ({"switch": "on"}, "switch", "must be one of ON, OFF"),
    ({"main_flag": 2}, "main_flag", "must be 0, 1, true or false"),
    ({"BKP_flag": "1"}, "BKP_flag", "must be 0, 1, true or false"),
    ({"bkp_flag": 1}, "bkp_flag", "unknown field"),
    ({"tag": "x" * 46}, "tag", "must have 0 to 45 characters"),
    ({"dep_err_tolerance": -1}, "dep_err_tolerance", "must be 0 or more"),
    ({"probe_seconds": 0}, "probe_seconds", "must be more than 0 seconds"),
]


async def test_what_is_wrong_is_named_with_its_place(chains: httpx.AsyncClient) -> None:
    for wrong, field, message in WRONG:
        for path in ("/chains", "/chains/plan"):
            answer = await chains.post(path, json=body(**wrong))
            error = answer.json()["error"]
            assert (answer.status_code, error["field"]) == (400, field), (wrong, answer.text)
            assert message in error["message"], wrong
    assert (await chains.get("/chains")).json()["items"] == []


async def test_a_wrong_replacement_changes_nothing(chains: httpx.AsyncClient) -> None:
    chain = await made(chains)
    wrongs: list[dict[str, Any]] = [{"timestr": "x"}, {"dep_ot": 0}, {"jobs": []}]
    for wrong in wrongs:
        assert (await chains.put("/chains/1", json=body(**wrong))).status_code == 400
    assert (await chains.get("/chains/1")).json() == chain


async def test_chains_come_in_pages_by_tag_and_by_switch(chains: httpx.AsyncClient) -> None:
    for tag, switch in (("a", "ON"), ("b", "OFF"), ("a", "OFF")):
        await made(chains, tag=tag, switch=switch)
    page = (await chains.get("/chains", params={"size": 2})).json()
    rest = (await chains.get("/chains", params={"size": 2, "token": page["next_token"]})).json()
    assert [each["id"] for each in page["items"] + rest["items"]] == [1, 2, 3]
    assert rest["next_token"] is None
    for query, found in (({"tag": "a"}, [1, 3]), ({"switch": "OFF"}, [2, 3]), ({"tag": "a", "switch": "OFF"}, [3])):
        assert [each["id"] for each in (await chains.get("/chains", params=query)).json()["items"]] == found, query
    for query, field in (
        ({"token": "x"}, "token"),
        ({"size": "0"}, "size"),
        ({"switch": "off"}, "switch"),
        ({"n": "1"}, "n"),
    ):
        answer = await chains.get("/chains", params=query)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


async def test_the_switch_takes_a_chain_off_its_schedule_and_back(chains: httpx.AsyncClient) -> None:
    await made(chains, main_flag=1)
    off = (await chains.put("/chains/1/switch", json={"switch": "OFF"})).json()
    assert (off["switch"], off["next_fire_at"]) == ("OFF", None)
    on = (await chains.put("/chains/1/switch", json={"switch": "ON"})).json()
    assert on["switch"] == "ON"
    assert on["next_fire_at"]
    for wrong in ({}, {"switch": "off"}, {"switch": True}):
        answer = await chains.put("/chains/1/switch", json=wrong)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "switch")


async def test_a_plan_says_what_would_run_and_when(chains: httpx.AsyncClient) -> None:
    await made(chains, parallel=False, timestr="/5 * * * *", main_flag=1, dep_err_tolerance=2)
    plan = (await chains.get("/chains/1/plan")).json()
    gates, *levels = plan["stages"]
    assert (gates["name"], gates["needs"]) == ("gates", [])
    assert gates["nodes"] == [
        {
            "node": "gate-1",
            "kind": "gate",
            "title": "orders are there",
            "env": "/bin/sh",
            "command": "arrived/orders.sh",
            "timeout_seconds": 60,
            "every_seconds": 0.001,
            "for_seconds": 5400,
            "tolerates": 2,
        }
    ]
    assert [level["name"] for level in levels] == ["level 1.1", "level 1.2", "level 2", "level 5"]
    assert [level["needs"] for level in levels] == [["gate-1"], ["step-2"], ["step-3"], ["step-4"]]
    assert [node["timeout_seconds"] for level in levels for node in level["nodes"]] == [1800, 30, 600, 600]
    assert "every_seconds" not in levels[0]["nodes"][0]
    assert (len(plan["next_fires"]), plan["roles"]) == (5, ["main"])


async def test_a_plan_without_a_chain_stores_nothing(chains: httpx.AsyncClient) -> None:
    answer = await chains.post("/chains/plan", json=body())
    assert answer.status_code == 200, answer.text
    nodes = [node["node"] for stage in answer.json()["stages"] for node in stage["nodes"]]
    assert nodes == ["gate-1", "step-1", "step-2", "step-3", "step-4"]
    assert answer.json()["stages"][2]["needs"] == ["step-1", "step-2"]
    assert (await chains.get("/chains")).json()["items"] == []


async def imported(chains: httpx.AsyncClient, **more: Any) -> httpx.Response:
    return await chains.post("/chains/import", json={"chain": body(**more), "source": "schedulerDB#12"})


async def test_an_import_keeps_the_number_that_is_free(chains: httpx.AsyncClient) -> None:
    answer = await imported(chains, id=12)
    assert (answer.status_code, answer.json()["id"], answer.json()["switch"]) == (201, 12, "ON")
    again = await chains.post("/chains/import", json={"chain": body(id=12), "source": "schedulerDB#13"})
    assert (again.status_code, again.json()["error"]["type"]) == (409, "already_exists")


@pytest.mark.parametrize(
    ("unreadable", "said"),
    [
        ({"timestr": "every day"}, "cannot read schedule"),
        ({"switch": "maybe"}, "switch: 'maybe' is neither ON nor OFF"),
    ],
)
async def test_what_cannot_be_read_comes_in_off_with_a_message(
    chains: httpx.AsyncClient, server: Served, unreadable: dict[str, Any], said: str
) -> None:
    chain = (await imported(chains, main_flag=1, **unreadable)).json()
    assert (chain["switch"], chain["next_fire_at"]) == ("OFF", None)
    assert (chain["problem"] is not None) == ("timestr" in unreadable)
    (message,) = (await server.client.get("/messages")).json()["items"]
    assert (message["kind"], message["subject"]) == ("chain_imported", "orders")
    assert message["body"].startswith("imported from schedulerDB#12, switched OFF: ")
    assert said in message["body"]


async def test_one_with_an_unreadable_timestr_is_planned_and_not_switched_on(chains: httpx.AsyncClient) -> None:
    await imported(chains, id=3, timestr="every day")
    assert (await chains.get("/chains/3/plan")).json()["next_fires"] == []
    refused = await chains.put("/chains/3/switch", json={"switch": "ON"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "timestr")
    mended = await chains.put("/chains/3", json=body(timestr="@daily", main_flag=1))
    assert (mended.json()["problem"], mended.json()["switch"]) == (None, "ON")


async def test_an_import_refuses_what_no_chain_can_have(chains: httpx.AsyncClient) -> None:
    for wrong, field in (({"dep_ot": 0}, "dep_ot"), ({"jobs": [{**STEP, "x": 1}]}, "jobs[0].x"), ({"id": 0}, "id")):
        answer = await imported(chains, **wrong)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
    for wrong_body, field in (({"chain": body()}, "source"), ({"source": "x"}, "chain")):
        answer = await chains.post("/chains/import", json=wrong_body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
    answer = await chains.post("/chains/import", json={"chain": [], "source": "x"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "must be a JSON object")


async def test_what_is_not_there_is_a_typed_answer(chains: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/7"),
        ("GET", "/orders"),
        ("GET", f"/{10**30}"),
        ("DELETE", "/7"),
        ("POST", "/7/run"),
        ("GET", "/7/runs"),
        ("GET", "/7/plan"),
        ("GET", "/runs/7"),
        ("POST", "/runs/x/stop"),
        ("GET", "/7/nothing"),
        ("GET", "/"),
    ):
        answer = await chains.request(method, f"/chains{path}")
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found"), path
    assert (await chains.put("/chains/7", json=body())).status_code == 404
    answer = await chains.get("/chains/plan")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
