"""Sync jobs over REST: made for one table or for many, run in either mode, told in their own words."""

import asyncio
from typing import Any

import httpx

from tests.faces.api.serving import Served
from tests.faces.lake.samples import PYTHON, made, refused, started
from tests.faces.lake.test_sources import asked
from tests.faces.lake.test_sources import made as made_source
from tests.faces.lake.test_sync_definition import FILES, PARQUET, SERVICE, TABLE
from waterclock.domain.access import Role
from waterclock.domain.run import RunState

MANY = {**TABLE, "table_name": None, "display_name": "shop", "destinations": None}


async def many(lake: httpx.AsyncClient, tables: object, **more: Any) -> httpx.Response:
    return await lake.post("/lake/job/create_many", json={"job": {**MANY, **more}, "tables": tables})


async def now(lake: httpx.AsyncClient, job: dict[str, Any], mode: str) -> httpx.Response:
    return await lake.put(f"/lake/schedule/job/{job['job_id']}/now", json={"mode": mode})


async def test_a_sync_is_shown_as_it_was_sent_and_can_be_sent_back(lake: httpx.AsyncClient) -> None:
    await made_source(lake)
    job = await made(lake, {**TABLE, "class_name": "jdbc_job", "incremental_column": "id"}, sync_mode="IncrementalSync")
    assert (job["class_name"], job["source"], job["sync_mode"]) == ("jdbc_job", "shop", "IncrementalSync")
    assert (job["last_sync_status"], job["current_sync_status"], job["job_type"]) == ("Init", "Init", "SyncDb")
    path = f"/lake/job/{job['job_id']}"
    assert (await lake.put(path, json={"job": job})).json() == {"success": True}
    assert (await lake.get(path)).json() == {"job": job}
    renamed = {**job, "class_name": "sync_db_job"}
    assert (await lake.put(path, json={"job": renamed})).json() == {"success": True}
    files = await lake.put(path, json={"job": {**FILES, "source": "shop"}})
    assert refused(files).startswith("job.class_name: a sync_db_job cannot become a sync_file_job")


async def test_a_source_that_is_not_there_or_does_not_fit_is_bad_input(lake: httpx.AsyncClient) -> None:
    await made_source(lake)
    create = "/lake/job/create"
    assert refused(await lake.post(create, json={"job": {**TABLE, "source": "shap"}})) == (
        "job.source: there is no source 'shap' in your organisation: see waterclock lake source list"
    )
    assert "a sync_service_job needs one of rest" in refused(
        await lake.post(create, json={"job": {**SERVICE, "source": "shop"}})
    )
    output = {"type": "mysql", "config": {"source": "shop", "table_name": "t"}}
    answer = await lake.post(create, json={"job": {**TABLE, "destinations": [PARQUET, output]}})
    assert refused(answer).startswith("destinations[1].config.source: 'shop' is a source of the kind postgresql")


async def test_a_run_is_told_in_the_words_of_syncs(lake: httpx.AsyncClient, server: Served) -> None:
    await made_source(lake)
    job = await made(lake, TABLE)
    status = f"/lake/job/{job['job_id']}/status"
    await started(lake, job["job_id"])
    assert (await lake.get(status)).json()["current_sync_status"] == "Queued"
    held = await server.hand.begin()
    await held.say(rows_read=5, percent=50.0)
    told = (await lake.get(status)).json()
    assert (told["current_sync_status"], told["last_sync_status"]) == ("Syncing", "Init")
    assert told["progress"] == {"rows_read": 5, "percent": 50.0}
    await held.end(RunState.SUCCEEDED)
    assert (await lake.get(status)).json()["last_sync_status"] == "Synced"
    (run,) = (await lake.post("/lake/history/list", json={})).json()["data"]
    assert run["job_status"] == "Synced"
    await started(lake, job["job_id"])
    await lake.put(f"/lake/schedule/job/{job['job_id']}/kill")
    assert (await lake.get(status)).json()["current_sync_status"] == "Terminated"


async def test_one_run_may_have_another_mode(lake: httpx.AsyncClient, server: Served) -> None:
    await made_source(lake)
    full, growing = await made(lake, TABLE), await made(lake, TABLE, incremental_column="id")
    python = await made(lake, PYTHON)
    assert refused(await now(lake, full, "IncrementalSync")).startswith("mode: job ")
    assert refused(await now(lake, python, "FullSync")).startswith("mode: is for sync jobs")
    assert "must be one of Once, Continuous, FullSync, IncrementalSync" in refused(await now(lake, full, "Half"))
    assert (await now(lake, growing, "IncrementalSync")).json()["success"] is True
    held = await server.hand.begin()
    assert held.arguments["--sync-mode"] == "IncrementalSync"
    await held.end(RunState.SUCCEEDED)
    await started(lake, growing["job_id"])
    assert "--sync-mode" not in (await server.hand.begin()).arguments


async def test_a_job_for_each_table_is_made_by_one_call(lake: httpx.AsyncClient) -> None:
    await made_source(lake)
    answer = (await many(lake, ["orders", "shop.users"], dest_table_name="raw_{table}")).json()
    assert answer["total"] == 2
    assert [(job["job"]["display_name"], job["job"]["table_name"]) for job in answer["data"]] == [
        ("shop orders", "orders"),
        ("shop shop.users", "shop.users"),
    ]
    assert [job["job"]["dest_table_name"] for job in answer["data"]] == ["raw_orders", "raw_shop_users"]
    assert (await lake.post("/lake/job/list", json={})).json()["data"] == answer["data"]


async def test_all_tables_of_a_source_are_asked_for(lake: httpx.AsyncClient, server: Served) -> None:
    await made_source(lake)
    for tables in (["orders", "users"], []):
        held, waiting = await asked(server, many(lake, "*"))
        await held.say(tables=tables)
        await held.end(RunState.SUCCEEDED)
        answer = await asyncio.wait_for(waiting, 10)
        if tables:
            assert [job["job"]["table_name"] for job in answer.json()["data"]] == tables
        else:
            assert refused(answer) == "tables: the source has 0: name 1 to 500 of them"


async def test_what_is_wrong_makes_none_of_them(lake: httpx.AsyncClient, server: Served) -> None:
    await made_source(lake)
    for tables, more, reason in (
        (["a"], {"class_name": "sync_file_job"}, "job.class_name: must be sync_db_job: only a database has tables"),
        (["a"], {"table_name": "a"}, "job.table_name: must be left out: tables says what is read"),
        (["a", "a"], {}, "tables: has 'a' twice"),
        ([], {}, "tables: must be a list of 1 to 500"),
        ("a", {}, "tables: must be a list of names, or '*'"),
        ("*", {"source": "shap"}, "job.source: there is no source 'shap'"),
        (["a"], {"source": "shap"}, "job.source: there is no source 'shap'"),
        (["a", "x" * 255], {}, "job.display_name: must have"),
        (["a"], {"destinations": 5}, "job.destinations: must be a list"),
        (["a"], {"destinations": [5]}, "job.destinations[0]: must be a JSON object"),
        (["a"], {"dest_table_name": 5}, "job.dest_table_name: must be text"),
    ):
        assert refused(await many(lake, tables, **more)).startswith(reason), reason
    async with server.as_user(await server.token_of("v", Role.VIEWER)) as viewer:
        body = {"job": MANY, "tables": ["a"]}
        refused(await viewer.post(f"{server.url}/lake/job/create_many", json=body), 403, "forbidden")
    assert (await lake.post("/lake/job/list", json={})).json()["total"] == 0


async def test_the_bookmark_of_a_sync_is_an_object(lake: httpx.AsyncClient) -> None:
    await made_source(lake)
    job, python = await made(lake, TABLE), await made(lake, PYTHON)
    bookmark = "/api/v1/jobs/{}/bookmark?namespace=lake"
    for content in ("5", "NaN", '{"value": NaN}', "{"):
        answer = await lake.put(bookmark.format(job["job_id"]), json={"content": content})
        assert (answer.status_code, "JSON object" in answer.text) == (400, True), content
    for number, content in ((job["job_id"], '{"value": 5}'), (python["job_id"], "5")):
        assert (await lake.put(bookmark.format(number), json={"content": content})).status_code == 200


async def test_a_worker_of_others_may_report_in_either_words(lake: httpx.AsyncClient, server: Served) -> None:
    await made_source(lake)
    job = await made(lake, TABLE, queue="lake")
    run_id = await started(lake, job["job_id"])
    async with server.as_user(await server.token_of("w", Role.WORKER)) as worker:
        url = f"{server.url}/lake/schedule/job"
        offered = (await worker.get(f"{url}/next", params={"wait": 0})).json()["data"]
        assert (offered["run_id"], offered["job"]["source"]) == (run_id, "shop")
        for status in ("Syncing", "Running", "Synced", "Finished"):
            heard = await worker.post(f"{url}/report", json={"run_id": run_id, "job_status": status})
            assert heard.json()["success"] is True, heard.text
        late = await worker.post(f"{url}/report", json={"run_id": run_id, "job_status": "Terminated"})
        assert (late.json()["success"], late.json()["job_status"]) == (False, "Synced")
