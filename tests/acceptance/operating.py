"""An operator's hand: chains of real programs on a real server, started, watched and stopped over REST."""

from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server import Server, until

NEVER = "0 0 1 1 *"  # as good as: these are run by hand
EVERY_SECOND = "* * * * * ?"
LIVE = "RUNNING..."
WARM = "python"  # the worker's own interpreter: no start-up to wait for

# Each program knows its folder outside its copy, and leaves a line there when it begins and when it ends.
HEAD = """
import os, sys, time
here, me = {folder!r}, os.path.basename(sys.argv[0]).removesuffix(".py")


def mark(word):
    file = os.open(os.path.join(here, "marks"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(file, f"{{me}} {{word}}\\n".encode())
    os.close(file)


def touch(name):
    with open(os.path.join(here, name), "a") as file:
        file.write(f"{{os.getpid()}}\\n")


def await_file(name):
    while not os.path.exists(os.path.join(here, name)):
        time.sleep(0.005)


mark("begins")
"""
TAIL = '\nmark("ends")\n'


class Operator:
    """`folder` is where this test's programs leave their traces; they lie in a folder of its name below the roots."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._roots = server.data.parent
        self._client = httpx.Client(base_url=server.address, timeout=30)

    @staticmethod
    def settings(folder: Path) -> dict[str, Any]:
        """Of a server whose programs lie below `folder`."""
        return {"auth": "none", "chains_jobfolder": folder / "jobs", "chains_depfolder": folder / "deps"}

    def gate(self, name: str, source: str, **more: Any) -> dict[str, Any]:
        return {"env": WARM, "command": self._program("deps", name, source), "ottime": 1, **more}

    def step(self, name: str, level: int, source: str = "", **more: Any) -> dict[str, Any]:
        command = self._program("jobs", name, source + TAIL)
        return {"env": WARM, "command": command, "step_lvl": level, "ottime": 1, **more}

    def make(self, *steps: dict[str, Any], gates: tuple[dict[str, Any], ...] = (), **more: Any) -> Any:
        body = {"timestr": NEVER, "job_desc": self.name, "jobs": steps, "deps": gates, "probe_seconds": 0.05, **more}
        return self.call("POST", "/chains", body | ({"dep_ot": 1} if gates and "dep_ot" not in more else {}))

    def start(self, chain: Any) -> int:
        return int(self.call("POST", f"/chains/{chain['id']}/run")["run_id"])

    def run_through(self, chain: Any) -> Any:
        return self.ended(self.start(chain))

    def shown(self, run_id: int) -> Any:
        return self.call("GET", f"/chains/runs/{run_id}")

    def ended(self, run_id: int) -> Any:
        return until(lambda: (run := self.shown(run_id))["status"] != LIVE and run, f"run {run_id} never ended")

    def messages(self, chain: Any) -> list[Any]:
        """Oldest first."""
        items: list[Any] = self.call("GET", f"/chains/messages?size=1000&chain={chain['id']}")["items"]
        return items[::-1]

    def runs(self, chain: Any) -> list[Any]:
        items: list[Any] = self.call("GET", f"/chains/{chain['id']}/runs")["items"]
        return items

    def call(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code == status if status else answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json()

    def marks(self) -> list[str]:
        path = self.folder / "marks"
        return path.read_text().splitlines() if path.exists() else []

    def pids(self, name: str) -> list[int]:
        """Of the programs that have touched this file."""
        path = self.folder / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def _program(self, root: str, name: str, source: str) -> str:
        path = self._roots / root / self.name / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD.format(folder=str(self.folder)) + source)
        return f"{self.name}/{name}.py"


def states(run: Any) -> dict[str, str]:
    """Of gates and steps, by the names of their programs."""
    steps = [step for level in run["levels"] for step in level["steps"]]
    return {Path(part["command"].split(";")[0]).stem: part["state"] for part in (*run["deps"], *steps)}
