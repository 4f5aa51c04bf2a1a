"""Control groups where the host really lets us have them: one per keeper, so that a whole run can be killed at once.

The keeper itself lives in its group, and what it starts is born there: no run pays for a migration. `kill` therefore
takes the keeper too and is the supervisor's tool, for a keeper that died or that cannot win against its program.
"""

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cgroup:
    path: Path

    @classmethod
    def at(cls, path: str | None) -> "Cgroup | None":
        return cls(Path(path)) if path else None

    def enter(self) -> None:
        (self.path / "cgroup.procs").write_text("0")

    def kill(self) -> None:
        """SIGKILL to all in it in one step; nothing can fork its way out."""
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")

    def is_populated(self) -> bool:
        try:
            return "populated 1" in (self.path / "cgroup.events").read_text()
        except OSError:
            return False

    def remove(self) -> bool:
        """Also the groups that a run made below; False while something is left in one."""
        for below in self._below():
            with contextlib.suppress(OSError):
                below.path.rmdir()
        try:
            self.path.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def members(self) -> list["Cgroup"]:
        """The groups directly in this one."""
        try:
            return [Cgroup(Path(entry.path)) for entry in os.scandir(self.path) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return []

    def _below(self) -> list["Cgroup"]:
        """All groups below, the deepest first."""
        return [each for member in self.members() for each in (*member._below(), member)]


def make_root(state_dir: Path) -> Cgroup | None:
    """The group for all keepers of one supervisor, below our own; None where the host does not let us."""
    ours = _our_group()
    if ours is None:
        return None
    name = "waterclock-" + hashlib.sha256(str(state_dir.resolve()).encode()).hexdigest()[:12]
    root = Cgroup(ours / name)
    return root if _works(root) else None


def _works(root: Cgroup) -> bool:
    try:
        root.path.mkdir(exist_ok=True)
        return os.access(root.path / "cgroup.procs", os.W_OK) and (root.path / "cgroup.kill").exists()
    except OSError:
        return False


def _our_group() -> Path | None:
    mount = _mount()
    if mount is None:
        return None
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return mount / line[3:].lstrip("/")
    return None


def _mount() -> Path | None:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(where)
    return None
