"""Whether an attempt that has ended is followed by another: a retry of a run, the next probe of a gate."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from waterclock.domain.gate import GateEnd, Probed, Verdict, plan_probe
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.outcome import Outcome, Retry, plan_retry
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.chain_failing import GIVEN_UP


@dataclass(frozen=True, slots=True)
class Probes:
    """What decides whether a gate is probed again: its errors so far, and flow runs that have failed already."""

    errors: Mapping[int, int]
    failing: frozenset[int]


async def probes_of(tx: Tx, runs: Collection[Row]) -> Probes:
    gates = [run for run in runs if run["probe_until"] is not None]
    if not gates:
        return Probes({}, frozenset())
    errors = await tx.fetch("probe_errors", {"run_ids": sorted(run["id"] for run in gates)})
    failing = await tx.fetch("failing_flow_runs", {"flow_run_ids": sorted({run["flow_run_id"] for run in gates})})
    return Probes({row["run_id"]: row["errors"] for row in errors}, frozenset(row["flow_run_id"] for row in failing))


def what_follows(now: Moment, attempt: Row, run: Row, outcome: Outcome, probes: Probes) -> Retry | GateEnd | Outcome:
    """Another attempt, or how the run has ended."""
    if outcome.final:
        return outcome
    gate = run["probe_until"] is not None
    return _next_probe(now, attempt, run, outcome, probes) if gate else _retry(now, attempt, run, outcome)


def _retry(now: Moment, attempt: Row, run: Row, outcome: Outcome) -> Retry | Outcome:
    return (
        plan_retry(
            was=RunState(attempt["state"]),
            ended=outcome.state,
            number=attempt["number"],
            retries=run["retries"],
            delay_seconds=run["retry_delay_us"] / SECOND,
            doubles=bool(run["retry_doubles"]),
            now=now,
        )
        or outcome
    )


def _next_probe(now: Moment, attempt: Row, run: Row, outcome: Outcome, probes: Probes) -> Retry | GateEnd:
    verdict = Verdict(outcome.verdict) if outcome.verdict else None
    follows = plan_probe(
        Probed(verdict=verdict, state=outcome.state, message=outcome.message),
        was=RunState(attempt["state"]),
        number=attempt["number"],
        errors=probes.errors.get(run["id"], 0),
        tolerates=run["retries"],
        pause_us=run["retry_delay_us"],
        until=run["probe_until"],
        now=now,
    )
    if isinstance(follows, Retry) and run["flow_run_id"] in probes.failing:
        return GateEnd(state=RunState.STOPPED, message=GIVEN_UP)
    return follows
