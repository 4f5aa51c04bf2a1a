"""From a claimed lake attempt to its program: all that it needs is asked for first, then its order is written at once.

So nothing is left half written where the attempt is stopped meanwhile, and the program looks nothing up.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.lake import LakeKind, LakeTable
from waterclock.runners.interpreters import Command
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import program
from waterclock.runners.lake.order import Order
from waterclock.runners.scripts import LARGEST_BYTES, Reader
from waterclock.runners.workspace import Workspaces

_SCRIPT: Final = "script.py"
_S3: Final = "s3://"


class SqlHosting(Protocol):
    async def ensure(self) -> str:
        """The socket where queries are taken; `CannotRun` where no engine can be had."""
        ...


class S3Keys(Protocol):
    def given(self) -> Mapping[str, str]:
        """As an order names them; called in a thread: it may ask a server."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LakePrograms:
    """What the programs of lake jobs are told of this worker."""

    cache: Path = Path("lake-cache")
    home: Path = Path("lake")  # what jobs may name, whatever else they may
    roots: tuple[str, ...] = ()
    allows_private: bool = False
    maven_settings: str = ""
    pip: Mapping[str, str] = field(default_factory=dict)
    java: Mapping[str, str] = field(default_factory=dict)
    clickhouse: Mapping[str, str] = field(default_factory=dict)
    s3: S3Keys | None = None
    read_s3: Reader | None = None
    sql: SqlHosting | None = None

    async def placed(self, claimed: Claimed, task: Mapping[str, Any], workspaces: Workspaces) -> Command:
        """`task`: with its secrets."""
        order = Order(
            kind=claimed.spec.kind,
            job_id=_job_id(claimed),
            run_id=claimed.attempt.wire_id,
            attempt_id=claimed.attempt.id,
            task=task,
            cache=str(self.cache),
            roots=(*self.roots, str(self.home)),
            allows_private=self.allows_private,
            maven_settings=self.maven_settings,
            pip=self.pip,
            java=self.java,
            org_id=claimed.attempt.org_id,
        )
        if claimed.spec.kind == LakeKind.SQL:
            order = await self._with_engine(order, claimed.tables)
        script = await self._fetched(order)
        try:
            return self._written(order, script, workspaces)
        except OSError as problem:
            raise CannotRun(f"cannot make the folder that it runs in: {problem}") from None

    async def _with_engine(self, order: Order, tables: Sequence[LakeTable]) -> Order:
        if self.sql is None:
            raise CannotRun("this worker has no engine for queries")
        keys = await asyncio.to_thread(self.s3.given) if self.s3 and _names_s3(order.task, tables) else {}
        socket = await self.sql.ensure()
        return replace(order, tables=tuple(tables), socket=socket, s3=keys, clickhouse=self.clickhouse)

    async def _fetched(self, order: Order) -> bytes | None:
        """The script of a Python job that lies in a bucket: read with our keys, which the job does not get."""
        location = order.task.get("script")
        if order.kind != LakeKind.PYTHON or not isinstance(location, str) or not location.startswith(_S3):
            return None
        if self.read_s3 is None:
            raise CannotRun("this worker cannot read scripts from s3://")
        data = await asyncio.to_thread(self.read_s3, location)
        if len(data) > LARGEST_BYTES:
            raise CannotRun(f"the script {location} has more than {LARGEST_BYTES} bytes")
        return data

    def _written(self, order: Order, script: bytes | None, workspaces: Workspaces) -> Command:
        owner = workspaces.owner()
        self._have_folders(owner)
        folder = workspaces.fresh(order.attempt_id)
        if script is not None:
            path = folder / _SCRIPT
            path.write_bytes(script)
            _hand_over(path, owner)
            order = replace(order, task={**order.task, "script": str(path)}, roots=(*order.roots, str(folder)))
        path = orders.write(folder, order)
        _hand_over(path, owner)
        workspaces.make(order.attempt_id)
        return Command(argv=(program.__file__, str(path)), warm=True)

    def _have_folders(self, owner: tuple[int, int] | None) -> None:
        """Of the user that programs run as; a home that somebody has made himself stays his."""
        if not self.home.exists():
            self.home.mkdir(mode=0o755, parents=True, exist_ok=True)
            _hand_over(self.home, owner)
        self.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        _hand_over(self.cache, owner)


def task_of(claimed: Claimed) -> Mapping[str, Any]:
    if not isinstance(claimed.spec.call, Mapping):
        raise CannotRun("the job has no definition: it was not made by the lake face")
    return claimed.spec.call


def _job_id(claimed: Claimed) -> int:
    return claimed.attempt.job_id or 0


def _names_s3(task: Mapping[str, Any], tables: Sequence[LakeTable]) -> bool:
    return _S3 in str(task) or any(table.path.startswith(_S3) for table in tables)


def _hand_over(path: Path, owner: tuple[int, int] | None) -> None:
    if owner:
        os.chown(path, *owner, follow_symlinks=False)
