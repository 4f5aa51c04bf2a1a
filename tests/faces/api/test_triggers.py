"""Triggers over the API: defined, previewed, set going, stopped, and what their ledger shows."""

from collections.abc import Mapping

import httpx
import pytest

from tests.faces.api.serving import Served
from waterclock.domain.moment import SECOND
from waterclock.stores.ops.firing import fire_due

WHOLE: Mapping[str, object] = {
    "type": "SCHEDULED",
    "schedule": "0 30 2 * * ?",
    "timezone": "Europe/Berlin",
    "gap": "skip",
    "fold": "twice",
    "start_at": "2026-01-01T00:00:00Z",
    "end_at": "2027-01-01T00:00:00Z",
    "jitter_seconds": 2.5,
    "exclude": ["2026-12-24", "2026-12-25"],
    "misfire": {"policy": "all", "grace_seconds": 5, "cap": 3},
    "actions": [
        {"job": "load", "arguments": {"--a": "1"}, "timeout_seconds": 30, "notify_after_seconds": None},
        {"job": "load", "arguments": {}, "timeout_seconds": None, "notify_after_seconds": 20},
    ],
}


@pytest.fixture(autouse=True)
async def _job(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python", "max_concurrent": 0})


async def test_a_trigger_is_shown_as_it_was_defined(api: httpx.AsyncClient) -> None:
    made = await api.post("/triggers", json={"name": "nightly", **WHOLE})
    assert made.status_code == 201
    shown = (await api.get("/triggers/nightly")).json()
    assert shown == made.json()
    assert {name: shown[name] for name in WHOLE} == WHOLE
    assert (shown["state"], shown["next_fire_at"]) == ("STANDBY", None)


async def test_the_preview_of_a_trigger_follows_its_zone_and_its_holidays(api: httpx.AsyncClient) -> None:
    definition = {"schedule": "30 2 * * *", "timezone": "Europe/Berlin", "exclude": ["2026-12-25"]}
    await api.post("/triggers", json={"name": "t", **definition, "actions": [{"job": "load"}]})
    found = await api.get("/triggers/t/next", params={"count": 2, "from": "2026-12-24T00:00:00+01:00"})
    assert found.json() == {"fires": ["2026-12-24T01:30:00Z", "2026-12-26T01:30:00Z"]}


async def test_a_trigger_is_started_fires_and_is_stopped(server: Served) -> None:
    api = server.client
    definition = {"schedule": "rate(1 second)", "misfire": {"policy": "one", "grace_seconds": 1}}
    made = await api.post("/triggers", json={"name": "t", **definition, "start": True, "actions": [{"job": "load"}]})
    assert made.json()["state"] == "RUNNING"
    assert made.json()["next_fire_at"] is not None
    server.database.offset_us = 100 * SECOND  # nobody looked for 100 s
    await server.database.write(fire_due, limit=10, rules={})

    fires = (await api.get("/triggers/t/fires")).json()["items"]
    assert {fire["outcome"] for fire in fires} == {"FIRED", "SKIPPED"}
    (skipped,) = [fire for fire in fires if fire["outcome"] == "SKIPPED"]
    assert skipped["count"] > 90
    assert "missed" in skipped["reason"]
    assert skipped["first_at"] < skipped["last_at"]

    runs = (await api.get("/runs")).json()["items"]
    assert {run["trigger"] for run in runs} == {"t"}
    refused = await api.delete("/triggers/t")
    assert refused.json()["error"]["type"] == "not_allowed"
    assert (await api.post("/triggers/t/stop")).json()["state"] == "STOPPED"
    assert (await api.post("/triggers/t/stop")).status_code == 409
    assert (await api.get("/runs/" + runs[0]["id"])).json()["state"] == "STOPPED"
    assert (await api.post("/triggers/t/start")).json()["state"] == "RUNNING"
    await api.post("/triggers/t/stop")
    assert (await api.delete("/triggers/t")).status_code == 200
    assert (await api.get("/triggers/t")).status_code == 404


async def test_the_ledger_is_cut_into_pages(server: Served) -> None:
    api = server.client
    await api.post(
        "/triggers", json={"name": "t", "schedule": "rate(1 second)", "start": True, "actions": [{"job": "load"}]}
    )
    server.database.offset_us = 10 * SECOND
    await server.database.write(fire_due, limit=10, rules={})
    whole = [fire["id"] for fire in (await api.get("/triggers/t/fires")).json()["items"]]
    first = (await api.get("/triggers/t/fires", params={"size": 4})).json()
    rest = (await api.get("/triggers/t/fires", params={"size": 1000, "token": first["next_token"]})).json()
    assert [fire["id"] for fire in first["items"] + rest["items"]] == whole
    assert len(whole) >= 10


async def test_an_on_demand_trigger_fires_when_it_is_started(api: httpx.AsyncClient) -> None:
    await api.post("/triggers", json={"name": "now", "actions": [{"job": "load", "arguments": {"--x": "y"}}]})
    assert (await api.post("/triggers/now/start")).json()["state"] == "STANDBY"
    (run,) = (await api.get("/runs")).json()["items"]
    assert (run["trigger"], run["arguments"]) == ("now", {"--x": "y"})


async def test_a_trigger_is_replaced_while_it_stands_still(api: httpx.AsyncClient) -> None:
    await api.post("/triggers", json={"name": "t", "schedule": "@daily", "actions": [{"job": "load"}]})
    replaced = await api.put("/triggers/t", json={"schedule": "@hourly", "actions": [{"job": "load"}]})
    assert (replaced.json()["schedule"], replaced.json()["generation"]) == ("@hourly", 2)
    await api.post("/triggers/t/start")
    refused = await api.put("/triggers/t", json={"schedule": "@daily", "actions": [{"job": "load"}]})
    assert refused.status_code == 409
    assert "stop it first" in refused.json()["error"]["message"]


WRONG: tuple[tuple[dict[str, object], int, str, str | None], ...] = (
    ({"schedule": "61 * * * *"}, 400, "bad_schedule", "schedule"),
    ({"schedule": ""}, 400, "bad_schedule", "schedule"),
    ({"schedule": 5}, 400, "invalid_input", "schedule"),
    ({"timezone": "Mars/Olympus"}, 400, "bad_schedule", "timezone"),
    ({"timezone": "../../etc/passwd"}, 400, "bad_schedule", "timezone"),
    ({"gap": "maybe"}, 400, "invalid_input", "gap"),
    ({"start_at": "tomorrow"}, 400, "invalid_input", "start_at"),
    ({"start_at": "2027-01-01", "end_at": "2026-01-01"}, 400, "invalid_input", "end_at"),
    ({"jitter_seconds": -1}, 400, "invalid_input", "jitter_seconds"),
    ({"exclude": ["Christmas"]}, 400, "invalid_input", "exclude[0]"),
    ({"misfire": {"policy": "some"}}, 400, "invalid_input", "misfire.policy"),
    ({"misfire": {"cap": 0}}, 400, "invalid_input", "misfire.cap"),
    ({"actions": []}, 400, "invalid_input", "actions"),
    ({"actions": [{"jbo": "load"}]}, 400, "invalid_input", "actions[0].jbo"),
    ({"actions": [{"job": "nobody"}]}, 404, "not_found", None),
    ({"type": "ON_DEMAND"}, 400, "invalid_input", "schedule"),
    ({"type": "CONDITIONAL"}, 400, "invalid_input", "type"),
    ({"schedule": None, "type": "SCHEDULED"}, 400, "invalid_input", "schedule"),
    ({"schedule": None, "start": True}, 400, "invalid_input", "start"),
)


async def test_a_wrong_definition_is_refused(api: httpx.AsyncClient) -> None:
    for change, status, kind, field in WRONG:
        definition = {"name": "t", "schedule": "@daily", "actions": [{"job": "load"}], **change}
        refused = await api.post("/triggers", json=definition)
        error = refused.json()["error"]
        assert (refused.status_code, error["type"], error["field"]) == (status, kind, field), change
    assert (await api.get("/triggers")).json()["items"] == []


async def test_a_schedule_is_previewed_without_a_trigger(api: httpx.AsyncClient) -> None:
    query = {"expression": "cron(0 12 ? * MON-FRI *)", "timezone": "Asia/Seoul", "from": "2026-11-13T04:00:00Z"}
    found = await api.get("/schedules/preview", params={**query, "count": "2"})
    assert found.json() == {"fires": ["2026-11-16T03:00:00Z", "2026-11-17T03:00:00Z"]}
    assert (await api.get("/schedules/preview")).json()["error"]["field"] == "expression"
    assert (await api.get("/schedules/preview", params={"expression": "x"})).json()["error"]["type"] == "bad_schedule"
    too_many = await api.get("/schedules/preview", params={"expression": "@daily", "count": "1001"})
    assert too_many.json()["error"]["field"] == "count"


async def test_triggers_are_found_by_their_job(api: httpx.AsyncClient) -> None:
    await api.post("/triggers", json={"name": "t", "actions": [{"job": "load"}]})
    assert len((await api.get("/triggers", params={"job": "load"})).json()["items"]) == 1
    assert (await api.get("/triggers", params={"job": "other"})).json()["items"] == []
