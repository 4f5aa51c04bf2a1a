"""A run of a chain on a screen and in a log: a function of the run, the server's time and the screen's size."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from waterclock.faces.cli.chain.changes import Changes
from waterclock.faces.cli.chain.live import frame
from waterclock.faces.cli.chain.words import fit, span
from waterclock.faces.cli.output import screen_width

NOW = datetime(2026, 11, 15, 17, 15, tzinfo=UTC)
SEOUL = ZoneInfo("Asia/Seoul")


def at(clock: str) -> str:
    return f"2026-11-15T{clock}Z"


def probe(number: int, ended: str | None, verdict: str | None, message: str | None = None) -> dict[str, Any]:
    began = at("17:14:56") if ended is None else at(ended)
    return {
        "number": number,
        "at": began,
        "ended_at": ended and at(ended),
        "verdict": verdict,
        "exit_code": 0,
        "signal": None,
        "output": "",
        "message": message,
        "wire_id": f"jr_{number}",
    }


def gate(number: int, state: str, *probes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "node": f"gate-{number}",
        "desc": None,
        "command": f"in/gate{number}.py",
        "env": "sh",
        "state": state,
        "message": None,
        "dep_pass_ts": None,
        "usual_pass": None,
        "probe_until": at("18:00:00"),
        "errors": 0,
        "next_probe_at": None,
        "probes": list(probes),
        **more,
    }


def step(number: int, state: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "node": f"step-{number}",
        "job_desc": f"step {number}",
        "command": "x.py",
        "env": "sh",
        "step_lvl": 1,
        "state": state,
        "message": None,
        "started_at": None,
        "ended_at": None,
        "seconds": None,
        "usual_seconds": None,
        "exit_code": None,
        "run": None,
        **more,
    }


def run(deps: list[dict[str, Any]], *levels: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    named = [{"name": f"level {number}", "steps": steps} for number, steps in enumerate(levels, start=1)]
    return {
        "run_id": 42,
        "chain_id": 3,
        "job_desc": "nightly load",
        "status": "RUNNING...",
        "fire_at": at("17:00:00"),
        "started_at": at("17:00:01"),
        "ended_at": None,
        "dep_pass_ts": None,
        "message": None,
        "role": "main",
        "requested_by": None,
        "deps": deps,
        "levels": named,
        **more,
    }


def lines(shown: dict[str, Any], width: int = 200, height: int | None = None) -> list[str]:
    return frame(shown, NOW, width, zone=SEOUL, height=height)


def test_each_gate_tells_what_it_waits_for_and_when_it_usually_passes() -> None:
    shown = run(
        [
            gate(1, "Success", probe(1, "17:14:03", "passed"), dep_pass_ts=at("17:14:03"), usual_pass="02:12"),
            gate(
                2,
                "RUNNING...",
                probe(1, "17:13:00", "error", "exit code 3"),
                probe(2, "17:14:00", "not_yet"),
                errors=1,
                next_probe_at=at("17:15:12"),
                usual_pass="02:14",
            ),
            gate(3, "RUNNING...", probe(1, None, None)),
        ],
        [step(1, "WAITING", usual_seconds=40.0)],
    )
    assert lines(shown) == [
        "nightly load · run 42 · RUNNING... · 14 min 59 s · due 2026-11-15T17:00:00Z · on main",
        "gates: 1 Success, 2 RUNNING... · times in Asia/Seoul",
        "  Success     in/gate1.py  passed at 02:14:03 · 1 probe · usually passes at 02:12",
        "  RUNNING...  in/gate2.py  2 probes, 1 error(s), last at 02:14:00: not yet · next in 12 s · 45 min 0 s left"
        " · usually passes at 02:14",
        "  RUNNING...  in/gate3.py  probing for 4.0 s · 45 min 0 s left",
        "level 1: 1 WAITING",
        "  WAITING     step 1       usually 40 s",
    ]


def test_steps_tell_their_time_and_the_usual_one_level_by_level() -> None:
    shown = run(
        [],
        [
            step(1, "Success", started_at=at("17:01:00"), ended_at=at("17:01:12"), seconds=12.0, usual_seconds=11.2),
            step(2, "RUNNING...", started_at=at("17:12:55"), usual_seconds=40.0),
            step(3, "RUNNING..."),
        ],
        [step(4, "WAITING")],
        fire_at=None,
        requested_by="ann",
        role=None,
    )
    assert lines(shown) == [
        "nightly load · run 42 · RUNNING... · 14 min 59 s · by ann",
        "level 1: 1 Success, 2 RUNNING...",
        "  Success     step 1  12 s · usually 11 s",
        "  RUNNING...  step 2  2 min 5 s · usually 40 s",
        "  RUNNING...  step 3  starting",
        "level 2: 1 WAITING",
        "  WAITING     step 4",
    ]


def test_what_failed_says_why_and_where_its_log_is() -> None:
    shown = run(
        [gate(1, "Failed", probe(1, "17:13:00", "error", "exit code 3"), errors=1, message="1 error(s), 0 borne")],
        [step(1, "SKIPPED")],
        [step(2, "Failed", seconds=0.4, exit_code=3, run="jr_9", message="Traceback\n  x\nValueError: no")],
        [step(3, "KILLED", seconds=5.0, exit_code=None, run="jr_10")],
        status="Failed",
        ended_at=at("17:00:05"),
        message="step 2: exit code 3",
    )
    assert lines(shown)[0] == "nightly load · run 42 · Failed · 4.0 s · due 2026-11-15T17:00:00Z · on main"
    assert lines(shown)[2] == (
        "  Failed      in/gate1.py  1 probe, 1 error(s), last at 02:13:00: error (exit code 3) · 1 error(s), 0 borne"
    )
    assert "  Failed      step 2       0.4 s · ValueError: no · waterclock run logs jr_9" in lines(shown)
    assert "  KILLED      step 3       5.0 s · waterclock run logs jr_10" in lines(shown)
    assert lines(shown)[-1] == "step 2: exit code 3"


def test_what_is_late_counts_no_negative_times() -> None:
    shown = run([gate(1, "RUNNING...", next_probe_at=at("17:14:00"), probe_until=at("17:14:59"))], [step(1, "WAITING")])
    assert lines(shown)[2] == "  RUNNING...  in/gate1.py  next probe is due · its time is up"
    early = run([], [step(1, "RUNNING...", started_at=at("17:15:01"))])
    assert lines(early)[2] == "  RUNNING...  step 1  0.0 s"


def test_what_does_not_fit_goes_on_below() -> None:
    waits = gate(1, "RUNNING...", probe(1, "17:13:00", "not_yet"), next_probe_at=at("17:15:12"), usual_pass="02:14")
    assert lines(run([waits], [step(1, "WAITING")]), 64)[2:5] == [
        "  RUNNING...  in/gate1.py  1 probe, last at 02:13:00: not yet",
        "                           next in 12 s · 45 min 0 s left",
        "                           usually passes at 02:14",
    ]


@pytest.mark.parametrize("width", [1, 20, 37, 80])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    shown = run([gate(1, "RUNNING...", desc="주문 파일이 왔다 " * 9)], [step(1, "WAITING")], job_desc="야간 적재 " * 20)
    assert max(map(screen_width, lines(shown, width, height=30))) <= max(width, 20)
    assert shown["job_desc"] in lines(shown, width)[0]  # what is not drawn in place is not cut


def test_names_do_not_move_the_cursor() -> None:
    shown = run(
        [gate(1, "WAITING", desc="a\x1b[2Jb\r\n")], [step(1, "WAITING", job_desc="\u202ex")], job_desc="\x1b]0;x\x07"
    )
    assert all(char.isprintable() for line in lines(shown) for char in line)


def test_when_there_is_no_room_what_is_quiet_is_folded_first() -> None:
    done = [step(number, "Success", seconds=1.0) for number in (1, 2, 3)]
    live = [step(4, "RUNNING...", started_at=at("17:12:55")), step(5, "Success", seconds=1.0)]
    later = [step(6, "WAITING"), step(7, "WAITING")]
    shown = run([], done, live, later)
    assert len(lines(shown)) == 11
    assert lines(shown, height=11) == lines(shown)
    assert lines(shown, height=10)[-1] == "level 3: 2 WAITING"
    assert lines(shown, height=6)[1:3] == ["level 1: 3 Success", "level 2: 1 RUNNING..., 1 Success"]
    assert lines(shown, height=3)[1:] == ["level 1: 3 Success", "… 4 more lines: make the window higher"]
    assert all(len(lines(shown, height=height)) <= height for height in range(12))


def test_spans_are_told_as_people_do() -> None:
    told = [span(seconds) for seconds in (0, 9.96, 59.6, 61, 3_599, 3_660, 90_000)]
    assert told == ["0.0 s", "10.0 s", "1 min 0 s", "1 min 1 s", "59 min 59 s", "1 h 1 min", "1 d 1 h"]
    assert fit("한국어", 5) == "한국…"
    assert fit("abc", 0) == ""


def test_a_log_is_told_each_change_once() -> None:
    changes = Changes(SEOUL)

    def told(shown: dict[str, Any]) -> list[str]:
        return list(changes.since_last(shown, NOW))

    waiting = [step(1, "WAITING")]
    assert told(run([gate(1, "RUNNING...")], waiting)) == [
        "in/gate1.py is RUNNING...: 45 min 0 s left",
        "run 42 of nightly load is RUNNING...",
    ]
    not_yet = gate(1, "RUNNING...", probe(1, "17:13:00", "not_yet"))
    assert told(run([not_yet], waiting)) == [
        "in/gate1.py is RUNNING...: 1 probe, last at 02:13:00: not yet · 45 min 0 s left"
    ]
    again = gate(1, "RUNNING...", probe(1, "17:13:00", "not_yet"), probe(2, "17:14:00", "not_yet"))
    assert told(run([again], waiting)) == []
    passed = gate(1, "Success", *again["probes"], probe(3, "17:15:00", "passed"), dep_pass_ts=at("17:15:00"))
    assert told(run([passed], [step(1, "RUNNING...", started_at=at("17:15:00"))])) == [
        "in/gate1.py is Success: passed at 02:15:00 · 3 probes",
        "step 1 is RUNNING...",
    ]
    failed = step(1, "Failed", ended_at=at("17:15:00"), seconds=2.0, message="exit code 3", run="jr_1")
    assert told(run([passed], [failed], status="Failed", message="step 1: exit code 3")) == [
        "step 1 is Failed: 2.0 s · exit code 3 · waterclock run logs jr_1",
        "run 42 of nightly load is Failed: step 1: exit code 3",
    ]
