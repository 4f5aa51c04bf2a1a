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
from waterclock.domain.errors import CannotRun, InvalidInput
from waterclock.domain.lake import LakeKind, LakeTable
from waterclock.domain.lake_probe import probe_of
from waterclock.domain.lake_sync import PROBE, SYNC_KINDS, LakeSource, SourceKind
from waterclock.domain.sync_task import sync_mode
from waterclock.runners.interpreters import Command, own_python
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import program
from waterclock.runners.lake.order import Order
from waterclock.runners.scripts import LARGEST_BYTES, Reader
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sync.destinations import Own, destinations_of, wheres_of
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
    python: str = ""  # of syncs: a path, or a name to be looked for; empty: our own
    hadoop: str = ""  # where their destination `Hadoop` is; empty: our home

    def destinations(self, claimed: Claimed) -> list[str]:
        """Those of a sync that nobody else may write to meanwhile, by names that all workers give them."""
        if claimed.spec.kind not in SYNC_KINDS:
            return []
        try:
            return wheres_of(self._sync_task(claimed, task_of(claimed))["destinations"], self._own)
        except OutputFailed as failed:
            raise CannotRun(str(failed)) from None

    async def placed(
        self,
        claimed: Claimed,
        task: Mapping[str, Any],
        workspaces: Workspaces,
        *,
        sources: Sequence[LakeSource] = (),
        bookmark: str | None = None,
    ) -> Command:
        """`task` and `sources`: with their secrets."""
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
            sources=tuple({"id": each.id, "kind": each.kind, "config": each.config} for each in sources),
        )
        if claimed.spec.kind == LakeKind.SQL:
            order = await self._with_engine(order, claimed.tables)
        if claimed.spec.kind in SYNC_KINDS or claimed.spec.kind == PROBE:
            order = await self._with_means(replace(order, bookmark=bookmark), claimed)
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

    async def _with_means(self, order: Order, claimed: Claimed) -> Order:
        task = _probe_task(claimed) if order.kind == PROBE else self._sync_task(claimed, order.task)
        if not any(each["id"] == task.get("source_id") for each in order.sources):
            raise CannotRun(f"its source {task.get('source_id')} is gone: make another, and name that in the job")
        is_wanted = _names_s3(task, ()) or any(each["kind"] == SourceKind.S3 for each in order.sources)
        keys = await asyncio.to_thread(self.s3.given) if self.s3 and is_wanted else {}
        return replace(order, task=task, s3=keys, clickhouse=self.clickhouse, python=self.python or own_python())

    def _sync_task(self, claimed: Claimed, task: Mapping[str, Any]) -> dict[str, Any]:
        """In the mode of this run, and with its destinations spelled out."""
        try:
            mode = sync_mode(task, claimed.attempt.arguments)
            return {**task, "sync_mode": mode, "destinations": destinations_of(task, mode, self._own)}
        except (InvalidInput, OutputFailed) as refused:
            raise CannotRun(str(refused)) from None

    @property
    def _own(self) -> Own:
        return Own(clickhouse=self.clickhouse.get("url", ""), hadoop=self.hadoop or self.home.absolute().as_uri())

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


def _probe_task(claimed: Claimed) -> dict[str, Any]:
    probe = probe_of(claimed.attempt.arguments)
    return {**probe.what, "action": probe.action, "source_id": probe.source_id}


def _job_id(claimed: Claimed) -> int:
    return claimed.attempt.job_id or 0


def _names_s3(task: Mapping[str, Any], tables: Sequence[LakeTable]) -> bool:
    return _S3 in str(task) or any(table.path.startswith(_S3) for table in tables)


def _hand_over(path: Path, owner: tuple[int, int] | None) -> None:
    if owner:
        os.chown(path, *owner, follow_symlinks=False)
