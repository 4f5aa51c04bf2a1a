"""The report: a table with a line for each check, and what was wrong in words below it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from waterclock.chaos.checker import Findings

HEADS: Final = (
    "#",
    "scenario",
    "store",
    "s",
    "fires",
    "runs",
    "lost",
    "doubled",
    "late p99",
    "orphans",
    "result",
    "notes",
)
PERCENT: Final = 99


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One scenario on one store; `broken` says what went wrong beside the findings."""

    number: int
    title: str
    store: str
    seconds: float
    fires: int = 0
    runs: int = 0
    findings: Findings | None = None
    late_us: Sequence[int] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    untried: str = ""  # why it could not be tried here

    @property
    def faults(self) -> list[str]:
        return [*([self.broken] if self.broken else []), *(self.findings.faults if self.findings else [])]

    @property
    def verdict(self) -> str:
        return "**failed**" if self.faults else f"not tried: {self.untried}" if self.untried else "passed"

    @property
    def cells(self) -> tuple[str, ...]:
        found = self.findings
        return (
            *(str(self.number), self.title, self.store, f"{self.seconds:.0f}", str(self.fires), str(self.runs)),
            *(str(len(found.lost)) if found else "–", str(len(found.double)) if found else "–"),
            *(in_words(percentile(self.late_us)), str(len(found.orphan)) if found else "–"),
            *(self.verdict, "; ".join(f"{k}: {v}" for k, v in self.notes.items())),
        )


def table(lines: Sequence[Line]) -> str:
    """Markdown, as wide as it needs to be."""
    rows = [HEADS, *(line.cells for line in lines)]
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    written = [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join([written[0], f"|{'---|' * len(HEADS)}", *written[1:]])


def faults(lines: Sequence[Line]) -> str:
    """What was wrong, scenario by scenario; empty where nothing was."""
    return "\n".join(f"{line.number} on {line.store}: {fault}" for line in lines for fault in line.faults)


def percentile(figures: Sequence[int], percent: int = PERCENT) -> int | None:
    """The smallest figure that so many percent of all are not above; None of none."""
    return sorted(figures)[-(-len(figures) * percent // 100) - 1] if figures else None


def in_words(span_us: int | None) -> str:
    return "–" if span_us is None else f"{span_us / 1000:,.0f} ms"
