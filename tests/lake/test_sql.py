"""SQL jobs from the REST face to files, on real engines: rows, errors, kills, and the deaths of whoever is between."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import Server, alive, running, until
from tests.lake.held_bucket import HeldBucket
from tests.lake.lake_client import ENDED, LakeClient
from waterclock.runners import proc

pytestmark = pytest.mark.heavy

TABLES = """
import json, os, sys
import pyarrow as pa, pyarrow.parquet as pq
os.chdir(sys.argv[1])
rows = pa.table({"id": list(range(1000)), "name": [f"name {number}" for number in range(1000)]})
pq.write_table(rows, "abc.parquet")
open("c.csv", "w").write("id,price\\n1,1.5\\n2,2.5\\n")
open("j.json", "w").write('{"id": 1, "at": "here"}\\n{"id": 2, "at": "there"}\\n')
os.makedirs("d/_delta_log")
pq.write_table(rows.slice(0, 10), "d/part.parquet")
fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in (("id", "long"), ("name", "string"))]
table = {"id": "d", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [], "configuration": {},
         "schemaString": json.dumps({"type": "struct", "fields": fields})}
part = {"path": "part.parquet", "size": os.path.getsize("d/part.parquet"), "modificationTime": 1, "dataChange": True,
        "partitionValues": {}}
log = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": table}, {"add": part}]
open("d/_delta_log/00000000000000000000.json", "w").write("\\n".join(map(json.dumps, log)))
"""
SPARK_SECONDS = 300.0  # on a busy machine it takes minutes to start
ROWS_WITHOUT_END = "select a.id, b.id as other from range(1000000) a cross join range(1000000) b"
NO_ROW_FOR_LONG = "select count(*) as n from range(10000000) a cross join range(1000000) b where a.id + b.id < 0"


@pytest.fixture(scope="module")
def folder(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What jobs may read and write."""
    made = tmp_path_factory.mktemp("lake")
    subprocess.run([lake_python, "-c", TABLES, made], check=True)
    return made


class Queries:
    """A server with an engine, and the tables above."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.lake = LakeClient(server)
        for name, kind in (("abc", "parquet"), ("c", "csv"), ("j", "json"), ("d", "delta")):
            suffix = "" if kind == "delta" else f".{kind}"
            self.lake.table(name, kind, str(folder / f"{name}{suffix}"))

    def create(self, query: str, to: str = "out") -> int:
        config = {"class_name": "hadoop_config", "hdfs_uri": "file:///", "result_path": str(self.folder / to)}
        output = {"type": "text_file", "config": config}
        return self.lake.create("sql_job", query_info={"query": query, "outputs": [output]})

    def run(self, query: str, to: str = "out") -> dict[str, Any]:
        return self.lake.run(self.create(query, to))

    def has_started(self) -> Callable[[], bool]:
        """Whether a first query has ended, however it did."""
        job_id = self.create("select 1", "first")
        self.lake.start(job_id)
        return lambda: self.lake.status(job_id)["current_sync_status"] in ENDED

    def text(self, to: str = "out") -> list[str]:
        parts = sorted((self.folder / to).glob("part-*"))
        return [line for part in parts for line in part.read_text().splitlines()]

    def left(self, to: str = "out") -> list[str]:
        """What lies in place, or aside, of an output: the latter has its name, too."""
        return sorted(path.name for path in self.folder.iterdir() if to in path.name)

    def program(self) -> int:
        """Of the query that runs: it is a fork of the warm interpreter, in its attempt's folder."""
        (pid,) = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_program(pid)]
        return pid

    def _is_program(self, pid: int) -> bool:
        with suppress(OSError):
            return comm(pid) == "program.py" and os.readlink(f"/proc/{pid}/cwd").startswith(str(self.server.data))
        return False

    def executors(self) -> list[int]:
        return [pid for pid in self.server.pids() if comm(pid) == "wc-sql"]

    def host(self) -> int:
        found = [pid for pid in self.server.pids() if comm(pid) == "wc-sql-host"]
        forks = {child for pid in found for child in proc.children(pid)}  # which have its name for a moment
        (host,) = set(found) - forks
        return host


def comm(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


@pytest.fixture(scope="module")
def sail(lake_python: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queries]:
    with running(tmp_path_factory.mktemp("sail"), auth="none", sql_python=lake_python, lake_roots=folder) as server:
        yield Queries(server, folder)


@pytest.fixture(scope="module")
def spark(
    lake_python: Path, java_home: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Queries]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        place = tmp_path_factory.mktemp("spark")
        with running(
            place, auth="none", sql_python=lake_python, sql_engine="spark", sql_remote="local[2]", lake_roots=folder
        ) as server:
            queries = Queries(server, folder)
            until(queries.has_started(), "Spark does not start", SPARK_SECONDS)
            yield queries


def test_rows_of_all_formats_reach_a_file_and_are_counted(sail: Queries) -> None:
    query = "select abc.name, c.price, j.at, d.name as d from abc join c using (id) join j using (id) join d using (id)"
    ended = sail.run(f"{query} order by id;")
    assert (ended["job_status"], ended["message"]) == ("Finished", "")
    assert sail.text() == ["name 1,1.5,here,name 1", "name 2,2.5,there,name 2"]
    where = f"file://{sail.folder}/out"
    told = {name: ended["stats"][name] for name in ("rows_read", "rows_written", "outputs")}
    (written,) = told.pop("outputs")
    assert told == {"rows_read": 2, "rows_written": 2}
    assert (written["where"], written["rows"]) == (where, 2)
    assert f"{where}: 2 rows" in sail.lake.log()


def test_the_same_executor_answers_again_and_views_of_a_query_are_gone_with_it(sail: Queries) -> None:
    assert sail.run("create temp view mine as select 1")["job_status"] == "Finished"
    before = sail.executors()
    assert "table 'mine' not found" in sail.run("select * from mine")["message"]
    assert set(before) & set(sail.executors())
    threads = {comm(int(thread)) for thread in os.listdir(f"/proc/{sail.host()}/task")}
    assert threads <= {"wc-sql-host", "jemalloc_bg_thd"}, "who forks has no threads; Arrow's allocator knows of forks"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("-- of late\n  selec 1", "query: found selec at line 2, position 3"),
        ("select * from nowhere", "table 'nowhere' not found: the query may name abc, c, d, j"),
        ("select nothing from abc", "query: attribute"),
    ],
)
def test_a_query_that_is_wrong_ends_in_error_with_the_reason_first(sail: Queries, query: str, reason: str) -> None:
    ended = sail.run(query, "wrong")
    assert ended["job_status"] == "Error"
    assert ended["message"].startswith(reason)
    assert sail.left("wrong") == []


def test_a_table_outside_the_folders_of_jobs_is_not_read(sail: Queries) -> None:
    sail.lake.table("passwords", "csv", "/etc/passwd")
    ended = sail.run("select * from passwords", "wrong")
    assert ended["message"].startswith("table 'passwords': '/etc/passwd' lies outside the folders that lake jobs may")


@pytest.mark.parametrize("way", ["kill", "kill -9"])
def test_a_query_killed_while_it_writes_leaves_nothing(sail: Queries, way: str) -> None:
    job_id = sail.create(ROWS_WITHOUT_END, "killed")
    sail.lake.start(job_id)
    until(lambda: sail.lake.status(job_id)["progress"].get("rows_read", 0) > 0, "it never wrote a row")
    assert sail.left("killed"), "its rows lie aside"
    if way == "kill":
        before = sail.executors()
        sail.lake.kill(job_id)
        sail.lake.until(job_id, "Killed")
        assert set(before) - set(sail.executors()), "the process of its engine is gone"
        assert sail.left("killed") == []
    else:
        os.kill(sail.program(), signal.SIGKILL)
        assert sail.lake.ended(job_id)["job_status"] == "Error"
        until(lambda: sail.left("killed") == [], "what it wrote aside is still there")


def test_when_the_host_is_killed_the_run_says_so_and_the_next_query_has_a_new_one(sail: Queries) -> None:
    job_id = sail.create(ROWS_WITHOUT_END, "orphan")
    sail.lake.start(job_id)
    until(lambda: sail.lake.status(job_id)["progress"].get("rows_read", 0) > 0, "it never wrote a row")
    executors = sail.executors()
    os.kill(sail.host(), signal.SIGKILL)
    assert sail.lake.ended(job_id)["message"].startswith("the SQL host died")
    until(lambda: not any(map(alive, executors)), "an executor outlives its host")
    assert sail.run("select 1", "orphan")["job_status"] == "Finished"


def test_a_query_goes_on_while_its_worker_dies_and_is_recorded_by_the_next(
    lake_python: Path, folder: Path, tmp_path: Path
) -> None:
    with (
        HeldBucket((folder / "abc.parquet").read_bytes()) as bucket,
        running(
            tmp_path, auth="none", sql_python=lake_python, lake_roots=folder, s3_endpoint=bucket.endpoint
        ) as server,
    ):
        queries = Queries(server, folder)
        queries.lake.table("held", "parquet", "s3://held/t.parquet")
        job_id = queries.create("select count(*) from held", "held")
        queries.lake.start(job_id)
        assert bucket.asked.wait(60)
        before = queries.host()
        server.kill("engine")
        until(lambda: server.pids("waterclock.app.launch\0engine\0"), "no new worker")
        bucket.release()
        assert queries.lake.ended(job_id)["job_status"] == "Finished"
        assert (queries.text("held"), queries.host()) == (["1000"], before)


@pytest.mark.timeout(SPARK_SECONDS)
def test_spark_answers_too_and_says_what_is_wrong(spark: Queries) -> None:
    ended = spark.run("select count(*) as n, max(name) from abc", "of-spark")
    assert (ended["job_status"], spark.text("of-spark")) == ("Finished", ["1000,name 999"]), ended
    wrong = spark.run("select * form abc x", "wrong")
    assert wrong["message"].startswith("query: [PARSE_SYNTAX_ERROR] Syntax error at or near 'abc'")
    assert "the query may name abc, c, d, j" in spark.run("select * from nowhere", "wrong")["message"]


@pytest.mark.timeout(SPARK_SECONDS)
@pytest.mark.parametrize("is_stopped", [False, True], ids=["executor answers", "executor hangs"])
def test_a_kill_ends_the_operation_at_spark(spark: Queries, is_stopped: bool) -> None:
    job_id = spark.create(NO_ROW_FOR_LONG, "killed-by-spark")
    spark.lake.start(job_id)
    (server,) = spark.server.pids("SparkConnectServer")
    until(lambda: operations(server), "nothing runs at the server")
    if is_stopped:
        for executor in spark.executors():
            os.kill(executor, signal.SIGSTOP)
    spark.lake.kill(job_id)
    spark.lake.until(job_id, "Killed")
    until(lambda: not operations(server), "the server still runs it")
    assert spark.left("killed-by-spark") == []
    assert alive(server)


@pytest.mark.timeout(SPARK_SECONDS)
def test_spark_dies_with_the_host_that_started_it(spark: Queries) -> None:
    (server,) = spark.server.pids("SparkConnectServer")
    os.kill(spark.host(), signal.SIGKILL)
    until(lambda: not alive(server), "Spark outlives its host")


def operations(server: int) -> list[str]:
    """The threads of Spark's server that run something, as the kernel names them."""
    names = []
    for thread in os.listdir(f"/proc/{server}/task"):
        with suppress(OSError):
            names.append(Path(f"/proc/{server}/task/{thread}/comm").read_text().strip())
    return [name for name in names if name.startswith("SparkConnectExe")]
