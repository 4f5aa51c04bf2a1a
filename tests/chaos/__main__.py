"""`python -m tests.chaos`: runs the scenarios one after another, says how it goes, and exits 1 at any finding."""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Final

import psutil

from tests.acceptance.server import REPO
from tests.chaos.scenario import STORES, Scenario, Unsupported, World, all_scenarios
from tests.services.database import DatabaseServer
from tests.services.mariadb import MariadbServer, MariadbUnavailable
from tests.services.postgres import PostgresServer
from waterclock.chaos.report import Line, faults, in_words, percentile, table

LIMIT_SECONDS: Final = 120  # of each scenario, its cluster's start included
SERVERS: Final[dict[str, type[PostgresServer] | type[MariadbServer]]] = {
    "postgres": PostgresServer,
    "mariadb": MariadbServer,
}


class TookTooLong(Exception):
    """A scenario ends by itself, or it has failed."""


def main(arguments: Sequence[str]) -> int:
    asked = _parsed(arguments)
    tries = list(_tries(asked))
    lines: list[Line] = []
    for each, store, round_ in tries:
        lines.append(_tried(each, store, keep=asked.keep))
        _say(lines[-1], round_)
        if asked.report:  # after each of them: a run that is cut short has not been for nothing
            asked.report.write_text(report(lines, rounds=asked.rounds, tries=len(tries)))
    print(f"\n{table(lines)}\n", flush=True)
    if wrong := faults(lines):
        print(wrong, flush=True)
    return 1 if wrong or not lines else 0


def _tries(asked: argparse.Namespace) -> Iterator[tuple[Scenario, str, int]]:
    """Store by store; again only on the first, which clusters stand on unless another was asked for."""
    for place, store in enumerate(asked.store or STORES):
        for round_ in range(1, 1 + (1 if place else asked.rounds)):
            yield from (
                (each, store, round_) for each in all_scenarios() if store in each.stores and _is_wanted(asked, each)
            )


def _is_wanted(asked: argparse.Namespace, each: Scenario) -> bool:
    return (not asked.only or each.number in asked.only) and (each.short or not asked.short)


def report(lines: Sequence[Line], *, rounds: int, tries: int) -> str:
    """docs/chaos-report.md: what was run, where, when, and what came of it."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=REPO, capture_output=True, text=True, check=False
    )
    memory = psutil.virtual_memory().total // 2**30
    wrong = faults(lines)
    return "\n".join(
        [
            "# The last chaos run",
            "",
            f"Written by `make chaos` on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit `{said.stdout.strip()}`,"
            f" on {psutil.cpu_count()} cores, {memory} GiB, {platform.system()} {platform.release()},"
            f" Python {platform.python_version()}; rounds on the first store: {rounds};"
            f" load average of the last quarter of an hour {os.getloadavg()[2]:.1f}.",
            "What the words mean, and what each scenario does: [the guarantee](guarantee.md).",
            "",
            table(lines),
            "",
            *([f"Cut short: {len(lines)} of {tries} were run.", ""] if len(lines) < tries else []),
            *(["## What was wrong", "", "```", wrong, "```", ""] if wrong else ["Nothing was wrong.", ""]),
        ]
    )


def _tried(each: Scenario, store: str, *, keep: bool) -> Line:
    print(f"… {each.number} {each.title} ({store})", flush=True)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"waterclock-chaos-{each.number:02}-"))
    folder.chmod(0o755)
    line = _line_of(each, store, folder, began)
    if keep or line.faults:
        print(f"  its files are in {folder}", flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return line


def _line_of(each: Scenario, store: str, folder: Path, began: float) -> Line:
    what: dict[str, Any] = {"number": each.number, "title": each.title, "store": store}
    try:
        with ExitStack() as stack:
            world = _world(stack, store, folder)
            began = time.monotonic()
            with _limited():
                result = each.run(world)
    except Unsupported as why:
        return Line(**what, seconds=time.monotonic() - began, untried=str(why))
    except Exception as problem:
        traceback.print_exc()
        return Line(**what, seconds=time.monotonic() - began, broken=f"{type(problem).__name__}: {problem}")
    return Line(
        **what,
        seconds=time.monotonic() - began,
        fires=result.fires,
        runs=result.runs,
        findings=result.findings,
        late_us=result.late_us,
        notes=result.notes,
    )


def _world(stack: ExitStack, store: str, folder: Path) -> World:
    if store not in SERVERS:
        return World(folder=folder, store=store, url=f"sqlite:///{folder}/waterclock.db")
    try:
        # Without fsync: a kill -9 loses nothing, nobody cuts the power, and figures tell of us, not of a shared disk.
        server: DatabaseServer = stack.enter_context(SERVERS[store](fsync=False))
    except MariadbUnavailable as why:
        raise Unsupported(str(why)) from None
    return World(folder=folder, store=store, url=stack.enter_context(server.fresh_database()), server=server)


@contextmanager
def _limited() -> Iterator[None]:
    def over(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"it has not ended within {LIMIT_SECONDS} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _say(line: Line, round_: int) -> None:
    verdict = "FAILED" if line.faults else line.verdict
    told = f"{line.fires} fires, {line.runs} runs, late p99 {in_words(percentile(line.late_us))}"
    print(f"  {verdict} in {line.seconds:.0f} s (round {round_} on {line.store}): {told}", flush=True)
    for fault in line.faults[:20]:
        print(f"    {fault}", flush=True)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    numbers = lambda text: {int(each) for each in text.split(",") if each}  # noqa: E731
    parser.add_argument("--only", type=numbers, help="scenarios by their numbers: 3,5")
    parser.add_argument("--store", action="append", choices=STORES, help="on this store; may be given again")
    parser.add_argument("--short", action="store_true", help="the set that CI runs")
    parser.add_argument("--report", type=Path, help="write the table to this file, too")
    parser.add_argument("--rounds", type=int, default=1, help="so many times on the first store")
    parser.add_argument("--keep", action="store_true", help="leave the folders of scenarios that pass, too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
