"""The six tables of a schedulerDB: those that say what to run, and those that tell of the old scheduler itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Row = Mapping[str, Any]

CHAINS: Final = "jobchain_table"
GATES: Final = "deptable"
STEPS: Final = "jobtable"
# The columns that are read, in the spelling of the tables.
READ: Final[Mapping[str, Sequence[str]]] = {
    CHAINS: (
        *("id", "job_desc", "total_stpes", "timestr", "dep_ot", "switch", "main_flag", "BKP_flag", "tag", "subtag"),
    ),
    GATES: ("id", "jobchainid", "env", "command", "desc", "ottime"),
    STEPS: ("id", "job_chain_id", "env", "command", "job_desc", "step_lvl", "ottime"),
}
SELECTED: Final[Mapping[str, str]] = {
    CHAINS: "SELECT * FROM jobchain_table ORDER BY id",
    GATES: "SELECT * FROM deptable ORDER BY id",
    STEPS: "SELECT * FROM jobtable ORDER BY id",
}
# Their rows are counted, and stay where they are.
COUNTED: Final[Mapping[str, str]] = {
    "jobchain_lst_run": "SELECT COUNT(*) AS found FROM jobchain_lst_run",
    "realtime_status": "SELECT COUNT(*) AS found FROM realtime_status",
    "schedulerMessage": "SELECT COUNT(*) AS found FROM schedulerMessage",
}
LEFT: Final[Mapping[str, str]] = {
    "jobchain_lst_run": "what the old scheduler ran: nothing of it ran here",
    "realtime_status": "the old scheduler's own processes; `waterclock status` shows ours",
    "schedulerMessage": "messages about what the old scheduler ran",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All of one moment, each in the order of its ids; `left` counts rows, None where there is no such table."""

    chains: Sequence[Row]
    gates: Sequence[Row]
    steps: Sequence[Row]
    left: Mapping[str, int | None]
