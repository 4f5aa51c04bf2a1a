"""What an import from APScheduler says: what it would do and what it did, for people and, in JSON, for programs."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from waterclock.domain.moment import Moment, to_iso
from waterclock.faces.cli.importing.applying import Done
from waterclock.faces.cli.importing.apscheduler.plan import Step
from waterclock.faces.cli.importing.apscheduler.reading import Row
from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.importing.report import WORDS, few
from waterclock.faces.cli.output import print_list, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    step: Step
    done: Done

    @property
    def why(self) -> str | None:
        match self.done:
            case Done.LEFT:
                return f"differs in {', '.join(self.step.reasons)}"
            case Done.LEFT_OUT:
                return "; ".join(self.step.reasons)
        return None


def rows_json(rows: Sequence[Row]) -> dict[str, Any]:
    return {"rows": [{"id": row.id, "next_run_time": _next(row.next_at)} for row in rows]}


def plan_json(steps: Sequence[Step]) -> dict[str, Any]:
    summary = {verdict.value: _count(steps, verdict) for verdict in Verdict}
    return {"steps": [_step_json(step) for step in steps], "summary": summary}


def results_json(results: Sequence[Result]) -> dict[str, Any]:
    done = [{"id": result.step.id, "done": result.done, "why": result.why} for result in results]
    return {"results": done, "summary": _counts(results)}


def print_rows(rows: Sequence[Row]) -> None:
    columns = {"ID": lambda row: row["id"], "NEXT RUN": lambda row: row["next_run_time"] or "paused"}
    print_list(rows_json(rows)["rows"], columns, to_json=False)


def print_plan(steps: Sequence[Step]) -> None:
    columns = {
        "ID": lambda step: step["id"],
        "NEXT RUN": lambda step: step["next_run_time"] or "paused",
        "TRIGGER": lambda step: step["trigger"],
        "PLAN": lambda step: step["verdict"],
        "WHY": lambda step: "; ".join(step["reasons"]),
    }
    if steps:
        print_list([_step_json(step) for step in steps], columns, to_json=False)
    for note, names in _notes(steps).items():
        click.echo(f"\nnote: {printable(note)}\n  {printable(few(names))}")
    counts = [f"{_count(steps, verdict)} {words}" for verdict, words in WORDS.items() if _count(steps, verdict)]
    click.echo(f"\n{', '.join(counts) or 'nothing to carry over'}")


def line(result: Result) -> str:
    return printable(f"job {result.step.id!r} {result.done}{f': {result.why}' if result.why else ''}")


def summary(results: Sequence[Result]) -> str:
    counts = _counts(results)
    return ", ".join(f"{counts[done]} {done}" for done in Done if counts.get(done)) or "nothing was done"


def going_on(steps: Sequence[Step]) -> int:
    """Jobs that run here as soon as a program opens the store."""
    return sum(step.verdict is Verdict.CREATE and step.next_at is not None for step in steps)


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "id": step.id,
        "next_run_time": _next(step.next_at),
        "trigger": step.trigger,
        "verdict": step.verdict,
        "reasons": list(step.reasons),
        "notes": list(step.notes),
    }


def _next(moment: Moment | None) -> str | None:
    return None if moment is None else to_iso(moment)


def _count(steps: Sequence[Step], verdict: Verdict) -> int:
    return sum(step.verdict is verdict for step in steps)


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return dict(Counter(str(result.done) for result in results))


def _notes(steps: Sequence[Step]) -> Mapping[str, Sequence[str]]:
    """Each once, with the jobs that it is about."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for step in steps:
        for note in step.notes:
            found[note].append(repr(step.id))
    return found
