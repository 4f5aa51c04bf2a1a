"""Chains as the old tables may hold them, the programs that they run, and what the specification says of each run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SUCCESS, FAILED, SKIPPED = "Success", "Failed", "SKIPPED"
PYTHON, SHELL = "/usr/bin/python3", "/bin/sh"

# A program is copied afresh for every run: what it remembers or tells of itself is in {evidence}.
TELL = """
import json, os, sys
told = dict(argv=sys.argv[1:], run=os.environ["WATERCLOCK_CHAIN_RUN_ID"], role=os.environ["WATERCLOCK_ROLE"])
with open("{evidence}/told", "a") as file:
    file.write(json.dumps(told) + "\\n")
"""
MEET = """
import os, sys, time
open("{evidence}/met-" + sys.argv[1], "w").close()
until = time.monotonic() + 30
while sum(name.startswith("met-") for name in os.listdir("{evidence}")) < 3:
    if time.monotonic() > until:
        sys.exit("nobody came")
    time.sleep(0.01)
"""
COUNT = """
import os
path = "{evidence}/asked-" + os.environ["WATERCLOCK_CHAIN_RUN_ID"]
with open(path, "a") as file:
    file.write("x")
print({said}[os.path.getsize(path) - 1])
"""
SLOW = "sleep 600 & sleep 600\n"
JOBS: Final = {
    "tell/tell.py": TELL,
    "meet/meet.py": MEET,
    "plain/ok.sh": "test -e beside.txt\n",
    "plain/beside.txt": "",
    "bad/bad.sh": "echo '적재 실패: 원본이 없습니다' >&2; exit 4\n",
    "slow/slow.sh": SLOW,
}
DEPS: Final = {
    "look/yes.sh": "echo 0\n",
    "look/silent.sh": "true\n",
    "look/third.py": COUNT.replace("{said}", "[1, 1, 0]"),
    "look/twice.py": COUNT.replace("{said}", "[2, 2, 0]"),
    "look/error.sh": "echo boom; exit 3\n",
    "look/never.sh": "echo 1\n",
}

OK = {"command": "plain/ok.sh", "env": SHELL}
BAD = {"command": "bad/bad.sh", "env": SHELL}


def gate(script: str, **more: Any) -> dict[str, Any]:
    return {"command": f"look/{script}", "env": PYTHON if script.endswith(".py") else SHELL, **more}


def at(level: int, step: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {**step, "step_lvl": level, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A chain of the old tables, and what section 6 of the specification says of its run."""

    steps: Sequence[Mapping[str, Any]]
    row: Mapping[str, Any] = field(default_factory=dict)
    gates: Sequence[Mapping[str, Any]] = ()
    status: str = SUCCESS
    probes: Sequence[tuple[str, Sequence[str]]] = ()  # of each gate: how it ended, and what each probe said
    levels: Sequence[Sequence[str]] = ((SUCCESS,),)
    message: tuple[str, str] | None = None  # the kind, and words in it
    switch: str = "ON"
    role: str = "main"


CASES: Final[dict[str, Case]] = {
    "no gates, arguments": Case(
        row={"timestr": "/5 * * * *", "dep_ot": 0},
        steps=[at(1, {"command": "tell/tell.py;eu west;--full;;'q' \"d\" $HOME;"})],
    ),
    "gates that pass at once": Case(
        row={"dep_ot": 1.5, "main_flag": 1, "BKP_flag": 1},
        gates=[gate("yes.sh", desc="prints 0"), gate("silent.sh", desc="prints nothing")],
        steps=[at(0, OK), at(5, OK)],
        probes=[(SUCCESS, ["passed"]), (SUCCESS, ["passed"])],
        levels=[[SUCCESS], [SUCCESS]],
    ),
    "passes on the third probe": Case(
        gates=[gate("third.py"), gate("yes.sh")],  # the second has passed, and is not asked again
        steps=[at(1, OK)],
        probes=[(SUCCESS, ["not_yet", "not_yet", "passed"]), (SUCCESS, ["passed"])],
    ),
    "errors within tolerance": Case(
        gates=[gate("twice.py")], steps=[at(1, OK)], probes=[(SUCCESS, ["error", "error", "passed"])]
    ),
    "errors beyond tolerance": Case(
        gates=[gate("error.sh", desc="원본 도착")],
        steps=[at(1, OK), at(2, OK)],
        status=FAILED,
        probes=[(FAILED, ["error"] * 6)],
        levels=[[SKIPPED], [SKIPPED]],
        message=("gate_failed", "boom"),
    ),
    "never passes": Case(
        row={"dep_ot": 0.05},
        gates=[gate("never.sh")],
        steps=[at(1, OK)],
        status=FAILED,
        probes=[(FAILED, ["not_yet"])],  # as often as there was time for
        levels=[[SKIPPED]],
        message=("gate_failed", "not passed before dep_ot was over"),
    ),
    "fails in level 2 of 4": Case(
        row={"tag": "important", "subtag": "일일"},
        steps=[at(1, OK), at(1, OK), at(2, OK), at(2, BAD), at(3, OK), at(4, OK)],
        status=FAILED,
        levels=[[SUCCESS, SUCCESS], [SUCCESS, FAILED], [SKIPPED], [SKIPPED]],
        message=("chain_failed", "적재 실패: 원본이 없습니다"),
    ),
    "three side by side": Case(
        steps=[at(7, {"command": f"meet/meet.py;{letter}"}) for letter in "abc"], levels=[[SUCCESS] * 3]
    ),
    "a step takes too long": Case(
        steps=[at(1, {"command": "slow/slow.sh", "env": SHELL}, ottime="0.02"), at(2, OK)],
        status=FAILED,
        levels=[[FAILED], [SKIPPED]],
        message=("chain_failed", ""),
    ),
    "off": Case(row={"switch": "OFF", "total_stpes": 9}, steps=[at(1, OK)], switch="OFF"),
    "on, written small": Case(row={"switch": "on"}, steps=[at(1, OK, ottime=" 15 ")]),
    "neither flag": Case(row={"main_flag": 0, "BKP_flag": 0}, steps=[at(1, OK, ottime="30.5")], role=""),
    "backup only": Case(
        row={"main_flag": 0, "BKP_flag": 1}, steps=[at(1, {"command": "tell/tell.py;last"})], role="bkp"
    ),
    "한국어 이름": Case(
        row={"tag": "야간"},
        gates=[gate("yes.sh", desc="파일 도착")],
        steps=[at(1, OK, job_desc="적재", env=" /bin/sh ")],
        probes=[(SUCCESS, ["passed"])],
    ),
    "no schedule": Case(
        row={"timestr": "at noon"}, steps=[at(1, {"command": "tell/tell.py", "env": None})], switch="OFF"
    ),
}
# What cannot be carried over, and the words that say why.
LEFT_OUT: Final[dict[str, tuple[Case, str]]] = {
    "no steps": (Case(steps=[]), "it has no steps"),
    "no time": (Case(row={"dep_ot": 0}, gates=[gate("yes.sh")], steps=[OK]), "gives its 1 gate(s) no time"),
    "elsewhere": (Case(steps=[{"command": "/opt/x.py"}]), "leaves the jobfolder"),
    "below": (Case(steps=[at(-1, OK)]), "step_lvl -1 is below 0"),
    "backwards": (Case(steps=[{**OK, "ottime": "-5"}]), "ottime '-5' is no number of minutes above 0"),
}


def write_programs(root: Path) -> None:
    """`jobfolder`, `depfolder`, and a folder for what the programs leave behind."""
    (root / "evidence").mkdir()
    for folder, files in (("jobfolder", JOBS), ("depfolder", DEPS)):
        for name, text in files.items():
            path = root / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{evidence}", f"{root}/evidence"))
