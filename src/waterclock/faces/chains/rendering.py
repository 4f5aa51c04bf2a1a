"""Chains as they are shown: what was sent, what follows from it, and what was learned of its parts."""

from collections.abc import Sequence

from waterclock.domain.chain import Gate, Step
from waterclock.domain.chain_graph import gate_node, step_node
from waterclock.domain.moment import to_iso
from waterclock.domain.usual import Span, usual_seconds
from waterclock.faces.chains.run_rendering import Rendered, run, usual_pass
from waterclock.faces.iso import to_iso_or_none
from waterclock.services.chains import ShownChain


def chain(shown: ShownChain) -> Rendered:
    """It can be sent back as it is."""
    found, spec, spans = shown.chain, shown.chain.spec, shown.spans
    return {
        "id": found.id,
        "name": found.name,
        "owner": found.owner,
        "job_desc": spec.job_desc,
        "timestr": spec.timestr,
        "timezone": spec.timezone,
        "dep_ot": spec.dep_ot,
        "switch": spec.switch,
        "main_flag": int(spec.main_flag),
        "BKP_flag": int(spec.bkp_flag),
        "tag": spec.tag,
        "subtag": spec.subtag,
        "parallel": spec.parallel,
        "dep_err_tolerance": spec.dep_err_tolerance,
        "probe_seconds": spec.probe_seconds,
        "deps": [_gate(gate, usual_pass(found, spans.get(gate_node(gate.id), ()))) for gate in spec.gates],
        "jobs": [_step(step, spans.get(step_node(step.id), ())) for step in spec.steps],
        "total_stpes": len(spec.steps),
        "next_fire_at": to_iso_or_none(found.next_fire_at),
        "problem": found.problem,
        "source": found.source,
        "created_at": to_iso(found.created_at),
        "updated_at": to_iso(found.updated_at),
        "last_run": run(shown.last_run, found) if shown.last_run else None,
    }


def _gate(gate: Gate, usual: str | None) -> Rendered:
    return {
        "id": gate.id,
        "env": gate.env,
        "command": gate.command,
        "desc": gate.desc,
        "ottime": gate.ottime,
        "usual_pass": usual,
    }


def _step(step: Step, spans: Sequence[Span]) -> Rendered:
    return {
        "id": step.id,
        "env": step.env,
        "command": step.command,
        "step_lvl": step.step_lvl,
        "job_desc": step.job_desc,
        "ottime": step.ottime,
        "usual_seconds": usual_seconds(spans),
    }
