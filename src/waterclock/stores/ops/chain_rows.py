"""Chains, their gates and their steps, from rows and back."""

from collections.abc import Sequence

from waterclock.domain.chain import Chain, ChainSpec, Gate, Step, Switch, schedule_of
from waterclock.domain.errors import BadSchedule
from waterclock.domain.moment import Moment
from waterclock.stores.base import Row


def chain_of(row: Row, gates: Sequence[Row], steps: Sequence[Row]) -> Chain:
    spec = ChainSpec(
        timestr=row["timestr"],
        timezone=row["timezone"],
        steps=tuple(_step(each) for each in steps),
        gates=tuple(_gate(each) for each in gates),
        job_desc=row["job_desc"],
        dep_ot=row["dep_ot"],
        switch=Switch.ON if row["is_on"] else Switch.OFF,
        main_flag=bool(row["main_flag"]),
        bkp_flag=bool(row["bkp_flag"]),
        tag=row["tag"],
        subtag=row["subtag"],
        parallel=bool(row["is_parallel"]),
        dep_err_tolerance=row["dep_err_tolerance"],
        probe_seconds=row["probe_seconds"],
    )
    return Chain(
        id=row["id"],
        org_id=row["org_id"],
        owner=row["owner"],
        flow_id=row["flow_id"],
        spec=spec,
        version=row["version"],
        next_fire_at=row["next_fire_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        problem=_problem(spec),
        source=row["source"],
    )


def chain_row(chain_id: int, spec: ChainSpec, now: Moment) -> dict[str, object]:
    return {
        "id": chain_id,
        "job_desc": spec.job_desc,
        "timestr": spec.timestr,
        "timezone": spec.timezone,
        "dep_ot": spec.dep_ot,
        "is_on": int(spec.switch is Switch.ON),
        "main_flag": int(spec.main_flag),
        "bkp_flag": int(spec.bkp_flag),
        "tag": spec.tag,
        "subtag": spec.subtag,
        "is_parallel": int(spec.parallel),
        "dep_err_tolerance": spec.dep_err_tolerance,
        "probe_seconds": spec.probe_seconds,
        "updated_at": now,
    }


def gate_row(chain_id: int, position: int, gate: Gate, now: Moment) -> dict[str, object]:
    return {
        "id": gate.id,
        "chain_id": chain_id,
        "position": position,
        "env": gate.env,
        "command": gate.command,
        "description": gate.desc,
        "ottime": gate.ottime,
        "updated_at": now,
    }


def step_row(chain_id: int, position: int, step: Step, now: Moment) -> dict[str, object]:
    return {
        "id": step.id,
        "chain_id": chain_id,
        "position": position,
        "env": step.env,
        "command": step.command,
        "step_lvl": step.step_lvl,
        "job_desc": step.job_desc,
        "ottime": step.ottime,
        "updated_at": now,
    }


def _gate(row: Row) -> Gate:
    return Gate(id=row["id"], env=row["env"], command=row["command"], desc=row["description"], ottime=row["ottime"])


def _step(row: Row) -> Step:
    return Step(
        id=row["id"],
        env=row["env"],
        command=row["command"],
        step_lvl=row["step_lvl"],
        job_desc=row["job_desc"],
        ottime=row["ottime"],
    )


def _problem(spec: ChainSpec) -> str | None:
    """One that is ON was readable when it was switched on."""
    if spec.switch is Switch.ON:
        return None
    try:
        schedule_of(spec)
    except BadSchedule as problem:
        return str(problem)
    return None
