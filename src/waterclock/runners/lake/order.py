"""What the program of a lake job is told: one file in its own folder, which nobody else may read."""

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from waterclock.domain.lake import LakeTable, TableFormat

FILE: Final = "order.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    kind: str  # a LakeKind
    job_id: int
    run_id: str  # as the outside knows it
    attempt_id: int
    task: Mapping[str, Any]  # the job's definition in the seed's shape, secrets resolved
    cache: str  # of this worker: clones, builds and environments, for the next run
    roots: tuple[str, ...] = ()  # folders that file:// may name
    allows_private: bool = False  # addresses that are not public may be spoken to
    maven_settings: str = ""
    pip: Mapping[str, str] = field(default_factory=dict)  # variables that say where packages come from
    java: Mapping[str, str] = field(default_factory=dict)  # those that say where Java and its build tools are
    # Of a query alone:
    org_id: int = 0  # whose it is: engines that have served one organisation serve no other
    tables: tuple[LakeTable, ...] = ()
    socket: str = ""  # where the SQL host of this worker listens
    s3: Mapping[str, str] = field(default_factory=dict)  # endpoint, region, access_key, secret_key, session_token
    clickhouse: Mapping[str, str] = field(default_factory=dict)  # url, user, password
    sources: tuple[Mapping[str, Any], ...] = ()  # id, kind, config: those that the task names, secrets resolved
    # Of a sync alone:
    python: str = ""  # the interpreter that has what it reads and writes with
    bookmark: str | None = None  # what its last successful run has left


def write(folder: Path, order: Order) -> Path:
    """For the program alone: whoever prepares it hands the file over to the user that it runs as."""
    path = folder / FILE
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(order), file)
    return path


def read(path: str) -> Order:
    with open(path, encoding="utf-8") as file:
        return from_plain(json.load(file))


def from_plain(plain: Mapping[str, Any]) -> Order:
    tables = tuple(
        LakeTable(name=each["name"], format=TableFormat(each["format"]), path=each["path"]) for each in plain["tables"]
    )
    return Order(
        **{**plain, "roots": tuple(plain["roots"]), "tables": tables, "sources": tuple(plain.get("sources", ()))}
    )
