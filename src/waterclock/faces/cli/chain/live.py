"""A run of a chain as lines on a screen: its state, its gates with what they wait for, its levels with their steps.

Pure: what is seen is a function of the run as the server shows it, the server's time, and the screen's size.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from waterclock.faces.cli.chain.words import SEP, fit, joined, one_line, padded, since, span, time_of_day
from waterclock.faces.cli.output import printable, screen_width

WAITING: Final = "WAITING"
RUNNING: Final = "RUNNING..."
SUCCESS: Final = "Success"
FAILED: Final = "Failed"
STATE_WIDTH: Final = len(RUNNING)
TITLE_WIDTH: Final = 32
LEAST_WIDTH: Final = 20
VERDICTS: Final[Mapping[str | None, str]] = {
    "passed": "passed",
    "not_yet": "not yet",
    "error": "error",
    None: "its worker was lost",
}

Shown = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The gates, or a level: a line of its own and those of its parts; when there is no room, the first alone."""

    head: str
    parts: Sequence[str]
    states: frozenset[str]

    @property
    def is_quiet(self) -> bool:
        """All done, or none begun: what it says is said by its head."""
        return len(self.states) == 1 and not self.states & {RUNNING, FAILED}


def frame(run: Shown, now: datetime, width: int, *, zone: tzinfo = UTC, height: int | None = None) -> list[str]:
    """With a `height` for drawing in place: what is quiet is folded first, from the bottom, then all is cut to size."""
    width = max(width, LEAST_WIDTH)
    stages = _stages(run, now, zone, width)
    head, foot = [_headline(run, now)], _foot(run)
    lines = [*head, *_lines(stages, ()), *foot]
    folded: list[int] = []
    for number in reversed([number for number, stage in enumerate(stages) if stage.is_quiet]):
        if height is None or len(lines) <= height:
            break
        folded.append(number)
        lines = [*head, *_lines(stages, folded), *foot]
    return lines if height is None else _cut(lines, width, height)


def title_of(part: Shown) -> str:
    """Of a gate, a step or a run: what it is called, else what it is."""
    if "command" in part:
        return printable(part.get("desc") or part.get("job_desc") or part["command"] or part["node"])
    return printable(part["job_desc"] or f"chain {part['chain_id']}")


def gate_facts(gate: Shown, now: datetime, zone: tzinfo) -> str:
    usual = gate["usual_pass"] and f"usually passes at {gate['usual_pass']}"
    ended = [probe for probe in gate["probes"] if probe["ended_at"]]
    match gate["state"]:
        case "WAITING" | "SKIPPED":
            return joined(usual)
        case "Success":
            passed = gate["dep_pass_ts"] and f"passed at {time_of_day(gate['dep_pass_ts'], zone)}"
            return joined(passed, _probes(ended), usual)
        case "RUNNING...":
            return joined(_probed(gate, ended, zone), _next(gate, now), _left(gate, now), usual)
    return joined(_probed(gate, ended, zone), one_line(gate.get("message")))


def step_facts(step: Shown, now: datetime) -> str:
    usual = None if step["usual_seconds"] is None else f"usually {span(step['usual_seconds'])}"
    took = None if step["seconds"] is None else span(step["seconds"])
    match step["state"]:
        case "RUNNING...":
            return joined(span(since(step["started_at"], now)) if step["started_at"] else "starting", usual)
        case "WAITING" | "Success":
            return joined(took, usual)
        case "SKIPPED":
            return ""
    return joined(took, _why(step), step["run"] and f"waterclock run logs {step['run']}")


def _stages(run: Shown, now: datetime, zone: tzinfo, width: int) -> list[Stage]:
    gates, levels = run["deps"], run["levels"]
    parts = [*gates, *(step for level in levels for step in level["steps"])]
    longest = min(max((screen_width(title_of(part)) for part in parts), default=0), TITLE_WIDTH, width // 3)
    found = []
    if gates:
        said = [_lined(gate, gate_facts(gate, now, zone), longest, width) for gate in gates]
        found.append(_stage("gates", gates, said, f"times in {zone}"))
    for level in levels:
        said = [_lined(step, step_facts(step, now), longest, width) for step in level["steps"]]
        found.append(_stage(printable(level["name"]), level["steps"], said))
    return found


def _stage(name: str, parts: Sequence[Shown], said: Sequence[Sequence[str]], note: str = "") -> Stage:
    counts = Counter(str(part["state"]) for part in parts)
    summed = ", ".join(f"{count} {state}" for state, count in counts.items())
    lines = [line for each in said for line in each]
    return Stage(head=joined(f"{name}: {summed}", note), parts=lines, states=frozenset(counts))


def _lined(part: Shown, facts: str, longest: int, width: int) -> list[str]:
    """Its state, its title and the facts, which go on below where the screen is too narrow."""
    head = f"  {padded(part['state'], STATE_WIDTH)}  {padded(title_of(part), longest)}  "
    room, lines = width - screen_width(head), [""]
    for fact in facts.split(SEP):
        longer = joined(lines[-1], fact)
        if screen_width(longer) <= room or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(fact)
    return [f"{head if number == 0 else ' ' * screen_width(head)}{line}".rstrip() for number, line in enumerate(lines)]


def _cut(lines: Sequence[str], width: int, height: int) -> list[str]:
    if len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: max(height - 1, 0)], f"… {hidden} more lines: make the window higher"][:height]
    return [fit(line, width) for line in lines]


def _lines(stages: Sequence[Stage], folded: Sequence[int]) -> list[str]:
    return [
        line for number, stage in enumerate(stages) for line in (stage.head, *(() if number in folded else stage.parts))
    ]


def _headline(run: Shown, now: datetime) -> str:
    end = datetime.fromisoformat(run["ended_at"]) if run["ended_at"] else now
    by = run["requested_by"] and f"by {printable(run['requested_by'])}"
    due = run["fire_at"] and f"due {run['fire_at']}"
    return joined(
        title_of(run),
        f"run {run['run_id']}",
        run["status"],
        span(since(run["started_at"], end)),
        due or by,
        run["role"] and f"on {run['role']}",
    )


def _foot(run: Shown) -> list[str]:
    said = one_line(run["message"])
    return [said] if said else []


def _probed(gate: Shown, ended: Sequence[Shown], zone: tzinfo) -> str:
    if not ended:
        return ""
    last = ended[-1]
    errors = f", {gate['errors']} error(s)" if gate["errors"] else ""
    verdict = VERDICTS.get(last["verdict"], str(last["verdict"]))
    why = f" ({one_line(last['message'])})" if last["verdict"] == "error" and last["message"] else ""
    return f"{_probes(ended)}{errors}, last at {time_of_day(last['ended_at'], zone)}: {verdict}{why}"


def _next(gate: Shown, now: datetime) -> str:
    running = [probe for probe in gate["probes"] if not probe["ended_at"]]
    if running:
        return f"probing for {span(since(running[-1]['at'], now))}"
    if gate["next_probe_at"]:
        left = (datetime.fromisoformat(gate["next_probe_at"]) - now).total_seconds()
        return f"next in {span(left)}" if left > 0 else "next probe is due"
    return ""


def _left(gate: Shown, now: datetime) -> str:
    """Of dep_ot, which all gates have together."""
    if not gate["probe_until"]:
        return ""
    left = (datetime.fromisoformat(gate["probe_until"]) - now).total_seconds()
    return f"{span(left)} left" if left > 0 else "its time is up"


def _probes(ended: Sequence[Shown]) -> str:
    """They are numbered from 1, and only the last ones may be at hand."""
    count = ended[-1]["number"] if ended else 0
    return f"{count} probe{'' if count == 1 else 's'}"


def _why(step: Shown) -> str:
    if step["message"]:
        return one_line(step["message"])
    return "" if step["exit_code"] is None else f"exit code {step['exit_code']}"
