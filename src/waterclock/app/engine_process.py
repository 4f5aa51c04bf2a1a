"""The composition root of the engine: its duties for the roles that a process has, put together in one place."""

import os
import socket
import uuid
from dataclasses import replace
from typing import Final

import waterclock
from waterclock.app.folders import Folders
from waterclock.app.log_places import log_store, logs_travel
from waterclock.app.rules import fire_rules
from waterclock.app.worker_duties import WorkerDuties, served_queues
from waterclock.engine.failover import Failover
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.lateness import Lateness
from waterclock.engine.membership import StoreMembership
from waterclock.engine.node import Node
from waterclock.engine.notifier import Notifier
from waterclock.engine.pruner import FIRST_SECONDS, Pruner
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.ticker import Ticker
from waterclock.engine.watcher import Watcher
from waterclock.engine.work import StoreWork
from waterclock.notices.apprise_sender import AppriseSender
from waterclock.runners.log_shipping import IntoStore
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets, SecretsOfRuns
from waterclock.settings import Settings
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.nodes import Node as NodeRecord

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
        membership = StoreMembership(database)
        self._node = Node(membership, self._node_id)
        self._notifier: Notifier | None = None
        self._worker = self._add_worker() if WORKER in roles else None
        if SCHEDULER in roles:
            self._add_scheduler()
        record = self._record(roles)
        every = min(settings.heartbeat_seconds, settings.lease_seconds / 3, settings.chains_failover_seconds / 3)
        renew = self._worker.attempts.renew if self._worker else None
        self._heartbeat = Heartbeat(membership, record, every_seconds=every, renew=renew, body=self._node)
        self._node.add(self._heartbeat, Topic.NODES)

    async def start(self) -> None:
        if self._worker:
            await self._worker.supervisor.open()
        await self._heartbeat.tick()  # before anything fires: a fire asks which roles live
        await self._node.start()

    async def stop(self) -> None:
        await self._node.stop()
        if self._notifier:
            await self._notifier.close()
        if self._worker:
            await self._worker.close()

    def _add_scheduler(self) -> None:
        settings, database = self._settings, self._database
        self._node.lateness = Lateness()
        ticker = Ticker(database, fire_rules(settings), lateness=self._node.lateness)
        self._node.add(ticker, Topic.TRIGGERS, takes_on=True)
        every = min(settings.heartbeat_seconds, settings.lease_seconds / 3)
        self._node.add(
            Rescuer(
                database,
                margin_seconds=settings.lease_margin_seconds,
                every_seconds=every,
                rules=fire_rules(settings),
            ),
            takes_on=True,
        )
        self._node.add(Failover(database, fire_rules(settings)), takes_on=True)
        self._node.add(Watcher(database, every_seconds=every), takes_on=True)
        self._notifier = Notifier(
            database, AppriseSender(private=settings.channels_private), SecretBox(self._folders.keys)
        )
        self._notifier.freed = self._node.add(self._notifier, Topic.MESSAGES, takes_on=True).wake
        self._node.add(
            Pruner(
                database,
                keep_days=settings.keep_days,
                audit_keep_days=settings.audit_keep_days,
                chains_keep_days=settings.chains_keep_days,
                log_store=log_store(settings),
            ),
            takes_on=True,
            after_seconds=FIRST_SECONDS,
        )

    def _add_worker(self) -> WorkerDuties:
        settings = self._settings
        return WorkerDuties(
            replace(settings, server=""),  # its supervisor renews leases in the database, too
            self._node,
            node_id=self._node_id,
            host=self._host,
            work=StoreWork(self._database, fire_rules(self._settings)),
            secrets=SecretsOfRuns(Secrets(self._database, SecretBox(self._folders.keys))),
            logs_to=IntoStore(log_store(settings)) if logs_travel(settings) else None,
        )

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
            queues=served_queues(self._settings),
            memory_mb=self._settings.worker_memory_mb,
            version=waterclock.__version__,
            pid=os.getpid(),
        )
