"""`waterclock lake`: what its commands send, print and refuse, and with which exit code they end."""

import asyncio
import json
from typing import Any

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from tests.faces.cli.conftest import CommandLine, ended
from waterclock.domain.run import RunState
from waterclock.faces.cli.lake.command import COMMANDS

YAML = """
class_name: sql_job
display_name: daily totals
schedule_time: {class_name: schedule_daily, recur_every: 1, start_time: 2026-11-15T06:00:00Z}
query_info:
  query: select 1
  outputs:
  - {type: text_file, config: {hdfs_uri: localhost:9000, result_path: /data/totals}}
"""


async def made(wc: CommandLine, name: str = "hello", *more: str) -> str:
    (wc.folder / "hello.py").write_text("print('hello')\n")
    return (await wc.ok("lake", "python", name, "--code-file", "hello.py", *more)).strip()


async def shown(wc: CommandLine, job_id: str) -> Any:
    return json.loads(await wc.ok("lake", "show", job_id, "--json"))


async def test_jobs_are_made_of_files_shown_listed_changed_and_deleted(wc: CommandLine) -> None:
    (wc.folder / "totals.yaml").write_text(YAML)
    number = (await wc.ok("lake", "create", "totals.yaml")).strip()
    job = await shown(wc, number)
    assert (job["display_name"], job["schedule_time"]["start_time"]) == ("daily totals", 1_794_722_400_000)
    assert "daily totals" in (people := await wc.ok("lake", "show", number))
    assert "next_run_time        20" in people
    (wc.folder / "totals.json").write_text(json.dumps({"job": {**job, "display_name": "totals"}}))
    assert await wc.ok("lake", "update", number, "totals.json") == f"updated job {number}\n"
    again = await shown(wc, number)
    assert again == {**job, "display_name": "totals"}
    piped = await wc.here("lake", "create", "-", "--json", given=json.dumps({**job, "display_name": "another"}))
    assert (piped.code, json.loads(piped.out)["display_name"]) == (0, "another")
    listed = (await wc.ok("lake", "list", "--sort", "display_name:desc")).splitlines()
    assert [line.split()[1] for line in listed] == ["NAME", "totals", "another"]
    found = json.loads(await wc.ok("lake", "list", "--keyword", "TOT", "--json"))
    assert [job["display_name"] for job in found] == ["totals"]
    assert await wc.ok("lake", "delete", number) == f"deleted job {number}\n"
    gone = await wc.here("lake", "show", number)
    assert (gone.code, gone.err) == (2, f"waterclock: job {number} not found\n")


async def test_a_run_is_started_followed_and_shown_with_its_log(wc: CommandLine, server: Served) -> None:
    number = await made(wc)
    never = await wc.here("lake", "logs", number)
    assert (never.code, "has no such run" in never.err) == (1, True)
    following = await wc.start("lake", "run", number, "--follow")
    held = await server.hand.begin_soon()
    held.write(b"building\nhello\n")
    await held.end(RunState.FAILED, exit_code=1, message="no such table: abc")
    said = await ended(following)
    assert (said.code, said.out) == (1, "building\nhello\n")
    assert f"of job {number} is FAILED: no such table: abc" in said.err
    assert await wc.ok("lake", "logs", number) == "building\nhello\n"
    (run,) = json.loads(await wc.ok("lake", "history", "--job", number, "--json"))
    assert (run["job_status"], run["message"]) == ("Error", "no such table: abc")
    assert "no such table: abc" in await wc.ok("lake", "history", "-n", "1")
    assert json.loads(await wc.ok("lake", "status", number, "--json"))["last_sync_status"] == "Error"
    assert "current_sync_status  Error" in await wc.ok("lake", "status", number)
    second = (await wc.ok("lake", "run", number)).strip()
    held = await server.hand.begin()
    held.write(b"again\n")
    await held.end(RunState.SUCCEEDED)
    assert await wc.ok("lake", "logs", number, "-f") == "again\n"
    assert await wc.ok("lake", "logs", number, "--run", str(run["run_id"])) == "building\nhello\n"
    assert [line.split()[0] for line in (await wc.ok("lake", "history")).splitlines()] == [
        "RUN",
        second,
        str(run["run_id"]),
    ]


async def test_a_run_may_be_put_off_and_killed(wc: CommandLine, server: Served) -> None:
    number = await made(wc)
    idle = await wc.here("lake", "kill", number)
    assert (idle.code, idle.err) == (2, f"waterclock: job {number} has no live run\n")
    started = json.loads(await wc.ok("lake", "run", number, "--at", "2026-12-24T18:00:00+01:00", "--json"))
    assert started["success"] is True
    twice = await wc.here("lake", "run", number)
    assert (twice.code, "concurrent run" in twice.err) == (2, True)
    refused = await wc.here("lake", "delete", number)
    assert (refused.code, "has a live run: kill it or wait" in refused.err) == (2, True)
    assert await wc.ok("lake", "kill", number) == f"job {number} is Killed\n"
    await wc.ok("lake", "run", number)
    held = await server.hand.begin()
    assert await wc.ok("lake", "kill", number, "--no-wait") == f"job {number} is being killed\n"
    killing = asyncio.create_task(wc.here("lake", "kill", number))
    await held.end(RunState.STOPPED)
    said = await asyncio.wait_for(killing, PATIENCE_SECONDS)
    assert said.out in ("", f"job {number} is Killed\n")  # it may have been dead before it was asked


async def test_tables_are_made_listed_and_forgotten(wc: CommandLine) -> None:
    made = ("lake", "table", "create", "orders", "--format", "parquet", "--path", "file:///data/orders")
    assert await wc.ok(*made) == "created table orders\n"
    taken = await wc.here(*made)
    assert (taken.code, "'orders' already exists" in taken.err) == (2, True)
    assert json.loads(await wc.ok("lake", "table", "list", "--json")) == [
        {"name": "orders", "format": "parquet", "path": "file:///data/orders"}
    ]
    assert (await wc.ok("lake", "table", "list")).splitlines()[1].split() == [
        "orders",
        "parquet",
        "file:///data/orders",
    ]
    assert await wc.ok("lake", "table", "delete", "orders") == "deleted table orders; its files stay\n"


async def test_short_ways_make_the_job_that_a_file_would(wc: CommandLine) -> None:
    async def dry(*args: str) -> Any:
        return json.loads(await wc.ok("lake", *args, "--dry-run"))["job"]

    (wc.folder / "load.sql").write_text("select * from orders")
    (wc.folder / "main.py").write_text("print(1)")
    outputs = ("text:hdfs://nn:9000/data/a", "parquet:s3://lake/b/c", "clickhouse:shop.totals:replace")
    sql = await dry(
        "sql", "load", "--query-file", "load.sql", *(word for each in outputs for word in ("--output", each))
    )
    assert sql == {
        "class_name": "sql_job",
        "display_name": "load",
        "schedule_time": {"class_name": "none_schedule"},
        "query_info": {
            "query": "select * from orders",
            "outputs": [
                {
                    "type": "text_file",
                    "config": {"class_name": "hadoop_config", "hdfs_uri": "hdfs://nn:9000", "result_path": "/data/a"},
                },
                {
                    "type": "parquet",
                    "config": {"class_name": "hadoop_config", "hdfs_uri": "s3://lake", "result_path": "/b/c"},
                },
                {
                    "type": "datainsider",
                    "config": {
                        "class_name": "clickhouse_config",
                        "database": "shop",
                        "table_name": "totals",
                        "write_mode": "replace",
                    },
                },
            ],
        },
    }
    python = await dry(
        *(
            "python",
            "etl",
            "--code-file",
            "main.py",
            "--requirement",
            "requests",
            "--requirement",
            "tqdm",
            "--arg",
            "-v",
        ),
        *("--every", "2h", "--start", "2026-11-15T06:00:00Z", "--retries", "2", "--timeout", "60", "--queue", "lake"),
    )
    assert (python["code"], python["requirements"], python["args"]) == ("print(1)", ["requests", "tqdm"], ["-v"])
    assert python["schedule_time"] == {
        "class_name": "schedule_hourly",
        "recur_every": 2,
        "start_time": 1_794_722_400_000,
    }
    assert (python["retries"], python["timeout_seconds"], python["queue"]) == (2, 60, "lake")
    java = await dry(
        *("java", "count", "--git-url", "https://example.com/a.git", "--branch", "main", "--build-tool", "maven"),
        *("--main-class", "a.Main", "--credentials", "git", "--cron", "0 6 * * *", "--timezone", "Asia/Seoul"),
    )
    assert java["schedule_time"] == {
        "class_name": "schedule_cron",
        "expression": "0 6 * * *",
        "timezone": "Asia/Seoul",
    }
    assert {java[name] for name in ("git_url", "branch", "build_tool", "main_class", "credentials")} == {
        *("https://example.com/a.git", "main", "maven", "a.Main", "git")
    }
    for given in (sql, python, java):
        said = await wc.here("lake", "create", "-", given=json.dumps({"job": given}))
        assert said.code == 0, said
    assert await wc.ok("lake", "list", "--keyword", "nobody", "--json") == "[]\n"
    now = await shown(wc, await made(wc, "at once", "--now"))
    assert now["schedule_time"] == {"class_name": "schedule_once", "start_time": 0}


WRONG: tuple[tuple[tuple[str, ...], str], ...] = (
    (("create", "nowhere.yaml"), "nowhere.yaml: No such file or directory"),
    (("create", "list.yaml"), "list.yaml holds no job: a job is {class_name: sql_job"),
    (("create", "broken.json"), "broken.json is neither JSON nor YAML: Expecting"),
    (("create", "tagged.yaml"), "tagged.yaml is neither JSON nor YAML"),
    (("create", "dated.yaml"), "dated.yaml holds what JSON does not"),
    (("create", "early.yaml"), "early.yaml: schedule_time.start_time: "),
    (("create", "strange.yaml"), "job.class_name: must be one of java_job, sql_job, python_job"),
    (("create", "daily.yaml"), "job.schedule_time.recur_every: is required"),
    (("sql", "x"), "give --query or --query-file"),
    (("sql", "x", "--query", "select 1", "--query-file", "y"), "give --query or --query-file, not both"),
    (("sql", "x", "--query", "q", "--output", "/data"), "must begin with text:, parquet:, clickhouse:, postg"),
    (("sql", "x", "--query", "q", "--output", "text:/data"), "must name a place: hdfs://host:9000/path"),
    (("sql", "x", "--query", "q", "--output", "clickhouse:t"), "must be clickhouse:DATABASE.TABLE"),
    (("sql", "x", "--query", "q", "--output", "{"), "is not JSON"),
    (("sql", "x", "--query", "q", "--every", "often"), "must be a whole number and m, h or d"),
    (("sql", "x", "--query", "q", "--every", "1h", "--now"), "give one of --cron, --every, --once and --now"),
    (("sql", "x", "--query", "q", "--start", "2026-11-15T06:00:00Z"), "--start goes with --cron or --every"),
    (("sql", "x", "--query", "q", "--once", "tomorrow"), "--once: "),
    (("sql", "x", "--query", "q", "--cron", "every day"), "job.schedule_time.expression: cannot read schedule"),
    (("python", "x"), "give --code-file, --script or --git-url"),
    (("java", "x", "--build-tool", "maven"), "give --git-url"),
    (("list", "--sort", "password"), "sorts[0].field: must be one of job_id, display_name"),
    (("run", "99"), "job '99' not found"),
    (("kill", "99"), "job 99 not found"),
    (("history", "--job", "99"), "job 99 not found"),
)


async def test_what_is_wrong_is_refused_with_what_to_do(wc: CommandLine) -> None:
    for name, content in {
        "list.yaml": "- one",
        "broken.json": '{"class_name": ',
        "tagged.yaml": "a: !!python/object/apply:os.system [true]",
        "dated.yaml": "class_name: sql_job\nday: 2026-11-15",
        "early.yaml": "class_name: sql_job\nschedule_time: {class_name: schedule_once, start_time: tomorrow}",
        "strange.yaml": "class_name: r_job\ndisplay_name: x",
        "daily.yaml": "class_name: python_job\ndisplay_name: x\ncode: x\nschedule_time: {class_name: schedule_daily}",
    }.items():
        (wc.folder / name).write_text(content)
    for args, words in WRONG:
        said = await wc.here("lake", *args)
        assert (said.code, said.out) == (2, ""), said
        assert words in said.err


async def test_every_command_helps_with_an_example(wc: CommandLine) -> None:
    for name in COMMANDS:
        said = await wc.here("lake", name, "--help")
        assert "Example" in said.out, name
        assert f"waterclock lake {name}" in said.out, name
