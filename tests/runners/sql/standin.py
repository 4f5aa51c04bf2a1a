"""Stand-ins for an engine and for outputs, without Sail, Spark or Arrow: the text of a query says what happens to it.

`python -m tests.runners.sql.standin SOCKET ENGINE WARM` is a real host, with real forks, on them.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waterclock.domain.lake import LakeTable
from waterclock.runners.lake.order import Order
from waterclock.runners.sql import host
from waterclock.runners.sql.crew import Patience
from waterclock.runners.sql.engine import EngineMissing, QueryFailed, Rows, TableMissing
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag, Written

PATIENCE = Patience(linger_seconds=0.5, fresh_seconds=0.05, cancel_seconds=0.5)


@dataclass(frozen=True, slots=True)
class Batch:
    num_rows: int


class StandInSession:
    """`rows N`, `wait MARK` (for ever), `grow MIB`, `meet MINE THEIRS`, `die MARK`, `fail WHY`, `missing TABLE`."""

    def __init__(self, engine: "StandInEngine") -> None:
        self.id = f"session of {os.getpid()}"
        self._is_closed = False
        self._is_deaf = engine.is_deaf
        self._cancelled = threading.Event()

    def define(self, tables: Sequence[LakeTable], s3: Mapping[str, str]) -> None:
        pass

    def ask(self, query: str) -> Rows:
        assert not self._is_closed
        if query.startswith("missing"):
            raise TableMissing(query.split()[1])
        return Rows(schema=None, batches=self._batches(*query.split()))

    def _batches(self, verb: str, *words: str) -> Iterator[Any]:
        if verb == "fail":
            raise QueryFailed(" ".join(words), "all that was said")
        if verb == "die":
            Path(words[0]).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        yield Batch(int(words[0]) if verb == "rows" else 1)
        if verb == "wait":
            Path(words[0]).write_text(str(os.getpid()))
            self._wait_for(lambda: False)
        if verb == "grow":
            self._grown = b"x" * (int(words[0]) * 1024 * 1024)
            self._wait_for(lambda: False)
        if verb == "meet":
            Path(words[0]).touch()
            self._wait_for(Path(words[1]).exists)

    def _wait_for(self, met: Any) -> None:
        while not met():
            if self._cancelled.is_set() and not self._is_deaf:
                raise QueryFailed("the engine ended it")
            time.sleep(0.005)

    def cancel(self) -> None:
        self._cancelled.set()

    def settle(self) -> None:
        pass

    def close(self) -> None:
        self._is_closed = True


class StandInEngine:
    """`dies`: as Sail. `told`: as Spark. `deaf`: as Spark where it does not listen. `broken`: opens never."""

    server: int | None = None

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.dies_with_its_process = kind in ("dies", "broken")
        self.is_deaf = kind == "deaf"

    @property
    def title(self) -> str:
        return f"stand-in {os.getpid()}"

    def prepare(self) -> None:
        if self._kind == "missing":
            raise EngineMissing("not installed: pip install it")

    def open(self) -> None:
        if self._kind == "broken":
            raise EngineMissing("it has no key to start with")

    def session(self) -> StandInSession:
        return StandInSession(self)

    def bury(self, session_id: str) -> None:
        Path(os.environ["WATERCLOCK_DATA_DIR"], "buried").write_text(session_id)

    def close(self) -> None:
        pass


class StandInOutput:
    """A file with the number of rows in it; to sweep it takes as long as a file `.hold` lies beside it."""

    def __init__(self, path: str, tag: Tag) -> None:
        self.where = path
        self._tag = tag
        self._rows = 0

    @property
    def _aside(self) -> Path:
        return Path(f"{self.where}.waterclock-{self._tag.job_id}-{self._tag.attempt_id}")

    def sweep(self) -> None:
        place = Path(self.where)
        while self._aside.exists() and place.with_suffix(".hold").exists():
            time.sleep(0.005)
        for left in place.parent.glob(f"{place.name}.waterclock-{self._tag.job_id}-*"):
            left.unlink()

    def open(self, schema: Any) -> None:
        if "unopened" in self.where:
            raise OutputFailed(f"{self.where}: nobody answers there")
        self._aside.touch()

    def write(self, batch: Any) -> None:
        self._rows += batch.num_rows
        self._aside.write_text(str(self._rows))

    def commit(self) -> Written:
        if "uncommitted" in self.where:
            raise OutputFailed(f"{self.where}: the disk is full")
        os.replace(self._aside, self.where)
        return Written(rows=self._rows, bytes=len(str(self._rows)))

    def abort(self) -> None:
        self._aside.unlink(missing_ok=True)


def outputs_of(given: Sequence[Mapping[str, Any]], *, tag: Tag, order: Order) -> list[Output]:
    return [StandInOutput(each["path"], tag) for each in given]


def main(path: str, engine: str, warm: str) -> None:
    word = host.detached()
    if word is not None:
        kind = os.environ.get("WATERCLOCK_SQL_REMOTE")
        standin = StandInEngine(kind or "dies")
        host.run(Path(path), standin, outputs_of, warm=int(warm), word=word, patience=PATIENCE)


if __name__ == "__main__":
    main(*sys.argv[1:])
