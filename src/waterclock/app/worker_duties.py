"""The worker's duties put together, in one place for both: those of a database and those of a server over HTTP."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from waterclock.app.folders import Folders
from waterclock.domain.chain import Folder
from waterclock.domain.claim import Claimant
from waterclock.domain.job import CALLABLE
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.node import Node
from waterclock.engine.reporter import Reporter
from waterclock.engine.shipper import Destination, Shipper
from waterclock.engine.stopper import Stopper
from waterclock.engine.turns import Turns
from waterclock.engine.work import Work
from waterclock.runners.base import Runner
from waterclock.runners.callables import CallableRunner, import_callables
from waterclock.runners.chain_program import ChainPrograms
from waterclock.runners.client import SupervisorClient
from waterclock.runners.disk_space import DiskSpace
from waterclock.runners.folders import LocalRoot, Root
from waterclock.runners.lake.placing import LakePrograms
from waterclock.runners.lake.s3_keys import WorkerS3Keys
from waterclock.runners.lake.variables import java_variables, pip_variables
from waterclock.runners.outbox import Outbox
from waterclock.runners.preparing import Preparer, SecretSource
from waterclock.runners.s3_folders import S3Root
from waterclock.runners.scripts import Scripts, s3_reader
from waterclock.runners.sql.hosting import SqlHost
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces
from waterclock.settings import Settings
from waterclock.stores.base import Topic

CALLABLE_QUEUE: Final = "callables"
CALLABLE_SLOTS: Final = 2_000
ALIVE_BEATS: Final = 3  # a worker that has missed as many is left no share


def served_queues(settings: Settings) -> tuple[str, ...]:
    """As its node says: callables are taken where there are some."""
    return (*settings.worker_queues, CALLABLE_QUEUE) if settings.callables else settings.worker_queues


class WorkerDuties:
    """Added to the node that it is given; `settings` are also those that its supervisor is started with."""

    def __init__(
        self,
        settings: Settings,
        node: Node,
        *,
        node_id: str,
        host: str,
        work: Work,
        secrets: SecretSource,
        logs_to: Destination | None = None,
    ) -> None:
        """`logs_to`: where logs are shipped; else they stay in the data directory."""
        self._settings = settings
        self._folders = Folders(root=settings.data_dir)
        self._disk = DiskSpace(self._folders.root.absolute())
        self._secrets = secrets
        self._work = work
        self._outbox = Outbox(self._folders.outbox.absolute()) if logs_to else None
        self.supervisor = SupervisorClient(self._folders.supervisor, self._spawn_supervisor)
        self._sql = SqlHost(
            self._folders.sql,
            engine=settings.sql_engine,
            remote=settings.sql_remote,
            python=settings.sql_python,
            warm=settings.sql_warm,
            user=settings.worker_user,
        )
        claimant = Claimant(node=node_id, host=host, labels=settings.worker_labels, roles=("", settings.node_role))
        functions = import_callables(settings.callables)
        runners: dict[str, Runner] = {"": self.supervisor}
        if functions:
            runners[CALLABLE] = CallableRunner(functions)
        ttl = settings.lease_seconds
        self.attempts = attempts = Attempts(
            work,
            claimant,
            self._preparer(frozenset(functions)),
            runners,
            ttl_seconds=ttl,
            freed=self._freed,
            ships_logs=logs_to is not None,
        )
        dispatchers = [
            Dispatcher(
                work,
                attempts,
                claimant,
                queues=settings.worker_queues,
                slots=settings.worker_slots,
                callables=False,
                ttl_seconds=ttl,
                occupied=self._occupied,
                memory_mb=settings.worker_memory_mb,
                turns=Turns(alive_seconds=ALIVE_BEATS * settings.heartbeat_seconds),
            )
        ]
        if functions:
            dispatchers.append(
                Dispatcher(
                    work,
                    attempts,
                    claimant,
                    queues=(CALLABLE_QUEUE,),
                    slots=CALLABLE_SLOTS,
                    callables=True,
                    ttl_seconds=ttl,
                )
            )
        node.add_worker(attempts, dispatchers)
        node.add(Stopper(work, attempts, node_id), Topic.STOPS)
        attempts.reporting = node.add(Reporter(work, attempts)).wake
        self._room = node.room
        self._shipper = Shipper(logs_to, self._outbox, attempts.known) if logs_to and self._outbox else None
        if self._shipper:
            self._shipper.wake = node.add(self._shipper).wake
            node.is_behind = self._shipper.is_behind

    async def close(self) -> None:
        """After the node has stopped."""
        if self._shipper:
            await self._shipper.flush()
        self._sql.close()
        await self.supervisor.close()

    def _occupied(self) -> int:
        """All slots, while the disk has no room for what one more would write, or the supervisor does not answer."""
        is_full = self._disk.is_short() or self.supervisor.is_silent()
        return self._settings.worker_slots if is_full else self.attempts.count(callables=False)

    def _freed(self) -> None:
        """A run's end is stored: there is room, and the last of its log to ship."""
        self._room()
        if self._shipper:
            self._shipper.hear_end()

    def _preparer(self, callables: frozenset[str]) -> Preparer:
        settings, root = self._settings, self._folders.root.absolute()
        return Preparer(
            scripts=Scripts(
                owners_root=root / "scripts",
                allowed_roots=tuple(Path(each) for each in settings.script_roots),
                readers={"s3": s3_reader(settings.s3_endpoint, settings.s3_region)},
            ),
            secrets=self._secrets,
            venvs=Venvs(root / "venvs"),
            workspaces=Workspaces(work_root=root / "work", log_root=root / "logs", user=settings.worker_user),
            outbox=self._outbox,
            interpreters=settings.interpreters,
            chains=ChainPrograms(roots={folder: self._programs(folder) for folder in Folder}),
            lake=self._lake(),
            locks=self._work,
            callables=callables,
            log_cap_bytes=settings.log_cap_bytes,
            grace_seconds=settings.stop_grace_seconds,
            user=settings.worker_user or None,
        )

    def _lake(self) -> LakePrograms:
        settings, folders = self._settings, self._folders
        python = settings.sync_python or settings.sql_python
        clickhouse = {
            "url": settings.clickhouse_url,
            "user": settings.clickhouse_user,
            "password": settings.clickhouse_password,
        }
        return LakePrograms(
            cache=folders.lake_cache.absolute(),
            home=folders.lake.absolute(),
            roots=settings.lake_roots,
            allows_private=settings.lake_private,
            maven_settings=settings.lake_maven_settings,
            pip=pip_variables(os.environ),
            java=java_variables(os.environ),
            clickhouse=clickhouse,
            s3=WorkerS3Keys(endpoint=settings.s3_endpoint, region=settings.s3_region),
            read_s3=s3_reader(settings.s3_endpoint, settings.s3_region),
            sql=self._sql,
            python=os.path.abspath(python) if "/" in python else python,
            hadoop=settings.hadoop_uri,
        )

    def _programs(self, folder: Folder) -> Root:
        """Where the programs of chains lie: the setting has the folder's name."""
        settings, setting = self._settings, f"chains.{folder}"
        location = settings.chains_jobfolder if folder is Folder.JOB else settings.chains_depfolder
        if location.startswith("s3://"):
            return S3Root(location, setting=setting, endpoint=settings.s3_endpoint, region=settings.s3_region)
        return LocalRoot(path=Path(location or self._folders.root / folder).absolute(), setting=setting)

    def _spawn_supervisor(self) -> None:
        """It detaches itself and outlives us. It is handed the token, if there is one, where only its user sees it."""
        folder = self._folders.supervisor
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "waterclock.app.launch", "supervisor"],
            env={**os.environ, **self._settings.to_environ()},
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
