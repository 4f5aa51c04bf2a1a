"""One state directory with a real supervisor: what the tests of running programs do things with."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from waterclock import clock
from waterclock.runners import cgroup, proc
from waterclock.runners.base import Begun, Ended, Event, Program
from waterclock.runners.client import SupervisorClient

ROOT: Final = Path(__file__).parents[2]
PATIENCE_SECONDS: Final = 20.0


def wait_until(condition: Callable[[], Any], what: str = "it") -> Any:
    """Poll until it is truthy; a deadline, not a sleep."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS} s for {what}"
        time.sleep(0.01)
    return answer


async def until(condition: Callable[[], Any], what: str = "it") -> Any:
    return await asyncio.to_thread(wait_until, condition, what)


def is_alive(pid: int) -> bool:
    process = proc.identify(pid)
    return process is not None and proc.is_alive(process)


class Host:
    """Makes programs, clients and supervisors; `close` kills what the test left and checks that nothing outlives it."""

    def __init__(self, folder: Path, *, groups: str = "cgroup", ttl_seconds: float = 30.0) -> None:
        self.folder = folder
        self.state_dir = folder / "state"
        self.state_dir.mkdir(mode=0o700)
        self.groups = groups
        self.ttl_seconds = ttl_seconds
        self.mark = uuid.uuid4().hex
        self.leases()

    # What the store's double answers.

    def leases(self, mode: str = "grant", refused: Sequence[int] = ()) -> None:
        aside = self.state_dir / "leases.new"
        aside.write_text(json.dumps({"mode": mode, "refused": list(refused)}))
        aside.rename(self.state_dir / "leases.json")

    def renewals(self) -> list[Any]:
        path = self.state_dir / "renewals"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    # The supervisor.

    def command(self) -> list[str]:
        numbers = [str(self.ttl_seconds), "0.3", self.groups]
        return [sys.executable, "-m", "tests.runners.supervisor_double", str(self.state_dir), *numbers]

    def spawn(self) -> None:
        env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "SECRET_OF_THE_WORKER": "do not leak", "HOST_MARK": self.mark}
        subprocess.run(self.command(), cwd=ROOT, env=env, check=True)

    def client(self) -> SupervisorClient:
        return SupervisorClient(self.state_dir, self.spawn)

    def supervisors(self) -> list[int]:
        return [process.pid for process in proc.with_environment([f"HOST_MARK={self.mark}"])]

    def supervisor(self) -> int:
        (pid,) = wait_until(self.supervisors, "a supervisor")
        return int(pid)

    def kill_supervisor(self) -> None:
        pid = self.supervisor()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), "the supervisor's death")

    def has_cgroups(self) -> bool:
        root = cgroup.make_root(self.state_dir)
        if root is not None:
            root.remove()
        return root is not None

    # Programs.

    def script(self, source: str, name: str = "job.py") -> str:
        path = self.folder / name
        path.write_text(textwrap.dedent(source))
        return str(path)

    def log(self, attempt_id: int) -> Path:
        return self.folder / "logs" / f"{attempt_id}.log"

    def program(
        self, attempt_id: int, *argv: str, warm: bool = True, env: dict[str, str] | None = None, **more: Any
    ) -> Program:
        token = {"WATERCLOCK_RUN_ID": f"{self.mark}-{attempt_id}"}
        values: dict[str, Any] = {
            "attempt_id": attempt_id,
            "fence": 1,
            "argv": argv,
            "warm": warm,
            "env": token | (env or {}),
            "cwd": str(self.folder),
            "log_path": str(self.log(attempt_id)),
            "lease_until": clock.monotonic() + self.ttl_seconds,
            "grace_seconds": 0.3,
        }
        return Program(**(values | more))

    def close(self) -> None:
        for pid in self.supervisors():
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.supervisors() and time.monotonic() < deadline:
            time.sleep(0.01)
        for pid in self.supervisors():
            os.kill(pid, signal.SIGKILL)
        root = cgroup.make_root(self.state_dir)
        if root is not None:
            wait_until(root.remove, "the control groups to be empty")


class Ear:
    """Hears a client's events, and remembers them all."""

    def __init__(self, client: SupervisorClient) -> None:
        self._batches = client.events()
        self.heard: list[Event] = []

    async def begun(self, attempt_id: int) -> Begun:
        event = await self._first(attempt_id, Begun)
        assert isinstance(event, Begun)
        return event

    async def ended(self, attempt_id: int) -> Ended:
        event = await self._first(attempt_id, Ended)
        assert isinstance(event, Ended)
        return event

    async def _first(self, attempt_id: int, kind: type[Event]) -> Event:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                for event in self.heard:
                    if isinstance(event, kind) and event.attempt_id == attempt_id:
                        return event
                self.heard += await anext(self._batches)


async def run(client: SupervisorClient, program: Program) -> Ended:
    """Start one program and wait for its end."""
    ear = Ear(client)
    await client.start([program])
    return await ear.ended(program.attempt_id)
