"""Jobs over the API: made, shown, listed, replaced and deleted, and refused with a reason."""

from collections.abc import Mapping
from urllib.parse import quote

import httpx

from tests.faces.api.serving import Served
from waterclock.domain.job import JobSpec

WHOLE: Mapping[str, object] = {
    "kind": "python",
    "script": "file:///srv/scripts/load.py",
    "arguments": {"--day": "today"},
    "fixed_arguments": {"--env": "test"},
    "timeout_seconds": 90,
    "notify_after_seconds": 60,
    "retries": 2,
    "retry_delay_seconds": 1.5,
    "max_concurrent": 3,
    "queueing": True,
    "python_modules": "orjson==3.10.0",
    "limits": {"memory_bytes": 1_000_000, "open_files": 64},
    "queue": "default",
    "labels": ["gpu"],
}


async def test_a_job_is_shown_as_it_was_defined(api: httpx.AsyncClient) -> None:
    made = await api.post("/jobs", json={"name": "load", **WHOLE})
    assert made.status_code == 201
    shown = (await api.get("/jobs/load")).json()
    assert shown == made.json()
    assert {name: shown[name] for name in WHOLE} == WHOLE
    assert (shown["namespace"], shown["owner"], shown["version"]) == ("api", "admin", 1)
    assert shown["created_at"].endswith("Z")


async def test_replacing_a_job_puts_what_is_left_out_back_to_its_default(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", **WHOLE})
    replaced = await api.put("/jobs/load", json={"kind": "shell", "script": "/x.sh"})
    assert replaced.status_code == 200
    assert replaced.json()["version"] == 2
    assert replaced.json()["retries"] == JobSpec(kind="shell").retries


NAMES = ("a/b", "a?b#c", "100%", "tê việc", "작업", "..", ".", "a b", "🦆", "%2F", "start/stop", "batch", "n" * 255)


async def test_a_name_may_hold_any_character(api: httpx.AsyncClient) -> None:
    for name in NAMES:
        assert (await api.post("/jobs", json={"name": name, "kind": "python"})).status_code == 201, name
        path = f"/jobs/{quote(name, safe='').replace('.', '%2E')}"
        assert (await api.get(path)).json()["name"] == name
        assert (await api.put(path, json={"kind": "shell"})).status_code == 200, name
        assert (await api.delete(path)).status_code == 200, name
        assert (await api.get(path)).status_code == 404, name


async def test_a_list_is_cut_into_pages(api: httpx.AsyncClient) -> None:
    for number in range(5):
        await api.post("/jobs", json={"name": f"job-{number}", "kind": "python"})
    names, token = [], None
    for _ in range(3):
        page = (await api.get("/jobs", params={"size": 2, **({"token": token} if token else {})})).json()
        names += [job["name"] for job in page["items"]]
        token = page["next_token"]
    assert names == [f"job-{number}" for number in range(5)]
    assert token is None


WRONG_QUERIES = (
    ({"size": "0"}, "size"),
    ({"size": "100000"}, "size"),
    ({"size": "ten"}, "size"),
    ({"size": "1e1"}, "size"),
    ({"token": "nonsense"}, "token"),
    ({"namespace": "elsewhere"}, "namespace"),
    ({"siez": "3"}, "siez"),
)


async def test_a_wrong_query_is_refused_by_name(api: httpx.AsyncClient) -> None:
    for params, field in WRONG_QUERIES:
        refused = await api.get("/jobs", params=params)
        assert refused.status_code == 400, params
        assert refused.json()["error"]["type"] == "invalid_input"
        assert refused.json()["error"]["field"] == field
        assert refused.json()["error"]["message"].startswith(f"{field}: ")


async def test_a_token_of_another_list_is_refused(api: httpx.AsyncClient) -> None:
    for number in range(2):
        await api.post("/jobs", json={"name": f"job-{number}", "kind": "python"})
    token = (await api.get("/jobs", params={"size": 1})).json()["next_token"]
    assert (await api.get("/triggers", params={"token": token})).json()["error"]["field"] == "token"


WRONG_FIELDS: tuple[tuple[dict[str, object], str], ...] = (
    ({"scirpt": "x"}, "scirpt"),
    ({"name": 7}, "name"),
    ({"name": ""}, "name"),
    ({"name": "n" * 256}, "name"),
    ({"name": "a\0b"}, "name"),
    ({"name": None}, "name"),
    ({"kind": None}, "kind"),
    ({"arguments": ["--a"]}, "arguments"),
    ({"arguments": {"--a": 1}}, "arguments.--a"),
    ({"retries": 11}, "retries"),
    ({"retries": -1}, "retries"),
    ({"retries": True}, "retries"),
    ({"retries": 1.5}, "retries"),
    ({"retries": "1"}, "retries"),
    ({"timeout_seconds": 0}, "timeout_seconds"),
    ({"timeout_seconds": 2**63}, "timeout_seconds"),
    ({"retry_delay_seconds": -0.1}, "retry_delay_seconds"),
    ({"queueing": "yes"}, "queueing"),
    ({"limits": {"memory": 1}}, "limits.memory"),
    ({"limits": {"processes": 0}}, "limits.processes"),
    ({"labels": "gpu"}, "labels"),
    ({"labels": ["a,b"]}, "labels[0]"),
    ({"labels": ["gpu", "has space"]}, "labels[1]"),
    ({"labels": ["x" * 64]}, "labels[0]"),
    ({"labels": [letter * 60 for letter in "abcde"]}, "labels"),
    ({"labels": list("abcdefghi")}, "labels"),
)


async def test_a_wrong_field_is_refused_by_name_and_changes_nothing(api: httpx.AsyncClient) -> None:
    for change, field in WRONG_FIELDS:
        refused = await api.post("/jobs", json={"name": "load", "kind": "python", **change})
        assert refused.status_code == 400, change
        assert refused.json()["error"]["field"] == field
    assert (await api.get("/jobs")).json()["items"] == []


async def test_labels_are_a_set(api: httpx.AsyncClient) -> None:
    made = await api.post("/jobs", json={"name": "load", "kind": "python", "labels": ["zone=b", "gpu", "zone=b"]})
    assert made.json()["labels"] == ["gpu", "zone=b"]


NO_OBJECTS = (b"{", b"", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"name": "\\ud800"}')


async def test_what_is_no_json_object_is_refused(api: httpx.AsyncClient) -> None:
    for body in NO_OBJECTS:
        refused = await api.post("/jobs", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == 400, body[:20]
        assert refused.json()["error"]["type"] == "invalid_input"


async def test_a_body_of_another_type_is_refused(api: httpx.AsyncClient) -> None:
    refused = await api.post(
        "/jobs", content=b'{"name": "x", "kind": "python"}', headers={"content-type": "text/plain"}
    )
    assert refused.json()["error"]["field"] == "content-type"


async def test_a_body_that_is_too_large_is_refused(api: httpx.AsyncClient) -> None:
    refused = await api.post("/jobs", json={"name": "x", "kind": "python", "script": "s" * 2_000_000})
    assert refused.status_code == 413
    assert refused.json()["error"]["type"] == "body_too_large"


async def test_a_name_is_taken_only_once(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python"})
    refused = await api.post("/jobs", json={"name": "load", "kind": "python"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "already_exists")


async def test_a_job_in_a_trigger_is_not_deleted(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python"})
    await api.post("/triggers", json={"name": "t", "actions": [{"job": "load"}]})
    refused = await api.delete("/jobs/load")
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")
    assert "'t'" in refused.json()["error"]["message"]


async def test_a_job_of_another_face_is_listed_here_and_defined_there(server: Served) -> None:
    caller = (await server.client.get("/me")).json()
    assert caller["name"] == "admin"
    await _glue_job(server)
    assert [job["namespace"] for job in (await server.client.get("/jobs")).json()["items"]] == ["glue"]
    assert (await server.client.get("/jobs", params={"namespace": "api"})).json()["items"] == []
    refused = await server.client.put("/jobs/etl", params={"namespace": "glue"}, json={"kind": "python"})
    assert refused.json()["error"]["type"] == "not_allowed"
    assert (await server.client.get("/jobs/etl")).status_code == 404
    assert (await server.client.delete("/jobs/etl", params={"namespace": "glue"})).status_code == 200


async def _glue_job(server: Served) -> None:
    from waterclock.faces.http.auth import first_admin

    admin = first_admin(address="", request_id="")
    await server.context.jobs.create(admin, "glue", "etl", JobSpec(kind="python"), {}, {})
