"""A schedulerDB as its authors made it: filled, brought over, run, and held against section 6 of the specification."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.acceptance.schedulerdb import OldDatabase
from tests.acceptance.schedulerdb_cases import CASES, LEFT_OUT, PYTHON, SUCCESS, Case, write_programs
from tests.acceptance.server import Server, running, until
from tests.acceptance.test_roles import role
from tests.conftest import mariadb
from tests.services.database import beside_any_loop
from tests.services.mariadb import MariadbServer

ZONE: Final = "Asia/Seoul"


@pytest.fixture(scope="module")
def database() -> Iterator[MariadbServer]:
    """Of our own: on the shared one somebody may show a store as schedulerDB."""
    with mariadb(fsync=False) as server:
        yield server


@pytest.fixture(scope="module")
def old(database: MariadbServer) -> OldDatabase:
    beside_any_loop(database.execute("CREATE DATABASE schedulerDB CHARACTER SET utf8mb4"))
    old = OldDatabase(database.url_of("schedulerDB"))
    old.create_tables()
    for name, case in (CASES | {name: case for name, (case, _) in LEFT_OUT.items()}).items():
        old.chain(job_desc=name, gates=case.gates, steps=case.steps, **case.row)
    old.run("INSERT INTO jobchain_lst_run (jobchain_id, status) VALUES (1, 'Success')")
    return old


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`jobfolder` and `depfolder`, as they are copied from the old machine."""
    root = tmp_path_factory.mktemp("programs")
    write_programs(root)
    return root


def settings(programs: Path) -> dict[str, Any]:
    folders = {f"chains_{folder}": programs / folder for folder in ("jobfolder", "depfolder")}
    return {**folders, "chains_probe_seconds": 0.3, "stop_grace_seconds": 0.5}


@pytest.fixture(scope="module")
def server(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A main that does everything, and beside it a bkp that is only a worker."""
    folder = tmp_path_factory.mktemp("main")
    with running(folder, **settings(programs)) as main:
        store = f"sqlite:///{main.data / 'waterclock.db'}"
        bkp = Server(tmp_path_factory.mktemp("bkp"), store, node_role="bkp", **settings(programs))
        with role(bkp, "worker"):
            yield main
        bkp.kill_everything()


class Chains:
    """Our server's chains, by the names that they had."""

    def __init__(self, server: Server) -> None:
        token = (server.data / "token").read_text().strip()
        self._http = httpx.Client(
            base_url=f"{server.address}/chains",
            headers={"authorization": f"Bearer {token}"},
            trust_env=False,
            timeout=30,
        )
        self.all: dict[str, dict[str, Any]] = {
            chain["job_desc"]: chain for chain in self.get(f"{server.address}/chains", size=1000)["items"]
        }

    def get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def start(self, name: str) -> int | None:
        answer = self._http.post(f"/{self.all[name]['id']}/run")
        return int(answer.json()["run_id"]) if answer.status_code == 201 else None

    def ended(self, run_id: int) -> Any:
        def run() -> Any:
            found = self.get(f"/runs/{run_id}")
            return found if found["status"] != "RUNNING..." else None

        return until(run, f"run {run_id} never ended")


@pytest.fixture(scope="module")
def imported(old: OldDatabase, server: Server) -> Any:
    """What the command line said of it."""
    said = server.cli("import", "schedulerdb", old.url, "--timezone", ZONE, "--apply", "--json")
    assert said.returncode == 1, said.stderr  # some stay behind
    return json.loads(said.stdout)


@pytest.fixture(scope="module")
def chains(imported: Any, server: Server) -> Chains:
    return Chains(server)


@pytest.fixture(scope="module")
def runs(chains: Chains) -> Mapping[str, Any]:
    """All of them at once, each to its end. One that a schedule, or no bkp yet, keeps from starting is tried again."""
    started = {name: int(until(partial(chains.start, name), f"{name} never started")) for name in CASES}
    return {name: chains.ended(run_id) for name, run_id in started.items()}


def test_what_can_be_carried_over_is_and_the_rest_says_why(imported: Any, chains: Chains) -> None:
    steps = {step["job_desc"]: step for step in imported["steps"]}
    assert {name for name, step in steps.items() if step["verdict"] == "create"} == set(CASES) == set(chains.all)
    for name, (_, words) in LEFT_OUT.items():
        assert steps[name]["verdict"] == "cannot"
        assert words in steps[name]["reasons"][0]
    assert imported["summary"] == {"created": len(CASES), "left out": len(LEFT_OUT)}
    assert imported["not_carried"][0] | {"reason": ""} == {"table": "jobchain_lst_run", "rows": 1, "reason": ""}


@pytest.mark.parametrize("name", CASES)
def test_a_chain_comes_in_as_it_was(name: str, chains: Chains, old: OldDatabase) -> None:
    found, case = chains.all[name], CASES[name]
    assert (found["switch"], found["timezone"]) == (case.switch, ZONE)
    scheduled = case.switch == "ON" and case.role != ""
    assert (found["next_fire_at"] is not None) == scheduled
    assert (found["problem"] is not None) == (name == "no schedule")


def test_every_fifth_minute_is_every_fifth_minute(chains: Chains) -> None:
    due = datetime.fromisoformat(chains.all["no gates, arguments"]["next_fire_at"])
    assert (due.minute % 5, due.second) == (0, 0)


@pytest.mark.parametrize("name", CASES)
def test_a_run_goes_as_the_specification_says(name: str, runs: Mapping[str, Any]) -> None:
    case, run = CASES[name], runs[name]
    assert run["status"] == case.status, run
    assert (run["role"] or "") == case.role
    assert [(found["state"], verdicts(found, case)) for found in run["deps"]] == [(s, list(v)) for s, v in case.probes]
    assert [[step["state"] for step in level["steps"]] for level in run["levels"]] == [list(s) for s in case.levels]
    assert (run["dep_pass_ts"] is not None) == all(state == SUCCESS for state, _ in case.probes)


def verdicts(found: Mapping[str, Any], case: Case) -> list[str]:
    """What the probes said; how often one was asked that never passes depends on the machine."""
    said = [probe["verdict"] for probe in found["probes"]]
    if case is CASES["never passes"]:
        assert len(said) >= 2
        return sorted(set(said))
    return said


def test_every_probe_is_kept_as_evidence(runs: Mapping[str, Any]) -> None:
    (third, _) = runs["passes on the third probe"]["deps"]
    assert [(probe["number"], probe["exit_code"], probe["output"].strip()) for probe in third["probes"]] == [
        (1, 0, "1"),
        (2, 0, "1"),
        (3, 0, "0"),
    ]
    moments = [probe["at"] for probe in third["probes"]]
    assert moments == sorted(set(moments))
    (error,) = runs["errors beyond tolerance"]["deps"]
    assert {(probe["exit_code"], probe["output"].strip()) for probe in error["probes"]} == {(3, "boom")}
    (twice,) = runs["errors within tolerance"]["deps"]
    assert "printed '2'" in twice["probes"][0]["message"]


def test_a_step_that_failed_says_how(runs: Mapping[str, Any]) -> None:
    (_, bad) = runs["fails in level 2 of 4"]["levels"][1]["steps"]
    assert (bad["exit_code"], bad["run"] is not None) == (4, True)
    (skipped,) = runs["fails in level 2 of 4"]["levels"][2]["steps"]
    assert (skipped["run"], skipped["started_at"]) == (None, None)
    (slow,) = runs["a step takes too long"]["levels"][0]["steps"]
    assert (slow["exit_code"], slow["message"]) == (None, "did not end within its time-out")


@pytest.mark.parametrize("name", CASES)
def test_whoever_should_know_is_told(name: str, runs: Mapping[str, Any], chains: Chains) -> None:
    found = chains.get("/messages", chain=chains.all[name]["id"], size=100)["items"]
    of_run = [message for message in found if message["run_id"] == runs[name]["run_id"]]
    told = CASES[name].message
    assert [message["kind"] for message in of_run] == ([told[0]] if told else [])
    assert all(told and told[1] in message["body"] for message in of_run)
    assert all(message["tag"] == CASES[name].row.get("tag") for message in of_run)


def test_what_came_in_off_has_left_a_message(chains: Chains) -> None:
    (message,) = chains.get("/messages", chain=chains.all["no schedule"]["id"], kind="chain_imported")["items"]
    assert "schedulerDB#15, switched OFF: cannot read schedule 'at noon'" in message["body"]


def test_programs_get_their_arguments_as_they_are(runs: Mapping[str, Any], programs: Path) -> None:
    told = [json.loads(line) for line in (programs / "evidence/told").read_text().splitlines()]
    by_run = {each["run"]: (each["argv"], each["role"]) for each in told}
    words = ["eu west", "--full", "", "'q' \"d\" $HOME"]
    assert by_run[str(runs["no gates, arguments"]["run_id"])] == (words, "main")
    assert by_run[str(runs["backup only"]["run_id"])] == (["bkp", "last"], "bkp")


def test_a_second_import_finds_everything_there(
    chains: Chains, runs: Mapping[str, Any], server: Server, old: OldDatabase
) -> None:
    said = server.cli("import", "schedulerdb", old.url, "--timezone", ZONE, "--apply")
    assert f"waterclock: {len(CASES)} same, {len(LEFT_OUT)} left out\n" in said.stderr


# The tables that people know: as they were, column by column.


def chain_rows(old: OldDatabase) -> list[dict[str, Any]]:
    """What the old tables say, with the changes that the report has told of."""
    rows = [row for row in old.rows("jobchain_table") if row["job_desc"] in CASES]
    meant = [(row, CASES[row["job_desc"]]) for row in rows]
    return [plain({**row, "total_stpes": len(case.steps), "switch": case.switch}) for row, case in meant]


def part_rows(old: OldDatabase, table: str, chain: str) -> list[dict[str, Any]]:
    known = {row["id"] for row in old.rows("jobchain_table") if row["job_desc"] in CASES}
    rows = [row for row in old.rows(table) if row[chain] in known]
    return [without_id({**row, "env": (row["env"] or PYTHON).strip()}) for row in rows]


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without the moment of its last change; minutes as numbers, however they are written."""
    numbers = {name: round(float(row[name]), 6) for name in ("dep_ot", "ottime") if name in row}
    return {name: value for name, value in {**row, **numbers}.items() if name != "entry_time"}


def without_id(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain(row).items() if name != "id"}


def same_tables(select: Callable[[str], list[dict[str, Any]]], old: OldDatabase) -> None:
    assert [plain(row) for row in select("SELECT * FROM jobchain_table ORDER BY id")] == chain_rows(old)
    for table, chain in (("deptable", "jobchainid"), ("jobtable", "job_chain_id")):
        found = [without_id(row) for row in select(f"SELECT * FROM {table} ORDER BY {chain}, id")]
        assert found == part_rows(old, table, chain)


def sqlite_rows(server: Server, query: str) -> list[dict[str, Any]]:
    connection = sqlite3.connect(server.data / "waterclock.db")
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


def test_the_tables_are_as_they_were(chains: Chains, server: Server, old: OldDatabase) -> None:
    same_tables(lambda query: sqlite_rows(server, query), old)


def test_the_runs_and_messages_are_in_the_old_tables(runs: Mapping[str, Any], chains: Chains, server: Server) -> None:
    lines = {row["id"]: row for row in sqlite_rows(server, "SELECT * FROM jobchain_lst_run")}
    told = {row["run_id"]: row["msg"] for row in sqlite_rows(server, "SELECT * FROM schedulerMessage")}
    for name, run in runs.items():
        line = lines[run["run_id"]]
        assert (line["jobchain_id"], line["status"]) == (chains.all[name]["id"], CASES[name].status)
        assert line["last_run_start"] <= line["last_run_end"]
        assert (line["dep_pass_ts"] is not None) == (run["dep_pass_ts"] is not None)
        message = CASES[name].message
        assert message is None or message[1] in told[run["run_id"]]


def test_a_store_beside_the_old_database_shows_the_same_tables(
    database: MariadbServer, old: OldDatabase, programs: Path, tmp_path: Path
) -> None:
    with database.fresh_database() as url, running(tmp_path, url, **settings(programs)) as server:
        said = server.cli("import", "schedulerdb", old.url, "--timezone", ZONE, "--apply")
        assert f"waterclock: {len(CASES)} created, {len(LEFT_OUT)} left out\n" in said.stderr, said.stderr
        same_tables(OldDatabase(url).run, old)
