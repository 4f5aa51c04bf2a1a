"""A table of 1,000,000 rows from PostgreSQL to Parquet by the program of a sync, beside a bare COPY of DuckDB's.

Then MariaDB to ClickHouse and CSV in a bucket to PostgreSQL, by the same program.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.harness import ROOT, data_dir, report

MODULE = "waterclock.runners.sync.main"
# In a process of its own: what children took at the most is told of all of them together.
MEASURED = """
import json, os, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": code, "seconds": time.perf_counter() - began, "megabytes": used.ru_maxrss / 1024,
                  "cpu_seconds": used.ru_utime + used.ru_stime}))
"""
BARE = """
import sys, duckdb
from waterclock.runners.sync.database.line import extension_path
duck = duckdb.connect()
duck.execute(f"LOAD '{extension_path('postgres_scanner')}'")
duck.execute(f"ATTACH '{sys.argv[1]}' AS src (TYPE postgres, READ_ONLY)")
duck.execute(f"COPY (FROM src.orders) TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION snappy)")
"""
POSTGRES = """
CREATE TABLE orders AS SELECT n::bigint AS id, (n % 1000)::int AS customer, md5(n::text) AS name,
n / 4.0::float8 AS price, timestamptz '2026-01-01 00:00:00Z' + n * interval '1 second' AS ordered_at,
n % 3 = 0 AS paid FROM generate_series(1, {rows}) n
"""
MARIADB = """
CREATE TABLE waterclock.orders
(id bigint PRIMARY KEY, customer int, name varchar(40), price double, ordered_at datetime, paid bool)
SELECT seq AS id, seq % 1000 AS customer, md5(seq) AS name, seq / 4 AS price,
timestampadd(SECOND, seq, '2026-01-01 00:00:00') AS ordered_at, seq % 3 = 0 AS paid FROM waterclock.seq_1_to_{rows}
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", action="append", choices=list(WAYS), help="default: all")
    parser.add_argument("--python", type=Path, default=ROOT / ".cache/lake/venv/bin/python", help="has DuckDB")


def run(given: argparse.Namespace) -> None:
    if not given.python.exists():
        raise SystemExit(f"{given.python} is not there: tools/lake-venv makes it")
    sys.path.insert(0, str(ROOT))
    for way in given.way or list(WAYS):
        with data_dir() as folder:
            WAYS[way](given, folder)


def postgres_to_parquet(given: argparse.Namespace, folder: Path) -> None:
    from tests.services.postgres import PostgresServer

    with PostgresServer() as server:
        _ask_postgres(server.url, POSTGRES.format(rows=given.rows))
        _ask_postgres(server.url, "ANALYZE orders")
        address = f"host=127.0.0.1 port={server.port} user=postgres dbname=waterclock"
        ours, bare = [], []
        for number in range(given.rounds):
            job = {"table_name": "orders", "destinations": [_parquet(folder / "lake")]}
            ours.append(_synced(given, folder / f"ours{number}", job, {1: _source("postgresql", server.url)}))
            bare.append(_measured(given, "-c", BARE, address, str(folder / f"bare{number}.parquet")))
        ratios = [one["seconds"] / other["seconds"] for one, other in zip(ours, bare, strict=True)]
        compared = {"bare": _figures(bare), "ratio": round(statistics.median(ratios), 2)}
        report("sync", way="postgres-parquet", rows=given.rows, ours=_figures(ours), **compared)


def mariadb_to_clickhouse(given: argparse.Namespace, folder: Path) -> None:
    from tests.services.clickhouse import ClickhouseServer
    from tests.services.mariadb import MariadbServer

    with MariadbServer() as server, ClickhouseServer() as clickhouse:
        asyncio.run(server.execute(MARIADB.format(rows=given.rows)))
        config = {"class_name": "clickhouse_config", "database": "default", "table_name": "orders"}
        account = {"url": clickhouse.url, "user": clickhouse.user, "password": clickhouse.password}
        job = {"table_name": "orders", "destinations": [{"type": "datainsider", "config": config}]}
        source = _source("mysql", server.url)
        ours = [
            _synced(given, folder / f"ours{number}", job, {1: source}, clickhouse=account)
            for number in range(given.rounds)
        ]
        assert clickhouse.query("SELECT count() FROM orders").strip() == str(given.rows)
    report("sync", way="mariadb-clickhouse", rows=given.rows, ours=_figures(ours))


def bucket_to_postgres(given: argparse.Namespace, folder: Path) -> None:
    from tests.services.postgres import PostgresServer
    from tests.services.s3 import S3Server

    with PostgresServer() as server, S3Server() as s3:
        client = s3.client()
        client.create_bucket(Bucket="orders")
        client.put_object(Bucket="orders", Key="orders.csv", Body=_csv(given.rows))
        keys = {"access_key": s3.access_key, "secret_key": s3.secret_key}
        bucket = ("s3", {"endpoint": s3.endpoint_url, "region": s3.region, "bucket": "orders", **keys})
        config = {"class_name": "database_config", "source_id": 2, "table_name": "orders"}
        job = {"path": "*.csv", "format": "csv", "destinations": [{"type": "postgresql", "config": config}]}
        sources = {1: bucket, 2: _source("postgresql", server.url)}
        ours = [
            _synced(given, folder / f"ours{number}", job, sources, kind="sync_file_job")
            for number in range(given.rounds)
        ]
    report("sync", way="s3-csv-postgres", rows=given.rows, ours=_figures(ours))


WAYS = {
    "postgres-parquet": postgres_to_parquet,
    "mariadb-clickhouse": mariadb_to_clickhouse,
    "s3-csv-postgres": bucket_to_postgres,
}


def _synced(
    given: argparse.Namespace,
    folder: Path,
    job: Mapping[str, Any],
    sources: Mapping[int, tuple[str, Mapping[str, Any]]],
    kind: str = "sync_db_job",
    **order: Any,
) -> dict[str, float]:
    """By the program that a worker starts, from an order that a worker would write."""
    from waterclock.domain.lake_sync import SyncMode
    from waterclock.runners.lake import order as orders
    from waterclock.runners.sync.destinations import Own, destinations_of

    folder.mkdir()
    own = Own(clickhouse=order.get("clickhouse", {}).get("url", ""))
    task = {"source_id": 1, "sync_mode": SyncMode.FULL, **job}
    written = orders.write(
        folder,
        orders.Order(
            kind=kind,
            job_id=1,
            run_id="bench",
            attempt_id=int(folder.name.removeprefix("ours")) + 1,
            task={**task, "destinations": destinations_of(task, SyncMode.FULL, own)},
            cache=str(folder / "cache"),
            roots=(str(folder.parent),),
            allows_private=True,
            sources=tuple({"id": number, "kind": kind, "config": config} for number, (kind, config) in sources.items()),
            **order,
        ),
    )
    figures = _measured(given, "-P", "-m", MODULE, str(written))
    said = {"progress": {}, **json.loads((folder / "report.json").read_text())}
    if figures.pop("code") or said["progress"].get("rows_written") != given.rows:
        raise SystemExit(f"the sync failed: {said.get('reason')}")
    return figures


def _measured(given: argparse.Namespace, *argv: str) -> dict[str, float]:
    from waterclock import __version__
    from waterclock.runners.lake.sync_task import VERSION

    environment = {**os.environ, VERSION: __version__}
    measuring = [sys.executable, "-c", MEASURED, str(given.python), *argv]
    done = subprocess.run(measuring, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _figures(rounds: Sequence[Mapping[str, float]]) -> dict[str, object]:
    return {
        "seconds": round(statistics.median(each["seconds"] for each in rounds), 2),
        "rounds": [round(each["seconds"], 2) for each in rounds],
        "cpu_seconds": round(statistics.median(each["cpu_seconds"] for each in rounds), 2),
        "most_megabytes": round(max(each["megabytes"] for each in rounds)),
    }


def _parquet(folder: Path) -> dict[str, Any]:
    config = {"class_name": "hadoop_config", "hdfs_uri": "file:///", "result_path": str(folder / "orders")}
    return {"type": "parquet", "config": config}


def _source(kind: str, url: str) -> tuple[str, Mapping[str, Any]]:
    parts = urlsplit(url)
    login = {"user": parts.username, "password": parts.password or ""}
    return kind, {"host": parts.hostname, "port": parts.port, "database": parts.path.strip("/"), **login}


def _csv(rows: int) -> bytes:
    lines = (f"{n},{n % 1000},name {n},{n / 4},2026-01-01 00:00:{n % 60:02},{n % 3 == 0}\n" for n in range(1, rows + 1))
    return ("id,customer,name,price,ordered_at,paid\n" + "".join(lines)).encode()


def _ask_postgres(url: str, statement: str) -> None:
    import asyncpg

    async def ask() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(ask())
