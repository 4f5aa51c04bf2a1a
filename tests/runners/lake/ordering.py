"""Orders as a worker writes them, and the programs that carry them out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.runners.host import Host
from waterclock.domain.lake import LakeKind
from waterclock.runners.base import Program
from waterclock.runners.interpreters import PATH
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import program
from waterclock.runners.lake.order import Order


def folder_of(host: Host, attempt_id: int = 1) -> Path:
    folder = host.folder / "work" / str(attempt_id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def ordering(folder: Path, task: Mapping[str, Any], attempt_id: int = 1, **given: Any) -> Order:
    cache = str(folder / "cache")
    values = {"kind": LakeKind.PYTHON, "job_id": 7, "run_id": "jr_1", "attempt_id": attempt_id, "cache": cache}
    return Order(**{**values, **given}, task=task)


def ordered(host: Host, attempt_id: int = 1, **given: Any) -> Program:
    """`given`: fields of the order, and of its task."""
    of_order = {name: given.pop(name) for name in ("kind", "roots", "pip", "allows_private") if name in given}
    folder = folder_of(host, attempt_id)
    env = {"PATH": PATH, "HOME": str(folder), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    path = orders.write(folder, ordering(host.folder, given, attempt_id, **of_order))
    return host.program(attempt_id, program.__file__, str(path), env=env, cwd=str(folder), grace_seconds=10.0)


def said(host: Host, attempt_id: int = 1) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((folder_of(host, attempt_id) / "report.json").read_text())
    return found


def logged(host: Host, attempt_id: int = 1) -> str:
    return host.log(attempt_id).read_text()
