"""Chains with real processes: probed gates, levels, failures, time-outs, stops, and a server that is killed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.operating import EVERY_SECOND, LIVE, Operator, states
from tests.acceptance.server import Server, alive, running, until

SPAWN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:                      # a child in a session of its own
    os.setsid()
    if os.fork() == 0:                  # and its orphan
        touch("pids")
        time.sleep(1000)
    touch("pids")
    time.sleep(1000)
touch("pids")
time.sleep(1000)
"""
COUNT = """
touch("count")
with open(os.path.join(here, "count")) as file:
    asked = len(file.readlines())
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with running(folder, stop_grace_seconds=0.2, **Operator.settings(folder)) as server:
        yield server


@pytest.fixture
def operator(server: Server, tmp_path: Path) -> Operator:
    return Operator(server, tmp_path)


def test_a_gate_passes_on_its_third_probe_with_its_evidence(operator: Operator) -> None:
    gate = operator.gate("gate", COUNT + "print('looking')\nprint(0 if asked == 3 else 1)\n", desc="orders are there")
    run = operator.run_through(operator.make(operator.step("load", 1), gates=(gate,)))
    assert (run["status"], states(run)) == ("Success", {"gate": "Success", "load": "Success"})
    (shown,) = run["deps"]
    assert [probe["verdict"] for probe in shown["probes"]] == ["not_yet", "not_yet", "passed"]
    assert [probe["output"] for probe in shown["probes"]] == ["looking\n1\n"] * 2 + ["looking\n0\n"]
    assert {probe["exit_code"] for probe in shown["probes"]} == {0}
    assert run["dep_pass_ts"] == shown["dep_pass_ts"] == shown["probes"][-1]["ended_at"]
    assert operator.marks() == ["gate begins"] * 3 + ["load begins", "load ends"]


def test_a_gate_that_errs_beyond_its_tolerance_fails_the_chain(operator: Operator) -> None:
    gate = operator.gate("gate", "sys.stderr.write('no such table: orders')\nsys.exit(3)\n")
    chain = operator.make(operator.step("load", 1), gates=(gate,), dep_err_tolerance=2, tag="important")
    run = operator.run_through(chain)
    assert (run["status"], states(run)) == ("Failed", {"gate": "Failed", "load": "SKIPPED"})
    (shown,) = run["deps"]
    assert [(probe["verdict"], probe["exit_code"]) for probe in shown["probes"]] == [("error", 3)] * 3
    assert (shown["errors"], run["dep_pass_ts"]) == (3, None)
    assert "3 error(s), 2 borne" in run["message"]
    (message,) = operator.messages(chain)
    assert (message["kind"], message["tag"], message["run_id"]) == ("gate_failed", "important", run["run_id"])
    assert message["body"].endswith("no such table: orders")
    assert "load begins" not in operator.marks()


def test_a_gate_that_prints_something_else_is_told_what_it_must_print(operator: Operator) -> None:
    gate = operator.gate("gate", "print(2)\n")
    run = operator.run_through(operator.make(operator.step("load", 1), gates=(gate,), dep_err_tolerance=0))
    assert run["status"] == "Failed"
    assert "must print 0 (passed) or 1 (not yet), and printed '2'" in run["message"]


def test_a_gate_that_does_not_pass_in_time_fails_the_chain_when_its_time_is_over(operator: Operator) -> None:
    gate = operator.gate("gate", "print(1)\n")
    chain = operator.make(operator.step("load", 1), gates=(gate,), dep_ot=0.01, probe_seconds=0.25)
    run = operator.run_through(chain)
    assert (run["status"], states(run)) == ("Failed", {"gate": "Failed", "load": "SKIPPED"})
    (shown,) = run["deps"]
    assert {probe["verdict"] for probe in shown["probes"]} == {"not_yet"}
    assert shown["probes"][-1]["ended_at"] >= shown["probe_until"] > shown["probes"][0]["at"]
    assert "not passed before dep_ot was over" in run["message"]
    assert [message["kind"] for message in operator.messages(chain)] == ["gate_failed"]


def test_a_failure_in_level_two_of_four_skips_the_rest_and_tells_the_end_of_its_output(operator: Operator) -> None:
    chain = operator.make(
        operator.step("one", 1),
        operator.step("two", 2, "print('x' * 6_000 + ' 끝', end='', flush=True)\nsys.exit(3)\n"),
        operator.step("beside", 2),
        operator.step("three", 3),
        operator.step("four", 4),
    )
    run = operator.run_through(chain)
    assert run["status"] == "Failed"
    assert {name: state for name, state in states(run).items() if name != "beside"} == {
        "one": "Success",
        "two": "Failed",
        "three": "SKIPPED",
        "four": "SKIPPED",
    }
    assert run["message"].startswith(f"level 2, '{operator.name}/two.py': FAILED")
    (message,) = operator.messages(chain)
    assert message["kind"] == "chain_failed"
    assert message["body"].splitlines()[-1] == ("x" * 6_000 + " 끝")[-4_000:]
    assert not {"three begins", "four begins"} & set(operator.marks())


def test_the_steps_of_a_level_run_side_by_side_unless_the_chain_says_otherwise(operator: Operator) -> None:
    waiting = "touch(f'{me} is up')\nawait_file(sys.argv[1] + ' is up')\n"
    left, right = operator.step("left", 1, waiting), operator.step("right", 1, waiting)
    left["command"] += ";right"
    right["command"] += ";left"
    run = operator.run_through(operator.make(left, right))
    assert (run["status"], states(run)) == ("Success", {"left": "Success", "right": "Success"})
    alone = [operator.step(name, 1) for name in ("first", "second", "third")]
    assert operator.run_through(operator.make(*alone, parallel=False))["status"] == "Success"
    assert operator.marks()[4:] == [
        f"{name} {word}" for name in ("first", "second", "third") for word in ("begins", "ends")
    ]


def test_a_step_that_takes_too_long_is_killed_with_all_its_children(operator: Operator) -> None:
    chain = operator.make(operator.step("slow", 1, SPAWN, ottime=0.03), operator.step("after", 2))
    run = operator.run_through(chain)
    assert (run["status"], states(run)) == ("Failed", {"slow": "Failed", "after": "SKIPPED"})
    assert "TIMEOUT" in run["message"]
    assert len(pids := operator.pids("pids")) == 3
    assert not any(alive(pid) for pid in pids)
    assert [message["kind"] for message in operator.messages(chain)] == ["chain_failed"]


def test_a_stop_kills_the_whole_tree_and_is_no_failure(operator: Operator) -> None:
    chain = operator.make(operator.step("slow", 1, SPAWN), operator.step("after", 2))
    run_id = operator.start(chain)
    pids = until(lambda: len(found := operator.pids("pids")) == 3 and found, "never up")
    answer = operator.call("POST", f"/chains/runs/{run_id}/stop", status=202)
    assert answer["run_id"] == run_id
    run = operator.ended(run_id)
    assert (run["status"], states(run)) == ("KILLED", {"slow": "KILLED", "after": "SKIPPED"})
    assert not any(alive(pid) for pid in pids)
    assert operator.messages(chain) == []
    operator.call("POST", f"/chains/runs/{run_id}/stop", status=409)


def test_a_fire_while_the_last_run_lives_is_skipped_with_a_message(operator: Operator) -> None:
    chain = operator.make(operator.step("slow", 1, "await_file('go')\n"), timestr=EVERY_SECOND)
    messages = until(lambda: operator.messages(chain), "nothing was skipped")
    operator.call("PUT", f"/chains/{chain['id']}/switch", {"switch": "OFF"})
    assert {message["kind"] for message in messages} == {"chain_skipped"}
    assert messages[0]["body"].endswith("its last run still lives")
    (operator.folder / "go").touch()
    (run,) = operator.runs(chain)
    ended = operator.ended(run["run_id"])
    assert (ended["status"], ended["role"]) == ("Success", "main")
    assert ended["fire_at"]
    assert operator.marks() == ["slow begins", "slow ends"]


def test_run_now_ignores_the_switch_but_not_a_run_that_lives(operator: Operator) -> None:
    chain = operator.make(operator.step("slow", 1, "await_file('go')\n"), timestr=EVERY_SECOND, switch="OFF")
    assert chain["next_fire_at"] is None
    run_id = operator.start(chain)
    refused = operator.call("POST", f"/chains/{chain['id']}/run", status=409)
    assert "still lives" in refused["error"]["message"]
    operator.call("DELETE", f"/chains/{chain['id']}", status=409)
    (operator.folder / "go").touch()
    run = operator.ended(run_id)
    assert (run["status"], run["fire_at"]) == ("Success", None)
    assert len(operator.runs(chain)) == 1


def test_what_is_usual_is_learned_from_three_runs(operator: Operator) -> None:
    gate, step = operator.gate("gate", "print(0)\n"), operator.step("load", 1, "time.sleep(0.05)\n")
    chain = operator.make(step, gates=(gate,), timezone="Asia/Seoul")
    for _ in range(3):
        assert chain["deps"][0]["usual_pass"] is None
        assert operator.run_through(chain)["status"] == "Success"
    shown = operator.call("GET", f"/chains/{chain['id']}")
    assert re.fullmatch(r"\d\d:\d\d", shown["deps"][0]["usual_pass"])
    assert shown["jobs"][0]["usual_seconds"] >= 0
    assert shown["last_run"]["status"] == "Success"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"env": "/no/such/python"}, "/no/such/python"),
        ({"env": "cobol-2077"}, "cobol-2077"),
        ({"command": "nowhere-to-be-found/a.py"}, "nowhere-to-be-found"),
        ({"command": "{name}/missing.py"}, "missing.py"),
    ],
)
def test_what_cannot_be_run_says_what_is_missing(operator: Operator, changed: dict[str, str], said: str) -> None:
    words = {key: value.format(name=operator.name) for key, value in changed.items()}
    run = operator.run_through(operator.make(operator.step("load", 1) | words, operator.step("after", 2)))
    assert run["status"] == "Failed"
    assert said in run["message"]
    (step,) = run["levels"][0]["steps"]
    assert said in step["message"]
    assert operator.marks() == []


def test_a_gate_that_cannot_be_run_is_an_error_that_is_borne(operator: Operator) -> None:
    gate = operator.gate("gate", "") | {"env": "/no/such/python"}
    run = operator.run_through(operator.make(operator.step("load", 1), gates=(gate,), dep_err_tolerance=1))
    assert run["status"] == "Failed"
    assert run["deps"][0]["errors"] == 2
    assert "/no/such/python" in run["message"]


def test_a_chain_goes_on_after_a_power_cut_and_a_killed_server_and_no_step_runs_twice(tmp_path: Path) -> None:
    with running(tmp_path, **Operator.settings(tmp_path)) as server:
        operator = Operator(server, tmp_path)
        gate = operator.gate("gate", "await_file('gate may end')\n")
        steps = [operator.step(name, 1, f"touch({name!r})\nawait_file('go')\n") for name in ("left", "right")]
        chain = operator.make(*steps, operator.step("after", 2), gates=(gate,), dep_err_tolerance=0)
        run_id = operator.start(chain)
        until(lambda: operator.marks() == ["gate begins"], "the gate was never probed")
        server.kill_everything()  # the probe, too: nobody knows what it would have said
        (tmp_path / "gate may end").touch()
        server.start()
        until(lambda: operator.pids("left") and operator.pids("right"), "the first level never began")
        process: Any = server.process
        process.kill()  # its own processes go with it; what holds the programs lives on
        process.wait()
        for role in ("api", "engine"):
            until(lambda role=role: not server.pids(f"waterclock.app.launch\0{role}\0"), f"{role} outlived its parent")  # type: ignore[misc]
        server.start()
        assert operator.shown(run_id)["status"] == LIVE
        (tmp_path / "go").touch()
        run = operator.ended(run_id)
        assert (run["status"], run["message"]) == ("Success", None)
        assert [probe["verdict"] for probe in run["deps"][0]["probes"]] == [None, "passed"]
        lines = operator.marks()
        assert lines[:2] == ["gate begins"] * 2
        assert sorted(lines[2:6]) == ["left begins", "left ends", "right begins", "right ends"]
        assert lines[6:] == ["after begins", "after ends"]
