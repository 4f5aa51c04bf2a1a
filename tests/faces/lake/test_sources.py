"""Sources of syncs over REST: kept, shown without their secrets, and asked through a run on a worker."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import Held, Served
from tests.faces.api.test_audit import found
from tests.faces.lake.samples import made as made_job
from tests.faces.lake.samples import refused
from waterclock import __version__
from waterclock.domain.run import RunState
from waterclock.stores.ops.nodes import WORKER, Node, beat

HIDDEN = "******"
CONFIG: dict[str, Any] = {"host": "db", "database": "shop", "user": "reader", "password": "hunter22"}
SHOP: dict[str, Any] = {"name": "shop", "kind": "postgresql", "config": CONFIG}


async def made(lake: httpx.AsyncClient, **more: Any) -> Any:
    answer = await lake.post("/lake/source/create", json={**SHOP, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["source"]


async def asked(server: Served, call: Awaitable[httpx.Response]) -> tuple[Held, "asyncio.Task[httpx.Response]"]:
    """The run that a worker has begun for this call, which waits for it."""
    node = Node(id="n", host="n", name="n", duties=(WORKER,), slots=4, queues=("default",), version=__version__, pid=1)
    await server.database.write(beat, node=node, wall_us=0)
    waiting = asyncio.ensure_future(call)
    return await server.hand.begin_soon(), waiting


async def test_a_source_is_made_shown_changed_listed_and_deleted(lake: httpx.AsyncClient) -> None:
    source = await made(lake)
    path = f"/lake/source/{source['source_id']}"
    assert (source["kind"], source["owner"], source["creator_id"]) == ("postgresql", "admin", "admin")
    assert source["config"] == {**CONFIG, "port": 5432, "password": HIDDEN}
    assert (await lake.get(path)).json() == {"source": source}
    again = {**source, "name": "shop 2"}
    assert (await lake.put(path, json=again)).json() == {"success": True}
    shown = (await lake.get(path)).json()["source"]
    assert {**shown, "updated_time": 0} == {**again, "updated_time": 0}
    other = await made(lake, config={**CONFIG, "password": "{{secret:warehouse}}"})
    assert other["config"]["password"] == "{{secret:warehouse}}"
    listed = (await lake.post("/lake/source/list", json={"keyword": "SHOP", "size": 1})).json()
    assert listed == {"data": [other], "total": 2}
    assert (await lake.delete(path)).json() == {"success": True}
    assert "not found" in refused(await lake.get(path), 404, "not_found")
    assert (await lake.post("/lake/source/list")).json()["total"] == 1


async def test_what_is_wrong_with_a_source_is_named(lake: httpx.AsyncClient) -> None:
    await made(lake)
    assert "'shop' already exists" in refused(await lake.post("/lake/source/create", json=SHOP), 409, "already_exists")
    for changed, message in (
        ({"name": "7"}, "name: must not be digits alone"),
        ({"kind": "oracle"}, "kind: must be one of postgresql, mysql, sqlite"),
        ({"config": "x"}, "config: must be a JSON object"),
        ({"config": None}, "config: is required"),
        ({"config": {**CONFIG, "port": 0}}, "config.port: must be a whole number"),
        ({"config": {**CONFIG, "pwd": "hunter22"}}, "config.pwd: unknown field"),
        ({"config": {**CONFIG, "password": ""}}, "config.password: is empty: leave it out where there is none"),
        ({"config": {**CONFIG, "password": HIDDEN}}, "config.password: there is nothing stored"),
    ):
        said = refused(await lake.post("/lake/source/create", json={**SHOP, "name": "x", **changed}))
        assert message in said
        assert "hunter22" not in said


async def test_a_source_that_a_job_reads_cannot_be_deleted(lake: httpx.AsyncClient) -> None:
    source = await made(lake)
    output = {"type": "parquet", "config": {"hdfs_uri": "file://", "result_path": "/lake/orders"}}
    task = {"source": "shop", "table_name": "orders", "destinations": [output]}
    job = await made_job(lake, {"class_name": "sync_db_job", "display_name": "orders", **task})
    refusal = await lake.delete(f"/lake/source/{source['source_id']}")
    assert f"is named by the lake job(s) {job['job_id']}" in refused(refusal, 400, "not_allowed")


async def test_a_secret_is_nowhere_but_sealed(
    server: Served, lake: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    source = await made(lake)
    path = f"/lake/source/{source['source_id']}"
    await lake.put(path, json={**source, "config": {**CONFIG, "password": "hunter23"}})
    refused(await lake.put(path, json={**source, "config": {**CONFIG, "passwd": "hunter24"}}))
    await lake.post(f"{path}/test")
    items = await found(server.client, least=4)
    actions = [(each["action"], each["resource"]) for each in items if each["face"] == "lake"]
    assert ("POST /lake/source/create", str(source["source_id"])) in actions
    stored = b"".join(file.read_bytes() for file in server.folder.rglob("*") if file.is_file())
    for secret in ("hunter22", "hunter23", "hunter24"):
        assert secret not in str(items) + caplog.text
        assert secret.encode() not in stored


async def test_a_source_is_asked_by_a_worker_and_its_answer_comes_back(server: Served, lake: httpx.AsyncClient) -> None:
    source = await made(lake)
    path = f"/lake/source/{source['source_id']}"
    held, call = await asked(server, lake.post(f"{path}/test"))
    assert held.arguments == {
        "--action": "test",
        "--source": str(source["source_id"]),
        "--what": "{}",
        "--secrets": f"{{{{secret:source-{source['source_id']}-password}}}}",
    }
    await held.say(message="PostgreSQL 18.4")
    await held.end(RunState.SUCCEEDED)
    assert (await call).json() == {"success": True, "message": "PostgreSQL 18.4"}
    held, call = await asked(server, lake.get(f"{path}/tables"))
    await held.say(tables=["public.orders"], cut=True, total=7_000)
    await held.end(RunState.SUCCEEDED)
    assert (await call).json() == {"tables": ["public.orders"], "cut": True, "total": 7_000}
    held, call = await asked(server, lake.post(f"{path}/preview", json={"table_name": "orders", "limit": 2}))
    assert held.arguments["--what"] == '{"table_name": "orders", "rows": 2}'
    columns, rows = [{"name": "id", "type": "int64"}], [[1], [None]]
    await held.say(columns=columns, rows=rows)
    await held.end(RunState.SUCCEEDED)
    assert (await call).json() == {"columns": columns, "rows": rows}
    for nobodys in ("job", "history"):
        assert (await lake.post(f"/lake/{nobodys}/list")).json() == {"data": [], "total": 0}
    assert (await lake.get("/lake/schedule/job/progress")).json()["total"] == 0


async def test_why_a_source_does_not_answer_is_told(server: Served, lake: httpx.AsyncClient) -> None:
    source = await made(lake)
    path = f"/lake/source/{source['source_id']}"
    nobody = refused(await lake.post(f"{path}/test"), 400, "not_allowed")
    assert nobody == "a source is read by a worker, and no worker is alive: start one (waterclock worker)"
    held, call = await asked(server, lake.post(f"{path}/test"))
    await held.end(RunState.FAILED, exit_code=1, message="db:5432 refuses the password of reader (exit code 1)")
    assert refused(await call, 400, "not_allowed") == "db:5432 refuses the password of reader"
    assert "limit: must be" in refused(await lake.post(f"{path}/preview", json={"limit": 0}))
    refused(await lake.post("/lake/source/777/test"), 404, "not_found")
