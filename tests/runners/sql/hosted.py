"""A host on the stand-in engine, and thin programs that bring it queries: all of them processes, as in earnest."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.acceptance.server import alive, until
from waterclock.runners import proc
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import program, report
from waterclock.runners.lake.order import Order
from waterclock.runners.sql.hosting import SqlHost

REPO = Path(__file__).resolve().parents[3]


class Hosted:
    """`python` for a `SqlHost`, which starts the stand-in instead of the engine that it names."""

    def __init__(self, folder: Path, kind: str = "dies") -> None:
        self.folder = folder
        self.kind = kind
        self.python = folder / "python"
        self.python.write_text(
            f"#!/bin/sh\ncd {folder}\nPYTHONPATH={REPO} exec {sys.executable} -m tests.runners.sql.standin $4 $5 $6\n"
        )
        self.python.chmod(0o755)
        self._numbers = iter(range(1, 100))

    def hosting(self, warm: int = 1, user: str = "") -> SqlHost:
        folder = self.folder / "sql"
        return SqlHost(folder, engine="sail", remote=self.kind, python=str(self.python), warm=warm, user=user)

    def ask(
        self, socket: str, query: str, *outputs: str, org_id: int = 1, job_id: int = 7, memory_mib: int = 0
    ) -> "Thin":
        number = next(self._numbers)
        order = Order(
            kind="sql_job",
            job_id=job_id,
            run_id=f"jr_{number}",
            attempt_id=number,
            task={"query_info": {"query": query, "outputs": [{"path": path} for path in outputs]}},
            cache="",
            socket=socket,
            org_id=org_id,
        )
        folder = self.folder / f"attempt-{number}"
        folder.mkdir()
        return Thin(folder, orders.write(folder, order), memory_mib)

    def hosts(self) -> list[int]:
        """A fresh fork of one has its name for a moment."""
        found = self.pids("wc-sql-host")
        forks = {child for pid in found for child in proc.children(pid)}
        return [pid for pid in found if pid not in forks]

    def pids(self, name: str) -> list[int]:
        """Of this host's processes, as ps would name them."""
        token = f"WATERCLOCK_DATA_DIR={self.folder}\0".encode()
        found = []
        for pid in (int(each) for each in os.listdir("/proc") if each.isdigit()):
            with suppress(OSError):
                is_ours = token in Path(f"/proc/{pid}/environ").read_bytes()
                if is_ours and Path(f"/proc/{pid}/comm").read_text().strip() == name and alive(pid):
                    found.append(pid)
        return found

    def close(self) -> None:
        for pid in self.pids("wc-sql-host"):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not self.pids("wc-sql-host") and not self.pids("wc-sql"), "an executor outlives its host")


class Thin:
    """The program that a supervisor would keep."""

    def __init__(self, folder: Path, path: Path, memory_mib: int) -> None:
        self.folder = folder
        limit = ["prlimit", f"--as={memory_mib * 1024 * 1024}"] if memory_mib else []
        self.process = subprocess.Popen(
            [*limit, sys.executable, program.__file__, str(path)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self) -> tuple[int, str]:
        """Its exit code and its log."""
        said, _ = self.process.communicate(timeout=30)
        return self.process.returncode, said

    @property
    def said(self) -> Any:
        return report.read(self.folder)


def mark(path: Path) -> str:
    """What a query has written there."""
    return str(until(lambda: path.exists() and path.read_text(), f"{path.name} was never written"))


def names(folder: Path, pattern: str = "out*") -> list[str]:
    """Of outputs, and of what lies aside for them."""
    return sorted(path.name for path in folder.glob(pattern))


def rooms(folder: Path) -> list[str]:
    """Of executors, on the disk."""
    return [path.name for path in folder.glob("sql/*.d/room/*")]


def mode(path: str) -> int:
    return Path(path).stat().st_mode & 0o777


@contextmanager
def open_folder() -> Iterator[Path]:
    """One that other users may pass through, as a data directory is where programs run as another."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # noqa: S103
        yield Path(folder)


def owner(path: str) -> str:
    return Path(path).owner()


def owner_of(pid: int) -> str:
    return owner(f"/proc/{pid}")
