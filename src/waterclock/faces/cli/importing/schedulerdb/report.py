"""What an import of a schedulerDB says: what it would do and what it did, for people and, in JSON, for programs."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from waterclock.domain.chain import Switch
from waterclock.faces.cli.importing.applying import Done
from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.importing.report import WORDS, few
from waterclock.faces.cli.importing.schedulerdb.applying import Result
from waterclock.faces.cli.importing.schedulerdb.judging import Stray
from waterclock.faces.cli.importing.schedulerdb.plan import Step
from waterclock.faces.cli.importing.schedulerdb.tables import LEFT
from waterclock.faces.cli.output import print_list, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was found; `left` counts the rows of tables that are not carried over."""

    steps: Sequence[Step]
    strays: Sequence[Stray]
    left: Mapping[str, int | None]
    timezone: str

    def count(self, verdict: Verdict) -> int:
        return sum(step.verdict is verdict for step in self.steps)


def plan_json(report: Report) -> dict[str, Any]:
    return {
        "timezone": report.timezone,
        "steps": [_step_json(step) for step in report.steps],
        "strays": [{"table": stray.table, "id": stray.id, "reason": stray.reason} for stray in report.strays],
        "not_carried": [{"table": table, "rows": report.left[table], "reason": why} for table, why in LEFT.items()],
        "summary": {verdict.value: report.count(verdict) for verdict in Verdict},
    }


def results_json(results: Sequence[Result]) -> dict[str, Any]:
    done = [
        {"id": result.step.chain.id, "job_desc": result.step.chain.title, "done": result.done, "why": result.why}
        for result in results
    ]
    return {"results": done, "summary": _counts(results)}


def print_plan(report: Report) -> None:
    columns = {
        "ID": lambda step: step["id"],
        "CHAIN": lambda step: step["job_desc"],
        "SWITCH": lambda step: step["switch"],
        "PLAN": lambda step: step["verdict"],
        "WHY": lambda step: "; ".join(step["reasons"]),
    }
    if report.steps:
        print_list([_step_json(step) for step in report.steps], columns, to_json=False)
    _print_strays(report.strays)
    for note, names in _notes(report.steps).items():
        click.echo(f"\nnote: {printable(note)}\n  {printable(few(names))}")
    _print_left(report.left)
    click.echo(f"\ntimes are read in the zone {report.timezone} (--timezone)")
    counts = [f"{report.count(verdict)} {words}" for verdict, words in WORDS.items() if report.count(verdict)]
    click.echo(f"\n{', '.join(counts) or 'nothing to carry over'}")


def line(result: Result) -> str:
    why = f": {result.why}" if result.why else ""
    return printable(f"chain {result.step.chain.id} {result.step.chain.title!r} {result.done}{why}")


def summary(results: Sequence[Result]) -> str:
    counts = _counts(results)
    return ", ".join(f"{counts[done]} {done}" for done in Done if counts.get(done)) or "nothing was done"


def going_on(steps: Sequence[Step]) -> int:
    """Chains that fire here as soon as they are made."""
    return sum(step.verdict is Verdict.CREATE and step.chain.switch is Switch.ON for step in steps)


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "id": step.chain.id,
        "job_desc": step.chain.title,
        "switch": None if step.verdict is Verdict.CANNOT else step.chain.switch.value,
        "verdict": step.verdict,
        "reasons": list(step.reasons),
        "notes": list(step.notes),
        "source": step.source,
    }


def _print_strays(strays: Sequence[Stray]) -> None:
    if strays:
        click.echo(f"\n{len(strays)} row(s) of chains that do not exist:")
    for stray in strays:
        click.echo(f"  {stray.table}#{stray.id} {stray.reason}")


def _print_left(left: Mapping[str, int | None]) -> None:
    click.echo("\nnot carried over:")
    for table, why in LEFT.items():
        found = "no such table" if left[table] is None else f"{left[table]} row(s)"
        click.echo(f"  {table}: {found}: {why}")


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return dict(Counter(str(result.done) for result in results))


def _notes(steps: Sequence[Step]) -> Mapping[str, Sequence[str]]:
    """Each once, with the chains that it is about."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for step in steps:
        for note in step.notes:
            found[note].append(f"{step.chain.id} {step.chain.title!r}")
    return found
