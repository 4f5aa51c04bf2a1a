"""Runs of chains as they are shown: every gate with its probes, every step with its run, level by level."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from waterclock.domain.chain import Chain
from waterclock.domain.chain_graph import COMMAND, ENV, level_of, part_of
from waterclock.domain.flow import FlowRun, Node, Stage
from waterclock.domain.moment import SECOND, Moment, to_iso
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.usual import Span, usual_seconds, usual_time
from waterclock.faces.chains.states import OF_RUNS, node_state
from waterclock.faces.iso import to_iso_or_none
from waterclock.stores.base import Row
from waterclock.stores.ops.chain_failing import GIVEN_UP
from waterclock.stores.ops.chain_runs import ChainRun

Rendered = dict[str, object]


def run(found: FlowRun, chain: Chain | None) -> Rendered:
    """`chain` is None where it was deleted since; `fire_at` where somebody started it by hand."""
    return {
        "run_id": found.id,
        "chain_id": part_of(found.flow_name),
        "job_desc": chain.spec.job_desc if chain else None,
        "status": OF_RUNS[found.state],
        "fire_at": to_iso(found.run_at) if found.trigger_name else None,
        "started_at": to_iso(found.created_at),
        "ended_at": to_iso_or_none(found.ended_at),
        "dep_pass_ts": to_iso_or_none(found.gates_passed_at),
        "message": found.message,
        "role": found.role or None,
        "requested_by": found.requested_by,
    }


def whole_run(found: ChainRun) -> Rendered:
    stages = [stage for stage in found.run.graph.stages if not any(node.probing for node in stage.nodes)]
    return {
        **run(found.run, found.chain),
        "deps": [_gate(node, found) for node in found.run.graph.gates],
        "levels": [
            {"name": stage.name, "steps": [_step(stage, node, found) for node in stage.nodes]} for stage in stages
        ],
    }


def usual_pass(chain: Chain | None, spans: Sequence[Span]) -> str | None:
    """`02:14` in the chain's zone; of one whose schedule cannot be read nobody knows it."""
    if chain is None or chain.problem:
        return None
    return usual_time([ended for _, ended in spans], ZoneInfo(chain.spec.timezone))


def _gate(node: Node, found: ChainRun) -> Rendered:
    row, attempts = found.nodes.get(node.id), found.attempts.get(node.id, ())
    passed = row is not None and row["state"] == RunState.SUCCEEDED
    return {
        **_part(node, row, found),
        "desc": _title(node),
        "dep_pass_ts": to_iso_or_none(row["ended_at"]) if row and passed else None,
        "usual_pass": usual_pass(found.chain, found.spans.get(node.id, ())),
        "probe_until": to_iso_or_none(row["probe_until"]) if row else None,
        "errors": found.errors.get(node.id, 0),
        "next_probe_at": to_iso_or_none(_next_probe_at(attempts)),
        "probes": [_probe(attempt) for attempt in attempts if _was_tried(attempt)],
    }


def _step(stage: Stage, node: Node, found: ChainRun) -> Rendered:
    row, attempts = found.nodes.get(node.id), found.attempts.get(node.id, ())
    last = attempts[-1] if attempts else None
    began, ended = (row["started_at"], row["ended_at"]) if row else (None, None)
    return {
        **_part(node, row, found),
        "job_desc": _title(node),
        "step_lvl": level_of(stage),
        "started_at": to_iso_or_none(began),
        "ended_at": to_iso_or_none(ended),
        "seconds": (ended - began) / SECOND if began and ended else None,
        "usual_seconds": usual_seconds(found.spans.get(node.id, ())),
        "exit_code": last.exit_code if last else None,
        "run": last.wire_id if last else None,
    }


def _part(node: Node, row: Row | None, found: ChainRun) -> Rendered:
    return {
        "id": part_of(node.id),
        "node": node.id,
        "command": node.action.arguments.get(COMMAND),
        "env": node.action.arguments.get(ENV),
        "state": node_state(found.run, None if row is None or row["message"] == GIVEN_UP else row["state"]),
        "message": row["message"] if row else None,
    }


def _title(node: Node) -> str | None:
    """A part without a name is called by its command."""
    return node.title if node.title != node.action.arguments.get(COMMAND) else None


def _next_probe_at(attempts: Sequence[Attempt]) -> Moment | None:
    last = attempts[-1] if attempts else None
    return last.due_at if last and last.state is RunState.STARTING else None


def _was_tried(attempt: Attempt) -> bool:
    """Also one that could not be started; not one that is still to come, or was called off before."""
    return attempt.started_at is not None or (attempt.ended and attempt.state is not RunState.STOPPED)


def _probe(attempt: Attempt) -> Rendered:
    """They are counted from 1; one that could not even begin has the time of its end."""
    return {
        "number": attempt.number + 1,
        "at": to_iso_or_none(attempt.started_at or attempt.ended_at),
        "ended_at": to_iso_or_none(attempt.ended_at),
        "verdict": attempt.verdict,
        "exit_code": attempt.exit_code,
        "signal": attempt.exit_signal,
        "output": attempt.output,
        "message": attempt.message,
        "wire_id": attempt.wire_id,
    }
