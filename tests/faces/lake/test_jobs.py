"""Lake jobs over HTTP: made, sent back as they were shown, listed, sorted, changed, deleted."""

from typing import Any

import httpx
import pytest

from tests.faces.api.serving import NO_TLS, Served
from tests.faces.lake.samples import JAVA, ONCE_LATER, PYTHON, SQL, made, refused, started
from waterclock.domain.access import Role
from waterclock.domain.run import RunState


async def test_a_job_is_shown_as_it_was_sent_with_what_the_server_knows(lake: httpx.AsyncClient) -> None:
    sent = {**JAVA, "branch": "main", "args": ["a", "b"], "retries": 1, "labels": ["jdk"], "schedule_time": ONCE_LATER}
    job = await made(lake, sent, creator_id="eve", org_id=7, job_id=99, next_run_time=5, last_sync_status="Killed")
    assert {name: job[name] for name in sent} == sent
    assert (job["org_id"], job["creator_id"], job["job_type"], job["last_run_time"]) == (1, "admin", "Java", None)
    assert job["next_run_time"] == ONCE_LATER["start_time"]
    assert (job["last_sync_status"], job["current_sync_status"]) == ("Initialized", "Initialized")
    assert (await lake.get(f"/lake/job/{job['job_id']}")).json() == {"job": job}


async def test_what_was_shown_can_be_sent_back(lake: httpx.AsyncClient) -> None:
    job = await made(lake, SQL, schedule_time=ONCE_LATER, last_run_time=100)
    answer = await lake.put(f"/lake/job/{job['job_id']}", json={"job": job})
    assert answer.json() == {"success": True}
    assert (await lake.get(f"/lake/job/{job['job_id']}")).json() == {"job": job}


async def test_an_update_replaces_all_of_it_and_the_path_says_which(lake: httpx.AsyncClient) -> None:
    first, second = await made(lake, display_name="one", retries=3), await made(lake, display_name="two")
    changed = {**PYTHON, "code": "print(3)", "job_id": second["job_id"], "display_name": "three"}
    assert (await lake.put(f"/lake/job/{first['job_id']}", json={"job": changed})).json() == {"success": True}
    job = (await lake.get(f"/lake/job/{first['job_id']}")).json()["job"]
    assert (job["job_id"], job["display_name"], job["code"]) == (first["job_id"], "three", "print(3)")
    assert "retries" not in job
    assert (await lake.get(f"/lake/job/{second['job_id']}")).json() == {"job": second}


async def test_a_job_does_not_become_one_of_another_kind(lake: httpx.AsyncClient) -> None:
    job = await made(lake)
    answer = await lake.put(f"/lake/job/{job['job_id']}", json={"job": SQL})
    assert refused(answer).startswith("job.class_name: a python_job cannot become a sql_job")
    assert (await lake.get(f"/lake/job/{job['job_id']}")).json() == {"job": job}


async def test_a_deleted_job_is_gone(lake: httpx.AsyncClient) -> None:
    job = await made(lake)
    assert (await lake.delete(f"/lake/job/{job['job_id']}")).json() == {"success": True}
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/status")):
        answer = await lake.request(method, f"/lake/job/{job['job_id']}{path}")
        assert str(job["job_id"]) in refused(answer, 404, "not_found")
    assert (await lake.post("/lake/job/list", json={"from": 0, "size": 100})).json() == {"data": [], "total": 0}


async def test_neither_changed_nor_deleted_while_it_runs(lake: httpx.AsyncClient, server: Served) -> None:
    job = await made(lake)
    path = f"/lake/job/{job['job_id']}"
    await started(lake, job["job_id"])
    refused(await lake.put(path, json={"job": PYTHON}), reason="not_allowed")
    refused(await lake.delete(path), reason="not_allowed")
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    assert (await lake.put(path, json={"job": PYTHON})).json() == {"success": True}
    assert (await lake.delete(path)).json() == {"success": True}


async def test_lists_are_cut_searched_and_sorted(lake: httpx.AsyncClient) -> None:
    for name in ("beta orders", "alpha", "gamma orders"):
        await made(lake, display_name=name)

    async def listed(**asked: Any) -> tuple[list[str], int]:
        answer = await lake.post("/lake/job/list", json=asked)
        assert answer.status_code == 200, answer.text
        return [each["job"]["display_name"] for each in answer.json()["data"]], answer.json()["total"]

    by_name = [{"field": "display_name", "order": "ASC"}]
    assert await listed(sorts=by_name) == (["alpha", "beta orders", "gamma orders"], 3)
    assert await listed(sorts=[{"field": "name", "order": "DESC"}], size=1) == (["gamma orders"], 3)
    assert await listed(sorts=by_name, **{"from": 1, "size": 1}) == (["beta orders"], 3)
    assert await listed(keyword="orders", sorts=by_name) == (["beta orders", "gamma orders"], 2)
    assert await listed(keyword="%", sorts=by_name) == ([], 0)
    assert await listed(size=0) == ([], 3)
    assert (await listed(**{"from": 2_000}))[0] == []
    assert (await lake.post("/lake/job/list")).json()["total"] == 3


WRONG: list[tuple[str, Any, str]] = [
    ("size", 100_000, "size: must be a whole number, 0 to 1000"),
    ("size", 1_001, "size: must be a whole number, 0 to 1000"),
    ("size", "10", "size: must be a whole number"),
    ("from", -1, "from: must be a whole number"),
    ("keyword", 5, "keyword: must be text"),
    ("sorts", {}, "sorts: must be a list"),
    ("sorts", [{}], "sorts[0].field: is required"),
    ("sorts", [{"field": "job_id; DROP TABLE jobs", "order": "ASC"}], "sorts[0].field: must be one of job_id, "),
    ("sorts", [{"field": "definition"}], "sorts[0].field: must be one of"),
    ("sorts", [{"field": "job_id", "order": "ASC, 1"}], "sorts[0].order: must be one of ASC, DESC"),
    ("sorts", [{"field": ["job_id"]}], "sorts[0].field: must be one of"),
]


@pytest.mark.parametrize("path", ["/lake/job/list", "/lake/history/list"])
async def test_what_is_asked_wrongly_of_a_list_is_refused_by_name(lake: httpx.AsyncClient, path: str) -> None:
    for name, value, message in WRONG:
        answer = await lake.post(path, json={name: value})
        assert message.removesuffix("job_id, ") in refused(answer), (name, value)


async def test_what_is_wrong_with_a_job_is_named_with_its_place(lake: httpx.AsyncClient) -> None:
    wrong: list[tuple[Any, str]] = [
        ({}, "job: is required"),
        (PYTHON, "job: is required"),
        ({"job": []}, "job: must be a JSON object"),
        ({"job": {**JAVA, "build_tool": "ant"}}, "job.build_tool: must be one of maven, sbt, gradle, none"),
        ([], "must be a JSON object"),
    ]
    job = await made(lake)
    for sent, message in wrong:
        for method, path in (("POST", "/lake/job/create"), ("PUT", f"/lake/job/{job['job_id']}")):
            assert refused(await lake.request(method, path, json=sent)) == message
    assert (await lake.post("/lake/job/list")).json()["total"] == 1


async def test_bodies_that_are_none_are_refused(lake: httpx.AsyncClient) -> None:
    create = "/lake/job/create"
    typed = {"content-type": "application/json"}
    assert "the body is not JSON" in refused(await lake.post(create, content=b"{", headers=typed))
    assert "the body is not JSON" in refused(await lake.post(create, content=b"[" * 100_000, headers=typed))
    assert "content-type" in refused(await lake.post(create, content=b"{}", headers={"content-type": "text/plain"}))
    assert refused(await lake.post(create)) == "job: is required"
    long = b'{"job": "' + b"x" * 2**20 + b'"}'
    assert "longer than" in refused(await lake.post(create, content=long, headers=typed), 413, "body_too_large")


async def test_what_is_not_there_is_refused_in_the_shape_of_the_face(lake: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/lake/job/7"),
        ("GET", "/lake/job/seven"),
        ("GET", "/lake/job/-1"),
        ("GET", "/lake/job/" + "9" * 30),
        ("GET", "/lake/job/7/status"),
        ("PUT", "/lake/schedule/job/7/now"),
        ("PUT", "/lake/schedule/job/7/kill"),
        ("DELETE", "/lake/table/nothing"),
        ("GET", "/lake"),
        ("GET", "/lake/nothing"),
        ("GET", "/lake/job/1/2/3"),
    ):
        assert "not found" in refused(await lake.request(method, path), 404, "not_found"), (method, path)
    answer = await lake.request("PATCH", "/lake/job/7")
    assert "only DELETE, GET, PUT" in refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "DELETE, GET, PUT"


async def test_the_owner_changes_a_job_and_others_do_not(lake: httpx.AsyncClient, server: Served) -> None:
    tokens = [await server.token_of(name, Role.AUTHOR) for name in ("ann", "bob")]
    ann, bob = (
        httpx.AsyncClient(base_url=server.url, headers={"authorization": f"Bearer {token}"}, verify=NO_TLS)
        for token in tokens
    )
    async with ann, bob:
        job = await made(ann)
        path = f"/lake/job/{job['job_id']}"
        assert (await bob.get(path)).json()["job"]["creator_id"] == "ann"
        assert "belongs to 'ann'" in refused(await bob.put(path, json={"job": PYTHON}), 403, "forbidden")
        assert "belongs to 'ann'" in refused(await bob.delete(path), 403, "forbidden")
        assert (await ann.put(path, json={"job": PYTHON})).json() == {"success": True}
    assert (await lake.delete(path)).json() == {"success": True}


async def test_an_error_nobody_foresaw_has_the_members_of_the_shape(lake: httpx.AsyncClient, server: Served) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    object.__setattr__(server.context, "lake", type("Broken", (), {"list": broken})())
    answer = await lake.post("/lake/job/list")
    told = answer.json()
    assert (answer.status_code, told["code"], told["reason"], told["message"]) == (
        500,
        500,
        "internal",
        "An internal error occurred",
    )
