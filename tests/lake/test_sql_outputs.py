"""One query into real HDFS, S3 and ClickHouse at once; and out of HDFS again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import running, until
from tests.lake.lake_client import LakeClient
from tests.lake.shops import asked, asked_mariadb, config_of
from tests.services.clickhouse import PASSWORD, USER, ClickhouseServer
from tests.services.hdfs import HdfsServer
from tests.services.s3 import S3Server

pytestmark = pytest.mark.heavy

ROWS_WITHOUT_END = "select a.id, b.id as other from range(1000000) a cross join range(1000000) b"


@pytest.fixture
def lake(
    lake_python: Path,
    s3: S3Server,
    clickhouse: ClickhouseServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[LakeClient]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
    with running(
        tmp_path,
        auth="none",
        lake_private="true",
        sql_python=lake_python,
        s3_endpoint=s3.endpoint_url,
        clickhouse_url=clickhouse.url,
        clickhouse_user=USER,
        clickhouse_password=PASSWORD,
    ) as server:
        client = LakeClient(server)
        yield client
        client.close()


def files(kind: str, uri: str, path: str) -> dict[str, Any]:
    return {"type": kind, "config": {"class_name": "hadoop_config", "hdfs_uri": uri, "result_path": path}}


def table(name: str, mode: str) -> dict[str, Any]:
    config = {"class_name": "clickhouse_config", "database": "default", "table_name": name, "write_mode": mode}
    return {"type": "datainsider", "config": config}


def sql(query: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"query": query, "outputs": list(outputs)}


def test_one_query_fills_hdfs_s3_and_clickhouse_and_its_rows_are_read_back_from_hdfs(
    lake: LakeClient, hdfs: HdfsServer, s3: S3Server, clickhouse: ClickhouseServer
) -> None:
    s3.client().create_bucket(Bucket="results")
    clickhouse.query("create table of_query (id Int64, name String) engine = MergeTree order by id")
    outputs = (
        files("text_file", hdfs.host_port, "/data/abc"),
        files("parquet", hdfs.uri, "/data/parquet"),
        files("text_file", "s3://results", "/abc"),
        table("of_query", "replace"),
    )
    query = "select id, concat('name ', id) as name from range(3)"
    ended = lake.run(lake.create("sql_job", query_info=sql(query, *outputs)))
    assert (ended["job_status"], ended["stats"]["rows_written"]) == ("Finished", 12), ended
    assert hdfs.read("/data/abc/part-00000.csv") == b"0,name 0\n1,name 1\n2,name 2\n"
    found = s3.client().get_object(Bucket="results", Key="abc/part-00000.csv")["Body"].read()
    assert found == hdfs.read("/data/abc/part-00000.csv")
    assert clickhouse.query("select * from of_query order by id") == "0\tname 0\n1\tname 1\n2\tname 2\n"
    lake.table("back", "parquet", f"{hdfs.uri}/data/parquet")
    again = lake.run(
        lake.create("sql_job", query_info=sql("select max(name) from back", files("text_file", hdfs.uri, "/max")))
    )
    assert (again["job_status"], hdfs.read("/max/part-00000.csv")) == ("Finished", b"name 2\n"), again


def test_a_query_fills_databases_by_the_accounts_of_sources(
    lake: LakeClient, postgres_url: str, mariadb_url: str
) -> None:
    lake.source("shop", "postgresql", **{**config_of(postgres_url), "password": "not asked for"})
    lake.source("mall", "mysql", **config_of(mariadb_url))
    config = {"class_name": "database_config", "table_name": "of_query", "write_mode": "upsert", "key_columns": ["id"]}
    outputs = [{"type": "jdbc", "config": {**config, "source": each}} for each in ("shop", "mall")]
    for name, last in (("one", 3), ("other", 5)):
        query = f"select id, concat('{name} ', id) as name from range({last - 3}, {last})"
        ended = lake.run(lake.create("sql_job", query_info=sql(query, *outputs)))
        assert (ended["job_status"], ended["stats"]["rows_written"]) == ("Finished", 6), ended
    statement = "SELECT id, name FROM of_query ORDER BY id"
    rows = [(0, "one 0"), (1, "one 1"), (2, "other 2"), (3, "other 3"), (4, "other 4")]
    assert (asked(postgres_url, statement), asked_mariadb(mariadb_url, statement)) == (rows, rows)


def test_a_query_killed_while_it_writes_to_hdfs_and_clickhouse_leaves_nothing_there(
    lake: LakeClient, hdfs: HdfsServer, clickhouse: ClickhouseServer
) -> None:
    clickhouse.query("create table kept (id Int64, other Int64) engine = MergeTree order by id")
    clickhouse.query("insert into kept values (1, 2)")
    outputs = (files("text_file", hdfs.uri, "/killed/abc"), table("kept", "replace"))
    job_id = lake.create("sql_job", query_info=sql(ROWS_WITHOUT_END, *outputs))
    lake.start(job_id)
    until(lambda: lake.status(job_id)["progress"].get("rows_read", 0) > 0, "it never wrote a row")
    assert hdfs.list("/killed")
    lake.kill(job_id)
    lake.until(job_id, "Killed")
    assert hdfs.list("/killed") == []
    assert clickhouse.query("select * from kept") == "1\t2\n"
    assert "waterclock" not in clickhouse.query("show tables")


def test_an_output_that_is_down_is_named_and_the_others_stay_as_they_were(lake: LakeClient, hdfs: HdfsServer) -> None:
    outputs = (files("text_file", hdfs.uri, "/down/abc"), files("text_file", "127.0.0.1:1", "/abc"))
    ended = lake.run(lake.create("sql_job", query_info=sql("select 1", *outputs)))
    assert ended["job_status"] == "Error"
    assert "127.0.0.1:1" in ended["message"].splitlines()[0]
