"""The composition root of a worker over HTTP: a worker's duties, with a server where others have a database."""

import asyncio
import contextlib
import logging
import os
import socket
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Final

import waterclock
from waterclock.app.folders import Folders
from waterclock.app.http_work import AGAIN_SECONDS, GATHER_SECONDS, HttpWork
from waterclock.app.server_line import ServerLine
from waterclock.app.worker_duties import WorkerDuties, served_queues
from waterclock.domain.errors import InvalidInput, ServerLost, Unavailable
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.loop import Loop
from waterclock.engine.node import Node
from waterclock.runners.outbox import Outgoing
from waterclock.services.work_checks import LONGEST_LEASE_SECONDS
from waterclock.settings import Settings
from waterclock.stores.base import Topic
from waterclock.stores.ops.nodes import WORKER
from waterclock.stores.ops.nodes import Node as NodeRecord

log: Final = logging.getLogger("waterclock.worker")


class Wakes:
    """Asks for wake-ups all the time; a server that is back is found at once, and those who wait for it told."""

    name = "wakes"

    def __init__(self, work: HttpWork) -> None:
        self._work = work

    async def tick(self) -> float:
        try:
            await self._work.hear()
        except ServerLost:
            return AGAIN_SECONDS
        return GATHER_SECONDS


class IntoServer:
    """The shipper's `Destination`."""

    def __init__(self, work: HttpWork) -> None:
        self._work = work

    async def ship(self, log: Outgoing, offset: int, data: bytes, *, last: bool) -> int:
        return await self._work.ship(log.attempt_id, log.fence, offset, data, last=last)


class RemoteWorker:
    def __init__(self, settings: Settings) -> None:
        if settings.lease_seconds > LONGEST_LEASE_SECONDS:
            raise InvalidInput(f"of a worker over HTTP: {LONGEST_LEASE_SECONDS:g} at most", field="lease.seconds")
        settings = handed_over(settings)
        folders, node_id = Folders(root=settings.data_dir), str(uuid.uuid4())
        host = folders.host_id()
        self._server = settings.server
        self._line = ServerLine(settings)
        self._work = HttpWork(self._line, host)
        self._node = Node(self._work, node_id)
        self._worker = WorkerDuties(
            settings,
            self._node,
            node_id=node_id,
            host=host,
            work=self._work,
            secrets=self._work,
            logs_to=IntoServer(self._work),
        )
        every = min(settings.heartbeat_seconds, settings.lease_seconds / 3)
        self._heartbeat = Heartbeat(
            self._work,
            _record(settings, node_id, host),
            every_seconds=every,
            renew=self._worker.attempts.renew,
            body=self._node,
        )
        self._node.add(self._heartbeat, Topic.NODES)
        self._wakes = Loop(Wakes(self._work))

    async def start(self) -> None:
        """Once a server knows us. A refusal is the end of it; where none answers it asks until one does."""
        while not await self._is_known():
            await asyncio.sleep(AGAIN_SECONDS)
        log.info("works for %s", self._server)
        self._line.is_patient = True
        self._line.found = self._node.wake
        await self._worker.supervisor.open()
        await self._node.start()
        self._wakes.start()

    async def stop(self) -> None:
        """Without a server it goes all the same: what runs is adopted by whoever starts here next."""
        await self._wakes.cancel()
        with contextlib.suppress(Unavailable):
            await self._node.stop()
        await self._worker.close()
        await self._work.close()

    async def _is_known(self) -> bool:
        with contextlib.suppress(Unavailable):
            await self._heartbeat.tick()
            return True
        return False


def handed_over(settings: Settings) -> Settings:
    """As the supervisor gets them: it may be older than this worker, so it reads again where to ask, and with what.

    So the token is in no environment of a process that runs for long, either.
    """
    folders = Folders(root=settings.data_dir.absolute())
    _write(folders.servers, settings.server)
    if settings.token:
        _write(folders.worker_token, settings.token)
    file = folders.worker_token if settings.token else Path(settings.token_file).absolute()
    return replace(settings, token="", token_file=str(file))


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and for our eyes only."""
    fresh = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    fresh.rename(path)


def _record(settings: Settings, node_id: str, host: str) -> NodeRecord:
    return NodeRecord(
        id=node_id,
        host=host,
        name=socket.gethostname(),
        duties=(WORKER,),
        role=settings.node_role,
        debugmode="debug" if settings.node_debug else "",
        labels=settings.worker_labels,
        slots=settings.worker_slots,
        queues=served_queues(settings),
        memory_mb=settings.worker_memory_mb,
        version=waterclock.__version__,
        pid=os.getpid(),
    )
