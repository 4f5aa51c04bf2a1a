"""What an import says: what it would do and what it did, as lines for people and as JSON for programs."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.importing.applying import Done, Result
from waterclock.faces.cli.importing.plan import Plan, Step, Verdict
from waterclock.faces.cli.output import print_list

NAMES_SHOWN: Final = 5
WORDS: Final[Mapping[Verdict, str]] = {
    Verdict.CREATE: "to create",
    Verdict.SAME: "here already, the same",
    Verdict.DIFFERS: "here already, but different",
    Verdict.CANNOT: "cannot be carried over",
}


def plan_json(plan: Plan) -> dict[str, Any]:
    steps = [_step_json(step) for step in plan.steps]
    return {"steps": steps, "summary": {verdict.value: plan.count(verdict) for verdict in Verdict}}


def results_json(results: Sequence[Result]) -> dict[str, Any]:
    done = [
        {"kind": result.thing.kind, "name": result.thing.name, "done": result.done, "why": result.why}
        for result in results
    ]
    return {"results": done, "summary": _counts(results)}


def print_plan(plan: Plan) -> None:
    columns = {
        "KIND": lambda step: step["kind"],
        "NAME": lambda step: step["name"],
        "PLAN": lambda step: step["verdict"],
        "WHY": lambda step: step["reason"] or ", ".join(step["differs"]),
    }
    if plan.steps:
        print_list([_step_json(step) for step in plan.steps], columns, to_json=False)
    for note, names in _notes(plan).items():
        click.echo(f"\nnote: {note}\n  {few(names)}")
    counts = [f"{plan.count(verdict)} {words}" for verdict, words in WORDS.items() if plan.count(verdict)]
    click.echo(f"\n{', '.join(counts) or 'nothing to carry over'}")


def line(result: Result) -> str:
    why = f": {result.why}" if result.why else ""
    return f"{result.thing.kind} {result.thing.name!r} {result.done}{why}"


def summary(results: Sequence[Result]) -> str:
    counts = _counts(results)
    return ", ".join(f"{counts[done]} {done}" for done in Done if counts.get(done)) or "nothing was done"


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "kind": step.thing.kind,
        "name": step.thing.name,
        "verdict": step.verdict,
        "differs": list(step.differs),
        "reason": step.reason,
        "notes": list(step.notes),
        "starts": step.starts,
    }


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return dict(Counter(str(result.done) for result in results))


def _notes(plan: Plan) -> Mapping[str, Sequence[str]]:
    """Each once, with those that it is about."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for step in plan.steps:
        for note in step.notes:
            found[note].append(f"{step.thing.kind} {step.thing.name!r}")
    return found


def few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more
