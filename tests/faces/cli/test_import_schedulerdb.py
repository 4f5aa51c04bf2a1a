"""`waterclock import schedulerdb` from a real MariaDB to a real server: shown first, made when asked, repeatable."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from tests.acceptance.schedulerdb import OldDatabase
from tests.acceptance.server import free_port
from tests.faces.api.serving import Served
from tests.faces.cli.conftest import CommandLine, Said
from waterclock.domain.access import Role
from waterclock.faces.cli import main
from waterclock.faces.cli.client import Client

GATE = {"command": "dep/look.sh", "env": "/bin/sh", "desc": "도착"}
STEP = {"command": "load/load.py;a;b", "job_desc": "적재", "ottime": "30"}


@pytest.fixture
def old(mariadb_url: str) -> OldDatabase:
    database = OldDatabase(mariadb_url)
    database.create_tables()
    return database


class Import:
    """From one old database to one server."""

    def __init__(self, wc: CommandLine, old: OldDatabase) -> None:
        self._wc, self._old = wc, old

    async def __call__(self, *more: str, url: str | None = None, **environ: str) -> Said:
        arguments = ["import", "schedulerdb", url or self._old.url, "--name", "old", *more]
        return await self._wc.here(*arguments, **environ)

    async def json(self, *more: str) -> Any:
        return json.loads((await self("--json", *more)).out)


@pytest.fixture
def bring(wc: CommandLine, old: OldDatabase) -> Import:
    return Import(wc, old)


async def chains(server: Served) -> list[dict[str, Any]]:
    answer = await server.client.get(f"{server.url}/chains")
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def a_chain_of_ours(server: Served) -> int:
    """Its number."""
    job = {"command": "x/y.py", "step_lvl": 1, "ottime": 1}
    made = await server.client.post(f"{server.url}/chains", json={"timestr": "@daily", "jobs": [job], "job_desc": "o"})
    return int(made.json()["id"])


def furnish(old: OldDatabase) -> None:
    """Four chains: one as it should be, one that cannot be read, one that cannot be carried, one OFF."""
    old.chain(id=3, job_desc="일일 적재", timestr="/5 * * * *", gates=[GATE], steps=[STEP, {**STEP, "step_lvl": 2}])
    old.chain(id=5, job_desc="never", timestr="at noon", dep_ot=0, tag="important", steps=[STEP])
    old.chain(id=8, job_desc="far", steps=[{**STEP, "command": "/opt/x.py"}])
    old.chain(id=9, switch="off", main_flag=0, BKP_flag=1, total_stpes=7, steps=[{**STEP, "env": None}])
    old.run("INSERT INTO jobchain_lst_run (jobchain_id) VALUES (3), (3)", "INSERT INTO schedulerMessage () VALUES ()")


async def test_a_dry_run_shows_all_and_makes_nothing(bring: Import, old: OldDatabase, server: Served) -> None:
    furnish(old)
    run = await bring("--timezone", "Asia/Seoul")
    assert run.code == 0, run
    for line in (
        "3   일일 적재         ON      create",
        "5   never             OFF     create",
        "8   far               -       cannot  jobtable#4: command '/opt/x.py' leaves the jobfolder: copy",
        "9   jobchain_table#9  OFF     create",
        "note: comes in OFF: cannot read schedule 'at noon'",
        "note: total_stpes is 7; jobtable has 1 steps",
        "note: only BKP_flag is set",
        "  jobchain_lst_run: 2 row(s): what the old scheduler ran",
        "  realtime_status: 0 row(s)",
        "  schedulerMessage: 1 row(s)",
        "times are read in the zone Asia/Seoul",
        "3 to create, 1 cannot be carried over",
    ):
        assert line in run.out, (line, run.out)
    assert "read 4 chains, 1 gates, 5 steps" in run.err
    assert "1 chain(s) run here from their next time on: stop the old scheduler first" in run.err
    assert "nothing was changed" in run.err
    assert await chains(server) == []


async def test_what_is_applied_is_the_same_here_and_a_second_time_nothing_is_done(
    bring: Import, old: OldDatabase, server: Served
) -> None:
    furnish(old)
    before = {table: old.rows(table) for table in ("jobchain_table", "deptable", "jobtable")}
    run = await bring("--apply", "--timezone", "Asia/Seoul")
    assert (run.code, run.out) == (1, "")  # one stays behind
    assert "[1/4] chain 3 '일일 적재' created" in run.err
    assert "[3/4] chain 8 'far' left out: jobtable#4: command '/opt/x.py' leaves" in run.err
    assert "waterclock: 3 created, 1 left out\n" in run.err
    found = {chain["id"]: chain for chain in await chains(server)}
    assert list(found) == [3, 5, 9]
    assert {name: found[3][name] for name in ("job_desc", "timezone", "switch", "dep_ot", "total_stpes", "source")} == {
        "job_desc": "일일 적재",
        "timezone": "Asia/Seoul",
        "switch": "ON",
        "dep_ot": 1.0,
        "total_stpes": 2,
        "source": "old#3",
    }
    assert (found[5]["switch"], found[9]["switch"]) == ("OFF", "OFF")
    assert "at noon" in found[5]["problem"]
    assert found[9]["jobs"][0]["env"] == "/usr/bin/python3"
    again = await bring("--apply", "--timezone", "Asia/Seoul")
    assert "waterclock: 3 same, 1 left out\n" in again.err
    assert len(await chains(server)) == 3
    assert {table: old.rows(table) for table in before} == before


async def test_what_comes_in_off_leaves_a_message(bring: Import, old: OldDatabase, server: Served) -> None:
    old.chain(id=5, job_desc="never", timestr="at noon", tag="important", steps=[STEP])
    old.chain(id=6, job_desc="maybe", switch="MAYBE", steps=[STEP])
    assert (await bring("--apply")).code == 0
    answer = await server.client.get(f"{server.url}/chains/messages")
    found = {message["chain_id"]: message for message in answer.json()["items"]}
    assert {message["kind"] for message in found.values()} == {"chain_imported"}
    assert "imported from old#5, switched OFF: cannot read schedule 'at noon'" in found[5]["body"]
    assert "'MAYBE' is neither ON nor OFF" in found[6]["body"]
    assert found[5]["tag"] == "important"


async def test_what_differs_is_named_and_left_until_an_update_is_asked_for(
    bring: Import, old: OldDatabase, server: Served
) -> None:
    old.chain(id=3, gates=[GATE], steps=[STEP])
    assert (await bring("--apply", "--off")).code == 0
    old.run("UPDATE deptable SET ottime = 4")
    assert (await bring.json())["steps"][0]["reasons"] == ["switch", "deps"]
    run = await bring("--apply")
    assert run.code == 0
    assert "left as it is: differs in switch, deps" in run.err
    run = await bring("--apply", "--update")
    assert "waterclock: 1 updated\n" in run.err, run
    (found,) = await chains(server)
    assert (found["switch"], found["deps"][0]["ottime"]) == ("ON", 4.0)
    assert "waterclock: 1 same\n" in (await bring("--apply")).err


async def test_a_timestr_that_was_mended_here_is_not_spoiled_again(
    bring: Import, old: OldDatabase, server: Served
) -> None:
    old.chain(id=3, timestr="at noon", steps=[STEP])
    assert (await bring("--apply")).code == 0
    (found,) = await chains(server)
    mended = await server.client.put(f"{server.url}/chains/3", json={**found, "timestr": "0 12 * * *", "switch": "ON"})
    assert mended.status_code == 200, mended.text
    run = await bring("--apply", "--update")
    assert (run.code, "left as it is: its timestr there cannot be read" in run.err) == (0, True), run


async def test_a_chain_of_ours_with_the_same_number_keeps_it(bring: Import, old: OldDatabase, server: Served) -> None:
    number = await a_chain_of_ours(server)
    old.chain(id=number, job_desc="theirs", steps=[STEP])
    old.chain(id=number + 1, job_desc="next", steps=[STEP])
    run = await bring("--apply")
    assert run.code == 0, run
    assert f"chain {number} 'theirs' created: as chain {number + 2}" in run.err
    assert [(chain["id"], chain["job_desc"], chain["source"]) for chain in await chains(server)] == [
        (number, "o", None),
        (number + 1, "next", f"old#{number + 1}"),
        (number + 2, "theirs", f"old#{number}"),
    ]
    assert "waterclock: 2 same\n" in (await bring("--apply")).err


async def test_a_chain_whose_answer_was_lost_is_made_once(
    bring: Import, old: OldDatabase, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = await a_chain_of_ours(server)
    old.chain(id=number, steps=[STEP])  # gets a new number: only its source tells that it is here
    old.chain(id=number + 1, steps=[STEP])
    posting = Client.post

    def twice(self: Client, path: str, body: object = None, **query: object) -> Any:
        posting(self, path, body, **query)
        return posting(self, path, body, **query)

    with monkeypatch.context() as patched:
        patched.setattr(Client, "post", twice)
        run = await bring("--apply")
    assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 2 created"), run
    assert len(await chains(server)) == 3


async def test_stopped_in_the_middle_it_says_what_was_done_and_goes_on_the_next_time(
    bring: Import, old: OldDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        old.chain(id=number, steps=[STEP])
    posting, left = Client.post, iter(range(2))

    def interrupted(self: Client, path: str, body: object = None, **query: object) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return posting(self, path, body, **query)

    with monkeypatch.context() as patched:
        patched.setattr(Client, "post", interrupted)
        run = await bring("--apply")
    assert run.code == 130
    assert "waterclock: 2 created\n" in run.err
    assert "waterclock: 1 created, 2 same\n" in (await bring("--apply")).err


async def test_rows_of_chains_that_are_gone_are_listed(bring: Import, old: OldDatabase) -> None:
    old.chain(id=3, gates=[GATE], steps=[STEP])
    old.run(
        "ALTER TABLE deptable DROP FOREIGN KEY deptable_ibfk_1",
        "ALTER TABLE jobtable DROP FOREIGN KEY jobtable_ibfk_1",
        "UPDATE deptable SET jobchainid = 77",
    )
    run = await bring()
    assert "1 row(s) of chains that do not exist:\n  deptable#1 belongs to chain 77" in run.out
    assert (await bring.json())["strays"] == [
        {"table": "deptable", "id": 1, "reason": "belongs to chain 77, which jobchain_table does not have"}
    ]


async def test_who_may_only_look_is_told_for_each_chain(bring: Import, old: OldDatabase, server: Served) -> None:
    old.chain(id=3, steps=[STEP])
    run = await bring("--apply", WATERCLOCK_TOKEN=await server.token_of("looker", Role.VIEWER))
    assert run.code == 1
    assert "failed: " in run.err
    assert await chains(server) == []


def told(run: Said) -> str:
    """One line, whatever went wrong, and no password in it."""
    assert run.out == ""
    (line,) = run.err.splitlines()
    assert "hush" not in line
    return line


async def test_what_is_not_there_is_named(bring: Import, old: OldDatabase) -> None:
    old.run("DROP TABLE deptable", "ALTER TABLE jobchain_table DROP COLUMN subtag, DROP COLUMN tag")
    run = await bring()
    assert run.code == 2
    assert "no table deptable, no column jobchain_table.tag, no column jobchain_table.subtag" in told(run)


async def test_a_database_that_years_have_changed_is_read(bring: Import, old: OldDatabase) -> None:
    old.chain(id=3, steps=[STEP])
    old.run("DROP TABLE realtime_status", "ALTER TABLE jobchain_table RENAME COLUMN BKP_flag TO bkp_flag")
    old.run(
        "SET sql_mode = ''", "UPDATE jobtable SET entry_time = 0", "ALTER TABLE jobtable MODIFY command VARBINARY(200)"
    )
    assert (await bring.json())["summary"]["create"] == 1
    found = {each["table"]: each["rows"] for each in (await bring.json())["not_carried"]}
    assert found == {"jobchain_lst_run": 0, "realtime_status": None, "schedulerMessage": 0}


async def test_our_own_views_are_not_taken_for_the_old_tables(bring: Import, old: OldDatabase) -> None:
    old.run("RENAME TABLE jobchain_table TO hidden", "CREATE VIEW jobchain_table AS SELECT * FROM hidden")
    assert f"jobchain_table at {old.url.replace(':clock', '')} is a view" in told(await bring())


async def test_a_database_that_does_not_let_us_in_is_told_without_the_password(bring: Import, old: OldDatabase) -> None:
    old.chain(id=3, steps=[STEP])
    run = await bring(url=old.url.replace(":clock@", ":hush@"))
    assert (run.code, "does not let us in: Access denied" in told(run)) == (2, True)
    assert (await bring(url=old.url.replace(":clock@", "@"), MYSQL_PWD="clock")).code == 0
    run = await bring(url=f"mysql://a:hush@127.0.0.1:{free_port()}/schedulerDB")
    assert (run.code, "nothing answers at mysql://a@127.0.0.1:" in told(run)) == (1, True)
    run = await bring(url=old.url.replace(old.name, "nobody"))
    assert (run.code, "there is no database 'nobody'" in told(run)) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mysql://ops:hush@host"], "names no database"),
        (["mysql://ops:hush@host:port/schedulerDB"], "database URL"),
        (["mysql://[ops:hush@host/schedulerDB"], "database URL"),
        (["oracle://ops:hush@host/schedulerDB"], "say where to read: mysql://"),
        (["mysql://ops:hush@host/schedulerDB", "--timezone", "Mars/North"], "there is no time zone 'Mars/North'"),
        (["mysql://ops:hush@host/schedulerDB", "--update"], "--update goes with --apply"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: list[str], words: str) -> None:
    run = CliRunner().invoke(main, ["import", "schedulerdb", *arguments])
    assert run.exit_code == 2
    assert words in told(Said(code=run.exit_code, out=run.stdout, err=run.stderr))
