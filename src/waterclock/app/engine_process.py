"""The composition root of the engine: its duties for the roles that a process has, put together in one place."""

import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Final

import waterclock
from waterclock.app.folders import Folders
from waterclock.app.rules import fire_rules
from waterclock.domain.chain import Folder
from waterclock.domain.claim import Claimant
from waterclock.domain.job import CALLABLE
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.failover import Failover
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.node import Node
from waterclock.engine.notifier import Notifier
from waterclock.engine.pruner import Pruner
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.stopper import Stopper
from waterclock.engine.ticker import Ticker
from waterclock.engine.watcher import Watcher
from waterclock.engine.work import StoreWork
from waterclock.notices.apprise_sender import AppriseSender
from waterclock.runners.base import Runner
from waterclock.runners.callables import CallableRunner, import_callables
from waterclock.runners.chain_program import ChainPrograms
from waterclock.runners.client import SupervisorClient
from waterclock.runners.folders import LocalRoot, Root
from waterclock.runners.preparing import Preparer
from waterclock.runners.s3_folders import S3Root
from waterclock.runners.scripts import Scripts, s3_reader
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.settings import Settings
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.nodes import Node as NodeRecord

CALLABLE_QUEUE: Final = "callables"
CALLABLE_SLOTS: Final = 2_000
SCHEDULER: Final = "scheduler"
WORKER: Final = "worker"


class EngineProcess:
    """The scheduler's duties, the worker's, or both, in this process."""

    def __init__(self, settings: Settings, database: Database, roles: frozenset[str]) -> None:
        self._settings = settings
        self._database = database
        self._folders = Folders(root=settings.data_dir)
        self._node_id = str(uuid.uuid4())
        self._host = self._folders.host_id()
        self._node = Node(database, self._node_id)
        self._supervisor: SupervisorClient | None = None
        self._notifier: Notifier | None = None
        renew = None
        if WORKER in roles:
            renew = self._add_worker().renew
        if SCHEDULER in roles:
            self._add_scheduler()
        record = self._record(roles)
        every = min(settings.heartbeat_seconds, settings.lease_seconds / 3, settings.chains_failover_seconds / 3)
        self._heartbeat = Heartbeat(database, record, every_seconds=every, renew=renew)
        self._node.add(self._heartbeat)

    async def start(self) -> None:
        if self._supervisor:
            await self._supervisor.open()
        await self._heartbeat.tick()  # before anything fires: a fire asks which roles live
        await self._node.start()

    async def stop(self) -> None:
        await self._node.stop()
        if self._notifier:
            await self._notifier.close()
        if self._supervisor:
            await self._supervisor.close()

    def _add_scheduler(self) -> None:
        settings, database = self._settings, self._database
        self._node.add(Ticker(database, fire_rules(settings)), Topic.TRIGGERS)
        every = min(settings.heartbeat_seconds, settings.lease_seconds / 3)
        self._node.add(
            Rescuer(
                database,
                margin_seconds=settings.lease_margin_seconds,
                every_seconds=every,
                rules=fire_rules(settings),
            )
        )
        self._node.add(Failover(database, fire_rules(settings)))
        self._node.add(Watcher(database, every_seconds=every))
        self._notifier = Notifier(
            database, AppriseSender(private=settings.channels_private), SecretBox(self._folders.keys)
        )
        self._notifier.freed = self._node.add(self._notifier, Topic.MESSAGES).wake
        self._node.add(
            Pruner(
                database,
                keep_days=settings.keep_days,
                audit_keep_days=settings.audit_keep_days,
                chains_keep_days=settings.chains_keep_days,
            )
        )

    def _add_worker(self) -> Attempts:
        settings, work = self._settings, StoreWork(self._database, fire_rules(self._settings))
        claimant = Claimant(
            node=self._node_id, host=self._host, labels=("", *settings.worker_labels), roles=("", settings.node_role)
        )
        functions = import_callables(settings.callables)
        self._supervisor = SupervisorClient(self._folders.supervisor, self._spawn_supervisor)
        runners: dict[str, Runner] = {"": self._supervisor}
        if functions:
            runners[CALLABLE] = CallableRunner(functions)
        ttl = settings.lease_seconds
        attempts = Attempts(
            work, claimant, self._preparer(frozenset(functions)), runners, ttl_seconds=ttl, freed=self._node.room
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
        self._node.add_worker(attempts, dispatchers)
        self._node.add(Stopper(work, attempts, self._node_id), Topic.STOPS)
        return attempts

    def _preparer(self, callables: frozenset[str]) -> Preparer:
        settings, root = self._settings, self._folders.root.absolute()
        return Preparer(
            scripts=Scripts(
                owners_root=root / "scripts",
                allowed_roots=tuple(Path(each) for each in settings.script_roots),
                readers={"s3": s3_reader(settings.s3_endpoint, settings.s3_region)},
            ),
            secrets=Secrets(self._database, SecretBox(self._folders.keys)),
            venvs=Venvs(root / "venvs"),
            workspaces=Workspaces(work_root=root / "work", log_root=root / "logs", user=settings.worker_user),
            interpreters=settings.interpreters,
            chains=ChainPrograms(roots={folder: self._programs(folder) for folder in Folder}),
            callables=callables,
            log_cap_bytes=settings.log_cap_bytes,
            grace_seconds=settings.stop_grace_seconds,
            user=settings.worker_user or None,
        )

    def _programs(self, folder: Folder) -> Root:
        """Where the programs of chains lie: the setting has the folder's name."""
        settings, setting = self._settings, f"chains.{folder}"
        location = settings.chains_jobfolder if folder is Folder.JOB else settings.chains_depfolder
        if location.startswith("s3://"):
            return S3Root(location, setting=setting, endpoint=settings.s3_endpoint, region=settings.s3_region)
        return LocalRoot(path=Path(location or self._folders.root / folder).absolute(), setting=setting)

    def _record(self, roles: frozenset[str]) -> NodeRecord:
        return NodeRecord(
            id=self._node_id,
            host=self._host,
            name=socket.gethostname(),
            duties=tuple(sorted(roles)),
            role=self._settings.node_role,
            debugmode="debug" if self._settings.node_debug else "",
            labels=self._settings.worker_labels,
            slots=self._settings.worker_slots if WORKER in roles else 0,
            version=waterclock.__version__,
            pid=os.getpid(),
        )

    def _spawn_supervisor(self) -> None:
        """It detaches itself and outlives us."""
        folder = self._folders.supervisor
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "waterclock.app.launch", "supervisor"],
            env={**os.environ, **self._settings.to_environ()},
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
