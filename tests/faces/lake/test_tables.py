"""Tables that queries name: given, listed and forgotten."""

from typing import Any

import httpx

from tests.faces.lake.samples import refused

TABLE: dict[str, Any] = {"name": "abc", "format": "parquet", "path": "s3://lake/abc"}


async def test_a_table_is_named_listed_and_forgotten(lake: httpx.AsyncClient) -> None:
    other = {"name": "orders_2", "format": "csv", "path": "file:///srv/orders"}
    assert (await lake.post("/lake/table/create", json={**TABLE, "more": 1})).json() == {"table": TABLE}
    assert (await lake.post("/lake/table/create", json={**other, "name": "Orders_2"})).json() == {"table": other}
    found = (await lake.post("/lake/table/list", json={})).json()
    assert sorted(found["data"], key=lambda each: each["path"]) == [other, TABLE]
    assert found["total"] == 2
    assert (await lake.post("/lake/table/list", json={"keyword": "abc"})).json() == {"data": [TABLE], "total": 1}
    assert (await lake.post("/lake/table/list", json={"size": 1})).json()["total"] == 2
    assert (await lake.delete("/lake/table/abc")).json() == {"success": True}
    assert (await lake.post("/lake/table/list")).json() == {"data": [other], "total": 1}


async def test_a_name_that_is_taken_is_refused(lake: httpx.AsyncClient) -> None:
    assert (await lake.post("/lake/table/create", json=TABLE)).status_code == 200
    again = await lake.post("/lake/table/create", json={**TABLE, "path": "/elsewhere"})
    assert "'abc' already exists" in refused(again, 409, "already_exists")


async def test_what_is_wrong_with_a_table_is_named(lake: httpx.AsyncClient) -> None:
    for changed, message in (
        ({"name": "a.b"}, "name: must have 1 to 255 letters"),
        ({"name": "1a"}, "name: must have 1 to 255 letters"),
        ({"name": "a; DROP VIEW x"}, "name: must have 1 to 255 letters"),
        ({"name": None}, "name: is required"),
        ({"format": "xls"}, "format: must be one of parquet, csv, json, delta"),
        ({"path": ""}, "path: must have 1 to 1000 characters"),
        ({"path": "elsewhere"}, "path: must be an absolute path"),
        ({"path": "a\0b"}, "path: cannot hold a NUL"),
    ):
        assert message in refused(await lake.post("/lake/table/create", json={**TABLE, **changed}))
    assert "from: must be" in refused(await lake.post("/lake/table/list", json={"from": -1}))
