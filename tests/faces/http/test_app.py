"""The app around the faces: routes, health, numbers, and what it says when no face answers."""

import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.faces.http.raw import request, signed_call
from tests.faces.http.served import Served
from waterclock.faces.http.app import build_app
from waterclock.faces.http.body import Limited
from waterclock.faces.http.health import Health
from waterclock.faces.http.metrics import Metrics
from waterclock.services.access import Access, FirstStart
from waterclock.services.secretbox import SecretBox
from waterclock.stores.sqlite import SqliteDatabase

OPEN = {"/healthz", "/readyz", "/metrics"}


def test_every_route_asks_who_calls(served: Served) -> None:
    walked = set()
    for route in served.app.routes:
        assert isinstance(route, Route)
        for method in route.methods or ():
            answer = request(served, method, route.path)
            expected = {200} if route.path in OPEN else {401, 403}
            assert answer.status in expected, f"{method} {route.path} → {answer.status}"
            walked.add(route.path)
    assert walked == {*OPEN, "/", "/glue"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("POST", "/glue/more", 404),
        ("GET", "/", 405),
        ("POST", "/healthz", 405),
        ("OPTIONS", "/", 405),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%00", 404),
    ],
)
def test_what_is_not_there_is_refused_by_type(served: Served, method: str, path: str, status: int) -> None:
    answer = request(served, method, path)
    assert answer.status == status
    assert (answer.body["code"], answer.body["__type"]) == (status, "UnknownOperationException")
    assert answer.headers["x-amzn-requestid"]


def test_the_process_is_alive_and_its_store_answers(served: Served) -> None:
    assert request(served, "GET", "/healthz").raw == b"ok\n"
    assert request(served, "GET", "/readyz").raw == b"ok\n"


def test_the_numbers_tell_requests_and_live_runs(served: Served) -> None:
    assert signed_call(served, served.first.key, "GetJobs", {}).status == 200
    request(served, "GET", "/some/path/of/an/attacker")
    answer = request(served, "GET", "/metrics")
    text = answer.raw.decode()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'waterclock_http_requests_total{face="glue",action="GetJobs",status="200"}' in text
    assert 'waterclock_runs_live{state="RUNNING"} 0' in text
    assert "attacker" not in text
    assert all(line.startswith(("#", "waterclock_")) for line in text.splitlines())


async def test_from_another_host_the_numbers_need_a_token(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "wc.db"))
    await database.open()
    await database.migrate()
    access = Access(database, SecretBox(tmp_path / "keys"))
    kept: list[FirstStart] = []
    await access.first_start(kept.append)
    metrics = Metrics()
    app = build_app(glue=PlainTextResponse(), health=Health(database, access, metrics), metrics=metrics)
    transport = httpx.ASGITransport(app=app, client=("192.0.2.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://waterclock") as client:
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/metrics", headers={"Authorization": "Bearer wct_no"})).status_code == 401
        token = {"Authorization": f"Bearer {kept[0].token}"}
        assert (await client.get("/metrics", headers=token)).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
        await database.close()
        assert (await client.get("/healthz")).status_code == 200


async def test_a_store_that_does_not_answer_is_not_ready_and_says_no_more() -> None:
    store, metrics = SqliteDatabase(":memory:"), Metrics()  # never opened
    access = Access(store, SecretBox("/nonexistent/keys"))
    app = build_app(glue=PlainTextResponse(), health=Health(store, access, metrics), metrics=metrics)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://waterclock") as client:
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["message"]) == (503, "the store does not answer")
        numbers = await client.get("/metrics")  # of this host: nobody has to be looked up for them
        assert (numbers.status_code, "waterclock_store_up 0" in numbers.text) == (200, True)
    transport = httpx.ASGITransport(app=app, client=("192.0.2.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://waterclock") as client:
        answer = await client.get("/metrics", headers={"Authorization": "Bearer wct_no"})
        assert (answer.status_code, answer.json()["message"]) == (503, "the store does not answer")


async def test_a_node_that_drains_lives_but_is_not_ready(tmp_path: Path) -> None:
    database, metrics, draining = SqliteDatabase(str(tmp_path / "wc.db")), Metrics(), [True]
    await database.open()
    await database.migrate()
    health = Health(database, Access(database, SecretBox(tmp_path / "keys")), metrics, is_draining=draining.pop)
    app = build_app(glue=PlainTextResponse(), health=health, metrics=metrics)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://waterclock") as client:
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["message"]) == (503, "this node is draining: send calls to another")
        draining.append(False)
        assert (await client.get("/readyz")).status_code == 200
    await database.close()


async def test_what_nobody_foresaw_is_told_without_details(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: Request) -> PlainTextResponse:
        raise RuntimeError("the secret is hunter2")

    metrics = Metrics()
    store = SqliteDatabase(":memory:")
    health = Health(store, Access(store, SecretBox("/nonexistent/keys")), metrics)
    app = build_app(glue=PlainTextResponse(), health=health, metrics=metrics, routes=[Route("/api/x", broken)])
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://waterclock") as client:
        answer = await client.get("/api/x")
    assert (answer.status_code, answer.json()["__type"]) == (500, "InternalServiceException")
    assert "hunter2" not in answer.text
    assert answer.headers["x-amzn-requestid"] in caplog.text
    assert "hunter2" in caplog.text
    assert metrics.requests["api", "", 500] == 1


async def test_a_body_of_another_face_is_limited_in_size_and_time() -> None:
    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    app = Limited(Route("/", echo, methods=["POST"]).handle, most=10, seconds=0.05)
    transport = httpx.ASGITransport(app=app)

    async def pieces(count: int, *, then_wait: bool = False):  # type: ignore[no-untyped-def]
        for _ in range(count):
            yield b"1234"
        if then_wait:
            await asyncio.Event().wait()

    async with httpx.AsyncClient(transport=transport, base_url="http://waterclock") as client:
        assert (await client.post("/", content=b"1" * 10)).text == "10"
        assert (await client.post("/", content=b"1" * 11)).status_code == 413
        assert (await client.post("/", content=pieces(2))).text == "8"
        assert (await client.post("/", content=pieces(3))).status_code == 413
        assert (await client.post("/", content=pieces(1, then_wait=True))).status_code == 408
