"""`waterclock lake sync`: what it sends, refuses and prints, and how far a sync is while it is followed."""

import asyncio
import json
from typing import Any

import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine, ended
from tests.faces.cli.terminal import Terminal
from tests.faces.cli.test_chain_watching import in_terminal
from waterclock.domain.run import RunState
from waterclock.faces.cli.lake.progress import bar, readable

HALF = {"mode": "FullSync", "rows_read": 1_000, "total_rows": 2_000, "percent": 50.0, "rows_per_second": 1_234}
SHOP = {"name": "shop", "kind": "postgresql", "config": {"host": "db", "database": "shop", "user": "ann"}}
TO = ("--to", "parquet:file:///data/orders")


async def with_source(server: Served) -> None:
    answer = await server.client.post(f"{server.url}/lake/source/create", json=SHOP)
    assert answer.status_code == 200, answer.text


async def dry(wc: CommandLine, *args: str) -> Any:
    return json.loads(await wc.ok("lake", "sync", "orders", "--source", "shop", *args, "--dry-run"))


async def test_short_ways_make_the_job_that_a_file_would(wc: CommandLine) -> None:
    table = await dry(
        wc, "--table", "orders", *TO, "--incremental", "id", "--since", "5", "--key", "id", "--every", "1h"
    )
    assert table["job"] == {
        "class_name": "sync_db_job",
        "display_name": "orders",
        "schedule_time": {"class_name": "schedule_hourly", "recur_every": 1},
        "source": "shop",
        "table_name": "orders",
        "sync_mode": "IncrementalSync",
        "incremental_column": "id",
        "last_synced_value": "5",
        "key_columns": ["id"],
        "destinations": [
            {
                "type": "parquet",
                "config": {"class_name": "hadoop_config", "hdfs_uri": "file://", "result_path": "/data/orders"},
            }
        ],
    }
    places = ("clickhouse", "clickhouse:shop.orders", "postgresql:dwh:raw.orders", "mysql:7:orders", "duckdb:/a.db:t")
    query = await dry(wc, "--query", "select 1", *(word for place in places for word in ("--to", place)))
    assert (query["job"]["query"], query["job"]["sync_mode"]) == ("select 1", "FullSync")
    store, *outputs = query["job"]["destinations"]
    assert store == "Clickhouse"
    assert [(each["type"], each["config"]) for each in outputs] == [
        ("datainsider", {"class_name": "clickhouse_config", "database": "shop", "table_name": "orders"}),
        (
            "postgresql",
            {"class_name": "database_config", "source": "dwh", "schema": "raw", "table_name": "orders"},
        ),
        ("mysql", {"class_name": "database_config", "source": "7", "table_name": "orders"}),
        ("duckdb", {"class_name": "duckdb_config", "path": "/a.db", "table_name": "t"}),
    ]
    files = (await dry(wc, "--path", "a/*.csv", "--new-files", "--on-bad-line", "skip", *TO))["job"]
    assert (files["class_name"], files["sync_mode"], files["on_bad_line"]) == (
        *("sync_file_job", "IncrementalSync", "skip"),
    )
    paging = ("--set", 'paging={"style": "page"}', "--set", "method=POST")
    service = (await dry(wc, "--endpoint", "/v1", "--records", "$.data[*]", *paging, *TO))["job"]
    assert (service["class_name"], service["paging"], service["method"]) == (
        *("sync_service_job", {"style": "page"}, "POST"),
    )
    several = await dry(wc, "--table", "a", "--table", "b", "--to", "parquet:s3://lake/{table}")
    assert (several["tables"], "table_name" in several["job"]) == (["a", "b"], False)
    assert (await dry(wc, "--table", "*", "--into", "raw_{table}"))["tables"] == "*"


async def test_a_sync_is_made_for_one_table_or_for_each(wc: CommandLine, server: Served) -> None:
    await with_source(server)
    number = (await wc.ok("lake", "sync", "orders", "--source", "shop", "--table", "orders", *TO)).strip()
    assert json.loads(await wc.ok("lake", "show", number, "--json"))["table_name"] == "orders"
    several = ("--table", "a", "--table", "b", "--to", "parquet:s3://lake/{table}")
    numbers = (await wc.ok("lake", "sync", "shop", "--source", "shop", *several)).split()
    assert [int(each) for each in numbers] == [int(number) + 1, int(number) + 2]
    found = json.loads(await wc.ok("lake", "list", "--keyword", "shop", "--json"))
    assert [job["display_name"] for job in found] == ["shop a", "shop b"]


WRONG: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("--table", "a"),
        "say where the rows go: --to parquet:file:///PATH, or --into TABLE of the store in the settings",
    ),
    ((), "give one of --table, --query, --endpoint, --path and --spreadsheet"),
    (("--table", "a", "--path", "b"), "give one of --table, --query, --endpoint, --path and --spreadsheet"),
    (("--table", "a", "--to", "postgresql:orders"), "--to postgresql:orders: must be postgresql:SOURCE:TABLE"),
    (("--table", "a", "--to", "duckdb:x"), "--to duckdb:x: must be duckdb:PATH:TABLE"),
    (("--table", "a", "--to", "oracle:x"), "--to oracle:x: must begin with text:, parquet:"),
    (("--table", "a", "--set", "paging"), "--set paging: must be FIELD=JSON"),
    (("--table", "a", *TO, "--source", "nobody"), "job.source: there is no source 'nobody'"),
    (("--table", "a", "--table", "b", *TO), "job.destinations[0]: is one place for all tables"),
    (("--table", "a", "--table", "b", *TO, "--follow"), "--follow is of one table"),
)


async def test_what_is_wrong_is_refused_with_what_to_do(wc: CommandLine) -> None:
    for args, words in WRONG:
        said = await wc.here("lake", "sync", "x", "--source", "shop", *args)
        assert (said.code, said.out) == (2, ""), said
        assert words in said.err


async def test_a_sync_that_is_followed_says_how_far_it_is(wc: CommandLine, server: Served) -> None:
    """Standard error is no terminal here: lines, at most one in two seconds."""
    await with_source(server)
    following = await wc.start("lake", "sync", "orders", "--source", "shop", "--table", "orders", *TO, "--follow")
    assert following.stdout
    number = (await asyncio.wait_for(following.stdout.readline(), PATIENCE_SECONDS)).decode().strip()
    held = await server.hand.begin_soon()
    held.write(b"reading\n")
    await held.say(**HALF)
    assert following.stderr
    seen = b""
    while b"rows read" not in seen:
        seen = await asyncio.wait_for(following.stderr.readline(), PATIENCE_SECONDS)
    assert seen.decode().strip().endswith("] 1,000 of 2,000 rows read, 1,234 rows/s")
    shown = (await wc.ok("lake", "status", number)).splitlines()
    assert "current_sync_status  Syncing" in shown
    assert "progress             1,000 of 2,000 rows read, 1,234 rows/s, mode FullSync" in shown
    await held.say(rows_read=2_000, rows_written=2_000, bytes_written=123_456)
    await held.end(RunState.SUCCEEDED)
    said = await ended(following)
    assert (said.code, said.out) == (0, "reading\n")
    assert said.err.splitlines()[-1].endswith("2,000 rows read, 2,000 written, 123.5 kB written")


async def test_on_a_terminal_there_is_a_bar(wc: CommandLine, server: Served) -> None:
    await with_source(server)
    number = (await wc.ok("lake", "sync", "orders", "--source", "shop", "--table", "orders", *TO)).strip()
    terminal = Terminal(130, 10)
    following = await in_terminal(wc, terminal, "lake", "run", number, "--follow")
    held = await server.hand.begin_soon()
    held.write(b"reading\n")
    await held.say(**HALF)
    await terminal.until(
        lambda: terminal.shows(f"[{'#' * 15}{'-' * 15}]  50.0 % 1,000 of 2,000 rows read, 1,234 rows/s")
    )
    await held.end(RunState.SUCCEEDED)
    await terminal.until(lambda: following.returncode is not None)
    assert (following.returncode, terminal.shows("[###")) == (0, False)
    terminal.close()


async def test_a_sync_that_is_killed_is_terminated(wc: CommandLine, server: Served) -> None:
    await with_source(server)
    number = (await wc.ok("lake", "sync", "orders", "--source", "shop", "--table", "orders", *TO)).strip()
    await wc.ok("lake", "run", number, "--mode", "FullSync")
    held = await server.hand.begin()
    assert held.arguments["--sync-mode"] == "FullSync"
    killing = asyncio.create_task(wc.here("lake", "kill", number))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "STOPPING" not in (await server.client.get("/runs", params={"namespace": "lake"})).text:
            await asyncio.sleep(0.01)
        await held.end(RunState.STOPPED)
        assert (await killing).out == f"job {number} is Terminated\n"


@pytest.mark.parametrize(
    ("known", "width", "line"),
    [
        (HALF, 60, "[#####-----]  50.0 % 1,000 of 2,000 rows read, 1,234 rows/s"),
        (HALF, 20, "[]  50.0 % 1,000 of "),
        ({"rows_read": 7, "bad_lines": 2}, 80, "7 rows read, 2 bad lines"),
        ({"rows_read": 7, "percent": 700}, 40, "[#################] 700.0 % 7 rows read"),
    ],
)
def test_a_bar_is_never_wider_than_the_terminal(known: dict[str, Any], width: int, line: str) -> None:
    assert bar(known, width) == line
    assert len(line) <= width


def test_what_is_said_of_a_run_is_shown_whole_and_harmless() -> None:
    known = {"rows_written": 12, "bytes_written": 12, "watermark": "\x1b[31m5", "outputs": [{"rows": 12}]}
    assert readable(known) == '12 written, 12 B written, watermark \\x1b[31m5, outputs [{"rows": 12}]'
    assert readable({"rows_read": "many", "bytes_written": "much"}) == "many rows read, much written"
