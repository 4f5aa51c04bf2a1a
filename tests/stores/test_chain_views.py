"""The tables of the scheduler that chains came from, asked in plain SQL over a plain connection, on every store."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.stores.chaining import EVERY_MINUTE, NOT_YET, PASSED, PROBE_SECONDS, Chaining
from tests.stores.known_tables import CHAINS
from tests.stores.plain import Plain, plain
from tests.stores.store import Store
from waterclock.domain.chain import ChainSpec, Gate, Step, Switch
from waterclock.domain.claim import Claimant
from waterclock.domain.moment import SECOND, Moment, to_datetime
from waterclock.domain.outcome import Beginning
from waterclock.domain.run import Attempt, RunState
from waterclock.stores.ops import chains, claiming, nodes

DASHBOARD: Final = """
select c.job_desc, j.job_desc as step, j.step_lvl, r.status, r.pid
from jobchain_table c
join jobtable j on j.job_chain_id = c.id
join jobchain_lst_run r on r.jobchain_id = c.id
where c.switch = 'ON' and c.tag = 'important' and r.id = (
  select max(l.id) from jobchain_lst_run l where l.jobchain_id = c.id)
order by c.id, j.step_lvl, j.id"""
NIGHTLY: Final = ChainSpec(
    timestr="/5 2 * * *",
    job_desc="정산 nightly",
    dep_ot=90.5,
    switch=Switch.ON,
    bkp_flag=True,
    tag="important",
    subtag="bank",
    gates=(Gate(command="bank/arrived.py;kr", ottime=2, desc="the bank's file", env="/usr/bin/python3.11"),),
    steps=(
        Step(command="load.py", step_lvl=1, ottime=30, job_desc="load"),
        Step(command="report.sh;a;b", step_lvl=20, ottime=0.5, env="/bin/bash"),
    ),
)


@dataclass(frozen=True, slots=True)
class Old:
    """A store as the old scheduler's users see it."""

    chaining: Chaining
    sql: Plain
    kind: str

    async def make(self, spec: ChainSpec) -> Any:
        return await self.chaining.database.write(
            chains.create_chain, org_id=1, owner="ann", spec=spec, probe_seconds=PROBE_SECONDS
        )

    async def begin(self, attempt: Attempt, pid: int) -> None:
        beginning = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=pid)
        await self.chaining.database.write(claiming.begin, [beginning])

    async def claim(self) -> list[Attempt]:
        return [each.attempt for each in await self.chaining.claim(roles=("", "main"))]

    async def status(self) -> list[tuple[object, ...]]:
        return await self.sql.rows("select id, status, pid from jobchain_lst_run order by id desc")

    def instant(self, moment: Moment | None) -> object:
        """As this database shows a second to a person."""
        if moment is None:
            return None
        at = to_datetime(moment).replace(microsecond=0)
        if self.kind == "sqlite":
            return at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return at if self.kind == "postgres" else at.replace(tzinfo=None)


@pytest.fixture
async def old(shared: Store) -> AsyncIterator[Old]:
    chaining = Chaining(await shared.open())
    await chaining.lives()
    async with plain(shared.url) as sql:
        yield Old(chaining, sql, shared.kind)


async def test_a_chain_is_shown_with_its_gates_and_its_steps(old: Old) -> None:
    chain = await old.make(NIGHTLY)
    off = await old.make(ChainSpec(timestr=EVERY_MINUTE, steps=(Step(command="s.py", step_lvl=0, ottime=1),)))
    await old.chaining.switch(off, Switch.OFF)
    first, second = await old.sql.ask("select * from jobchain_table order by id")
    assert first == {
        "id": chain.id,
        "job_desc": "정산 nightly",
        "total_stpes": 2,
        "entry_time": old.instant(chain.updated_at),
        "timestr": "/5 2 * * *",
        "dep_ot": 90.5,
        "switch": "ON",
        "main_flag": 1,
        "bkp_flag": 1,
        "tag": "important",
        "subtag": "bank",
    }
    assert [second[name] for name in ("switch", "dep_ot", "main_flag", "bkp_flag", "tag", "job_desc")] == [
        *("OFF", 0, 1, 0, None, None)
    ]
    assert await old.sql.ask("select * from deptable") == [
        {
            "id": chain.spec.gates[0].id,
            "jobchainid": chain.id,
            "env": "/usr/bin/python3.11",
            "command": "bank/arrived.py;kr",
            "entry_time": old.instant(chain.updated_at),
            "desc": "the bank's file",
            "ottime": 2,
        }
    ]
    load, report, _ = await old.sql.ask("select * from jobtable order by job_chain_id, step_lvl")
    assert load == {
        "id": chain.spec.steps[0].id,
        "env": "/usr/bin/python3",
        "job_chain_id": chain.id,
        "job_desc": "load",
        "command": "load.py",
        "step_lvl": 1,
        "ottime": "30",
        "entry_time": old.instant(chain.updated_at),
    }
    assert [report[name] for name in ("env", "job_desc", "step_lvl", "ottime")] == ["/bin/bash", None, 20, "0.5"]


async def test_a_run_is_followed_from_its_first_probe_to_its_end(old: Old) -> None:
    chaining, chain = old.chaining, await old.make(NIGHTLY)
    run_id = await chaining.start_chain(chain)
    assert await old.status() == [(run_id, "RUNNING...", None)]
    for pid, verdict in ((11, NOT_YET), (12, PASSED)):
        (probe,) = await old.claim()
        await old.begin(probe, pid)
        await chaining.probed(probe, verdict)
        assert await old.status() == [(run_id, "RUNNING...", pid)]
        chaining.pass_time(PROBE_SECONDS)
    for pid in (13, 14):
        (step,) = await old.claim()
        await old.begin(step, pid)
        await chaining.end(step)
    run = await chaining.run(run_id)
    assert run.gates_passed_at
    assert await old.sql.ask("select * from jobchain_lst_run") == [
        {
            "id": run_id,
            "jobchain_id": chain.id,
            "last_run_start": old.instant(run.created_at),
            "last_run_end": old.instant(run.ended_at),
            "pid": 14,
            "status": "Success",
            "dep_pass_ts": old.instant(run.gates_passed_at),
        }
    ]


async def test_failed_and_killed_runs_say_so_and_the_old_dashboards_join_answers(old: Old) -> None:
    chaining, chain = old.chaining, await old.make(NIGHTLY)
    failed = await chaining.start_chain(chain)
    (probe,) = await old.claim()
    await chaining.end(probe, state=RunState.TIMEOUT, verdict="error")
    for _ in range(NIGHTLY.dep_err_tolerance):
        chaining.pass_time(PROBE_SECONDS)
        (probe,) = await old.claim()
        await chaining.end(probe, state=RunState.TIMEOUT, verdict="error")
    await chaining.lives()
    killed = await chaining.start_chain(chain)
    await chaining.stop_run(killed)
    (last, first) = await old.status()
    assert (last[:2], first[:2]) == ((killed, "KILLED"), (failed, "Failed"))
    assert await old.sql.rows(DASHBOARD) == [
        ("정산 nightly", "load", 1, "KILLED", None),
        ("정산 nightly", None, 20, "KILLED", None),
    ]
    (message,) = await old.sql.ask("select * from schedulerMessage")
    (kept,) = await chaining.messages()
    assert message == {
        "id": kept.id,
        "run_id": failed,
        "msg": f"{kept.subject}: {kept.body}",
        "entry_time": old.instant(kept.created_at),
    }
    await chaining.delete(chain)
    assert await old.status() == []
    assert await old.sql.rows("select id from deptable") == []


async def test_a_message_is_cut_to_what_the_old_column_held(old: Old) -> None:
    values = "1, 1, 'chain_failed', 'error', 'subject', '" + 6_000 * "é" + "', 0"
    await old.sql.rows(
        f"INSERT INTO messages (id, org_id, kind, severity, subject, body, created_at) VALUES ({values})"
    )
    ((text, run_id, entry_time),) = await old.sql.rows("select msg, run_id, entry_time from schedulerMessage")
    assert text == "subject: " + 4_991 * "é"
    assert (run_id, entry_time) == (None, old.instant(0))


async def test_realtime_status_has_a_row_for_each_node_that_lives(old: Old) -> None:
    chaining = old.chaining
    await chaining.database.write(nodes.stop_node, node_id="main")
    now = await chaining.now()
    made = [
        nodes.Node(id="b", host="two", name="standby", duties=("worker",), role="bkp", version="0", pid=7),
        nodes.Node(id="a", host="one", name="first", duties=("scheduler", "worker"), role="main", version="0", pid=5),
        nodes.Node(
            id="c", host="one", name="mute", duties=("scheduler",), role="main", debugmode="debug", version="0", pid=6
        ),
        nodes.Node(id="d", host="one", name="http", duties=("api",), version="0", pid=9),
        nodes.Node(id="gone", host="three", name="gone", duties=("worker",), role="main", version="0", pid=8),
    ]
    for node in made:
        await chaining.database.write(nodes.beat, node=node, wall_us=now)
    await old.sql.rows(f"UPDATE nodes SET heartbeat_at = {now - 40 * SECOND} WHERE id = 'gone'")
    await old.sql.rows("UPDATE nodes SET started_at = 1 WHERE id = 'a'")
    await chaining.start_chain(await chaining.chain(1, 1, 1))
    chaining.me = Claimant(node="a", host="one")
    await chaining.claim(roles=("", "main"), limit=1)
    found = await old.sql.ask("select * from realtime_status order by id")
    (beaten,) = {row["index_last_ping_time"] for row in found if row["name"] == "first"}
    shown = [tuple(row[name] for name in CHAINS["realtime_status"] if "ping" not in name) for row in found]
    assert shown == [
        (1, "first", 2, 1, "normal", 5, 5, 5, 5),
        (2, "mute", 2, 0, "debug", 6, 6, None, None),
        (3, "standby", 0, 0, "normal", 7, None, 7, 7),
    ]
    assert [row["job_last_ping_time"] for row in found][:2] == [beaten, None]
    ((stored,),) = await old.sql.rows("select heartbeat_at from nodes where id = 'a'")
    assert beaten == old.instant(stored)


async def test_the_last_runs_of_a_chain_are_found_by_an_index(old: Old) -> None:
    chaining, chain = old.chaining, await old.chaining.chain(1)
    for _ in range(30):
        await chaining.start_chain(chain)
        await chaining.finish_all()
    asked = f"select * from jobchain_lst_run where jobchain_id = {chain.id}"
    plan = await planned(old, asked)
    assert len(await old.sql.rows(asked)) == 30
    match old.kind:
        case "sqlite":
            assert "SEARCH f USING INDEX flow_runs_of_flow (flow_id=?)" in plan
            assert "SEARCH a USING INTEGER PRIMARY KEY" in plan
        case "postgres":
            assert "Seq Scan on attempts" not in plan
            assert "Seq Scan on flow_runs" not in plan
        case _:
            assert "DERIVED" not in plan  # nothing is put aside before it is looked through
            assert "flow_runs_of_flow" in plan


async def planned(old: Old, asked: str) -> str:
    if old.kind == "postgres":
        await old.sql.rows("SET enable_seqscan = off")  # the tables are small: what matters is what it can do
    explain = "EXPLAIN QUERY PLAN" if old.kind == "sqlite" else "EXPLAIN"
    rows: Sequence[tuple[Any, ...]] = await old.sql.rows(f"{explain} {asked}")
    return str(rows)
