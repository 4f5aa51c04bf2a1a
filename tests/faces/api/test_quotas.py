"""Quotas over the API: set by admins, felt by everybody, told with the figures."""

from tests.faces.api.serving import Served
from waterclock.domain.access import Role

JOB = {"kind": "python", "max_concurrent": 0}


async def test_what_is_over_a_quota_is_refused_in_words(server: Served) -> None:
    token = await server.token_of("ann", Role.AUTHOR)
    assert (await server.client.put("/quotas/jobs/ann", json={"most": 1})).json()["used"] == 0
    assert (await server.client.put("/quotas/live_runs", json={"most": 1})).json()["user"] is None
    async with server.as_user(token) as ann:
        assert (await ann.post("/jobs", json={"name": "one", **JOB})).status_code == 201
        refused = await ann.post("/jobs", json={"name": "two", **JOB})
        assert (refused.status_code, refused.json()["error"]["type"]) == (409, "quota_exceeded")
        assert "'ann' has 1 jobs and may have 1" in refused.json()["error"]["message"]
        assert (await ann.post("/runs", json={"job": "one"})).status_code == 201
        refused = await ann.post("/runs", json={"job": "one"})
        assert (refused.status_code, refused.json()["error"]["type"]) == (409, "quota_exceeded")
        lines = (await ann.get("/quotas")).json()["items"]
    assert lines == [
        {"user": "ann", "kind": "jobs", "most": 1, "used": 1},
        {"user": None, "kind": "live_runs", "most": 1, "used": None},
    ]


async def test_a_quota_that_is_removed_binds_nobody(server: Served) -> None:
    await server.client.put("/quotas/jobs", json={"most": 0})
    assert (await server.client.post("/jobs", json={"name": "one", **JOB})).status_code == 409
    assert (await server.client.delete("/quotas/jobs")).json() == {"user": None, "kind": "jobs"}
    assert (await server.client.post("/jobs", json={"name": "one", **JOB})).status_code == 201
    assert (await server.client.delete("/quotas/jobs")).status_code == 404


async def test_a_wrong_quota_is_refused(server: Served) -> None:
    for path, body in (("/quotas/cows", {"most": 1}), ("/quotas/jobs", {"most": -1}), ("/quotas/jobs", {})):
        answer = await server.client.put(path, json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_input"), path
    assert (await server.client.put("/quotas/jobs/nobody", json={"most": 1})).status_code == 404
