"""What a contest came to, as a file that is read again: NAME.json in the folder of all results."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.contest.contestant import Contest, Figure
from bench.contest.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One contest that was run."""

    name: str
    title: str
    figures: Sequence[Figure]
    standings: Sequence[Standing]
    rounds: int
    ran_at: str
    load: tuple[float, float]  # before and after
    machine: Mapping[str, object]
    quick: bool = False  # small counts: its figures are for trying, not for goals


def result_of(contest: Contest, standings: Sequence[Standing], **circumstances: Any) -> Result:
    return Result(name=contest.name, title=contest.title, figures=contest.figures, standings=standings, **circumstances)


def write(result: Result, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.name}.json"
    path.write_text(json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n")
    return path


def read(path: Path) -> Result:
    found: dict[str, Any] = json.loads(path.read_text())
    figures = [Figure(**each) for each in found.pop("figures")]
    standings = [Standing(**each) for each in found.pop("standings")]
    before, after = found.pop("load")
    return Result(figures=figures, standings=standings, load=(before, after), **found)


def read_all(folder: Path) -> list[Result]:
    """All contests of a folder, in the order of their names: W1, W2 …, 5000 before 10000."""
    return [read(path) for path in sorted(folder.glob("W*.json"), key=lambda path: in_order(path.stem))]


def in_order(name: str) -> list[tuple[bool, int, str]]:
    """What names are sorted by, so that numbers in them count as numbers."""
    parts = re.findall(r"\d+|\D+", name)
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
