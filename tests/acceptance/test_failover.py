"""main and bkp as two machines on one PostgreSQL: each fire is run by one of them, whatever happens to main."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from tests.acceptance.server import Server, until
from tests.stores.raw import rows
from waterclock import clock
from waterclock.chaos.checker import Answer, History, check
from waterclock.chaos.evidence import START, Mark, program, read
from waterclock.domain.chain import Chain, ChainSpec, Gate, Step, Switch
from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.chain_runs import start_chain
from waterclock.stores.ops.chains import create_chain, switch_chain

T = TypeVar("T")

EVERY_SECOND: Final = "* * * * * ?"
SETTINGS: Final = {
    "lease_seconds": 3,
    "lease_margin_seconds": 0.5,
    "heartbeat_seconds": 0.5,
    "chains_failover_seconds": 2,
}


class Machine(Server):
    """`waterclock up` in a role: API, scheduler and worker, with a data directory and a supervisor of their own."""

    def __init__(self, folder: Path, url: str, role: str) -> None:
        folder.mkdir()
        programs = folder.parent / "programs"
        folders = {"chains_jobfolder": programs, "chains_depfolder": programs}
        super().__init__(folder, url, node_role=role, **SETTINGS, **folders)
        self.role = role

    def send(self, sign: signal.Signals) -> None:
        for pid in self.pids():
            os.kill(pid, sign)


class Cluster:
    """The two, the chains that they run, and what the chains' programs wrote."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.main = Machine(folder / "main", url, "main")
        self.bkp = Machine(folder / "bkp", url, "bkp")
        self._programs = folder / "programs"
        self._evidence = folder / "evidence"

    def define(self, work: str, *, bkp: bool, **more: Any) -> Chain:
        step = Step(env="python", command=self._script(work), step_lvl=1, ottime=1)
        spec = ChainSpec(**{"timestr": EVERY_SECOND, "steps": (step,), "job_desc": work, "bkp_flag": bkp, **more})
        return self.write(create_chain, org_id=1, owner="admin", spec=spec, probe_seconds=0.2)

    def gate(self, work: str, opens: Path) -> Gate:
        body = f"print(0 if os.path.exists({str(opens)!r}) else 1)"
        return Gate(env="python", command=self._script(work, body), ottime=1)

    def run_now(self, chain: Chain) -> int:
        return self.write(start_chain, org_id=1, chain_id=chain.id, requested_by="admin", rules={})

    def _script(self, work: str, body: str = "") -> str:
        (self._programs / work).mkdir(parents=True)
        (self._programs / work / "run.py").write_text(program(work, self._evidence, body))
        return f"{work}/run.py;{work}"

    def switch_off(self, chain: Chain) -> None:
        self.write(switch_chain, org_id=1, chain_id=chain.id, switch=Switch.OFF, allow=lambda _: None)

    def write(self, operation: Callable[..., Awaitable[T]], **values: Any) -> T:
        async def run() -> T:
            database: Database = database_from_url(self.url)
            await database.open()
            try:
                return await database.write(operation, **values)
            finally:
                await database.close()

        return asyncio.run(run())

    def ask(self, sql: str) -> list[dict[str, Any]]:
        return list(asyncio.run(rows(self.url, sql)))

    def marks(self) -> list[Mark]:
        return read(self._evidence)

    def runs_on(self, machine: Machine, work: str, *, count: int = 2) -> None:
        """It runs there: so many times from now on."""
        since = clock.wall_us()
        until(
            lambda: sum(_is_start(mark, work, machine) and mark.at >= since for mark in self.marks()) >= count,
            f"{work} does not run on {machine.role}",
        )

    def is_skipped(self, chain: Chain, reason: str) -> None:
        """A fire that is due from now on."""
        since = clock.wall_us()
        until(
            lambda: any(row["first_at"] >= since and row["reason"].startswith(reason) for row in self.skips(chain)),
            f"no fire of {chain.title} was skipped because {reason}",
        )

    def skips(self, chain: Chain) -> list[dict[str, Any]]:
        return self.ask(f"SELECT * FROM fires WHERE trigger_name = '{chain.name}' AND outcome = 'SKIPPED'")

    def failures(self, chain: Chain) -> list[Moment]:
        """The instants of runs that failed, and said so."""
        return [
            row["run_at"]
            for row in self.ask(
                "SELECT DISTINCT r.run_at FROM flow_runs r JOIN messages m ON m.flow_run_id = r.id"
                f" WHERE r.flow_name = '{chain.name}' AND r.state = 'ERROR' AND m.kind = 'chain_failed'"
            )
        ]

    def is_quiet(self) -> bool:
        return not self.ask("SELECT id FROM flow_runs WHERE ended_at IS NULL")


@contextmanager
def cluster(folder: Path, url: str) -> Iterator[Cluster]:
    both = Cluster(folder, url)
    try:
        both.main.start()
        both.bkp.start()
        yield both
    finally:
        for machine in (both.main, both.bkp):
            machine.kill_everything()
            machine.stop()


@pytest.mark.chaos
def test_each_fire_runs_once_while_main_is_killed_comes_back_is_paused_and_goes_on(
    postgres_url: str, tmp_path: Path
) -> None:
    opened = tmp_path / "opened"
    with cluster(tmp_path, postgres_url) as both:
        shared, of_main = both.define("shared", bkp=True), both.define("of main", bkp=False)
        waiting = both.define("waiting", bkp=True, switch=Switch.OFF, gates=(both.gate("gate", opened),), dep_ot=5)
        both.run_now(waiting)
        both.runs_on(both.main, "shared")
        both.runs_on(both.main, "gate", count=1)

        both.main.kill_everything()  # the plug is pulled
        both.runs_on(both.bkp, "gate", count=1)
        opened.touch()
        both.runs_on(both.bkp, "waiting", count=1)
        both.runs_on(both.bkp, "shared")
        both.is_skipped(of_main, "main is down")

        both.main.start()
        both.runs_on(both.main, "shared")
        both.runs_on(both.main, "of main", count=1)

        both.main.send(signal.SIGSTOP)
        both.runs_on(both.bkp, "shared")
        both.is_skipped(of_main, "main is down")

        both.main.send(signal.SIGCONT)
        both.runs_on(both.main, "shared")

        off_at = clock.wall_us()
        for chain in (shared, of_main):
            both.switch_off(chain)
        until(both.is_quiet, "a run has not ended")
        _check(both, [shared, of_main], off_at)


def _check(both: Cluster, chains: list[Chain], off_at: Moment) -> None:
    marks = both.marks()
    for mark in marks:
        assert mark.arguments == (("bkp", mark.work) if mark.role == "bkp" else (mark.work,))
    findings = check(
        History(
            marks=marks,
            read_at=clock.wall_us(),
            due={chain.title: _seconds(chain.created_at + 2 * SECOND, off_at - 2 * SECOND) for chain in chains},
            perhaps={chain.title: _seconds(chain.created_at, off_at + 2 * SECOND) for chain in chains},
            skipped={chain.title: [(row["first_at"], row["last_at"]) for row in both.skips(chain)] for chain in chains},
            failed={chain.title: both.failures(chain) for chain in chains},
            calls=dict.fromkeys(("gate", "waiting"), Answer.ACKNOWLEDGED),
            alone=[[chain.title] for chain in chains],
            stored=_stored(both),
            alive=_alive({mark.run for mark in marks}),
        )
    )
    assert findings.faults == []


def _is_start(mark: Mark, work: str, machine: Machine) -> bool:
    return (mark.event, mark.work, mark.role) == (START, work, machine.role)


def _seconds(first: Moment, last: Moment) -> list[Moment]:
    """The oracle: what is due every second."""
    return [at * SECOND for at in range(-(-first // SECOND), last // SECOND + 1)]


def _stored(both: Cluster) -> dict[tuple[str, int], str]:
    found = both.ask("SELECT wire_id, number, state FROM attempts")
    return {(row["wire_id"].partition("_attempt_")[0], row["number"]): row["state"] for row in found}


def _alive(runs: set[str]) -> list[str]:
    """Of these runs the ones that a process carries in its environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            carried = path.read_bytes().partition(b"WATERCLOCK_RUN_ID=")[2].partition(b"\0")[0].decode()
        except OSError:
            continue
        if carried.partition("_attempt_")[0] in runs:
            found.append(carried)
    return found
