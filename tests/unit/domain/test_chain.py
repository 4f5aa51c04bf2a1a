"""What a chain may be: every fault is refused with its place, and a command is read as it is written."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.chain import (
    HIGHEST_LEVEL,
    LONGEST_COMMAND,
    ChainSpec,
    Gate,
    Step,
    Switch,
    arguments_of,
    check,
    schedule_of,
    script_of,
)
from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.domain.role import Role

STEP = Step(command="etl/load.py", step_lvl=0, ottime=1)
GATE = Gate(command="deps/ready.py", ottime=1)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SPEC = ChainSpec(timestr="0 2 * * *", steps=(STEP,), gates=(GATE,), dep_ot=90)


def test_a_whole_chain_passes() -> None:
    check(SPEC)


def test_minutes_may_be_parts_of_one_and_a_chain_without_gates_has_no_dep_ot() -> None:
    check(replace(SPEC, dep_ot=0.05, steps=(replace(STEP, ottime=0.001),)))
    check(replace(SPEC, gates=(), dep_ot=None))


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("jobs", {"steps": ()}),
        ("dep_ot", {"dep_ot": None}),
        ("dep_ot", {"dep_ot": 0}),
        ("dep_ot", {"dep_ot": -1.5}),
        ("dep_ot", {"dep_ot": float("nan")}),
        ("dep_ot", {"dep_ot": float("inf")}),
        ("dep_err_tolerance", {"dep_err_tolerance": -1}),
        ("probe_seconds", {"probe_seconds": 0}),
        ("probe_seconds", {"probe_seconds": float("nan")}),
        ("deps[0].ottime", {"gates": (replace(GATE, ottime=0),)}),
        ("deps[1].env", {"gates": (GATE, replace(GATE, env=" "))}),
        ("deps[0].command", {"gates": (replace(GATE, command=""),)}),
        ("jobs[0].ottime", {"steps": (replace(STEP, ottime=-3),)}),
        ("jobs[1].step_lvl", {"steps": (STEP, replace(STEP, step_lvl=-1))}),
        ("jobs[0].step_lvl", {"steps": (replace(STEP, step_lvl=HIGHEST_LEVEL + 1),)}),
        ("jobs[0].command", {"steps": (replace(STEP, command="/etc/passwd"),)}),
        ("jobs[0].command", {"steps": (replace(STEP, command="etl/../../secret.py"),)}),
        ("jobs[0].command", {"steps": (replace(STEP, command=";only;arguments"),)}),
        ("jobs[0].command", {"steps": (replace(STEP, command="x" * (LONGEST_COMMAND + 1)),)}),
    ],
)
def test_a_fault_is_refused_with_its_place(field: str, changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(replace(SPEC, **changed))
    assert refused.value.field == field


def test_two_dots_inside_a_name_are_no_way_out() -> None:
    check(replace(SPEC, steps=(replace(STEP, command="etl/load..v2.py;../what/ever"),)))


def test_a_timestr_is_read_in_the_chains_own_zone_and_a_slash_means_every() -> None:
    assert schedule_of(replace(SPEC, timestr="/5 * * * *")).next_after(NOON) == NOON + timedelta(minutes=5)
    two_in_seoul = schedule_of(replace(SPEC, timezone="Asia/Seoul"))
    assert two_in_seoul.next_after(NOON) == NOON + timedelta(hours=5)


@pytest.mark.parametrize("changed", [{"timestr": "every day"}, {"timezone": "Mars/Olympus"}])
def test_what_cannot_be_read_as_a_schedule_says_so(changed: dict[str, Any]) -> None:
    with pytest.raises(BadSchedule):
        schedule_of(replace(SPEC, **changed))


@pytest.mark.parametrize(
    ("command", "script", "arguments"),
    [
        ("a/b.py", "a/b.py", ()),
        ("a/b.py;x;y z", "a/b.py", ("x", "y z")),
        (" a/b.py ; x ", "a/b.py", (" x ",)),
        ("a/b.py;", "a/b.py", ()),
        ("a/b.py;;x", "a/b.py", ("", "x")),
        ("a/b.py;x;", "a/b.py", ("x",)),
        ("a/b.py;날짜;ngày", "a/b.py", ("날짜", "ngày")),
    ],
)
def test_a_command_is_a_script_and_what_stands_after_semicolons(
    command: str, script: str, arguments: tuple[str, ...]
) -> None:
    assert (script_of(command), arguments_of(command)) == (script, arguments)


@given(st.lists(st.text(st.characters(blacklist_characters=";"))))
def test_arguments_come_back_as_they_were_joined(arguments: list[str]) -> None:
    assert arguments_of(";".join(["a.py", *arguments, ""])) == tuple(arguments)


@pytest.mark.parametrize(
    ("main", "bkp", "roles"),
    [(1, 1, (Role.MAIN, Role.BKP)), (1, 0, (Role.MAIN,)), (0, 1, (Role.BKP,)), (0, 0, ())],
)
def test_a_chain_is_scheduled_when_it_is_on_and_somebody_may_run_it(
    main: int, bkp: int, roles: tuple[Role, ...]
) -> None:
    spec = replace(SPEC, main_flag=bool(main), bkp_flag=bool(bkp))
    assert spec.roles == roles
    assert spec.is_scheduled is bool(roles)
    assert not replace(spec, switch=Switch.OFF).is_scheduled
