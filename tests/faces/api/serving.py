"""A real server with the API on a fresh store, two users per role, and a worker's hand to move its runs."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from waterclock.app.auditing import audited
from waterclock.domain.access import Caller, Role
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.rules import GUARDED
from waterclock.domain.run import RunState
from waterclock.engine.work import StoreWork
from waterclock.faces.api import Context, api_routes
from waterclock.faces.chains import chain_routes
from waterclock.faces.http.app import build_app
from waterclock.faces.http.health import Health
from waterclock.faces.http.listening import bind
from waterclock.faces.http.metrics import Metrics
from waterclock.faces.http.server import serve
from waterclock.faces.lake import lake_routes
from waterclock.notices.apprise_sender import AppriseSender
from waterclock.runners.log_store import FileLogStore
from waterclock.services.access import Access, FirstStart
from waterclock.services.audit.reading import Audit
from waterclock.services.bookmarks import Bookmarks
from waterclock.services.chains import Chains
from waterclock.services.channels import Channels
from waterclock.services.cluster import Cluster
from waterclock.services.flows import Flows
from waterclock.services.groups import Groups
from waterclock.services.jobs import Jobs
from waterclock.services.lake import Lake
from waterclock.services.lake_sources import LakeSources
from waterclock.services.lake_work import LakeWork
from waterclock.services.logs import Logs
from waterclock.services.messages import Messages
from waterclock.services.quotas import Quotas
from waterclock.services.runs import Runs
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.shipping import Shipping
from waterclock.services.triggers import Triggers
from waterclock.services.work import WorkService
from waterclock.settings import Settings
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import access as access_ops

PATIENCE_SECONDS = 20.0
NO_TLS = ssl.SSLContext(
    ssl.PROTOCOL_TLS_CLIENT
)  # the servers here speak plain HTTP: no client need read all of a host's CAs


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The server, its parts, and how to call it as the admin."""

    url: str
    token: str
    folder: Path
    database: Database
    context: Context
    client: httpx.AsyncClient
    hand: "Hand"

    def as_user(self, token: str) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token}"}
        return httpx.AsyncClient(base_url=self.client.base_url, headers=headers, verify=NO_TLS)

    async def token_of(self, name: str, role: Role, *, org_id: int = 1) -> str:
        """A new user's, also of another organisation: that one's users are made by its own admin."""
        admin = Caller(user="root", org_id=org_id, account="", role=Role.ADMIN, address="", request_id="")
        await self.context.access.create_user(admin, name, role)
        return await self.context.access.create_token(admin, name, "test")

    async def other_organisation(self) -> int:
        made = await self.database.write(access_ops.create_organisation, account="210987654321", name="other")
        return made.id


class Hand:
    """A worker by hand: what the engine and its supervisor would do, one step at a time."""

    def __init__(self, database: Database, log_root: Path) -> None:
        self._work = StoreWork(database)
        self._log_root = log_root
        self._claimant = Claimant(node="node-1", host="host-1")

    async def begin_soon(self) -> "Held":
        """As soon as there is something to begin."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (held := await self._begin()) is None:
                await asyncio.sleep(0.02)
        return held

    async def begin(self) -> "Held":
        held = await self._begin()
        assert held is not None, "there is nothing to begin"
        return held

    async def _begin(self) -> "Held | None":
        claims = await self._work.claim(self._claimant, limit=1, ttl_seconds=60)
        if not claims.claimed:
            return None
        (claimed,) = claims.claimed
        path = self._log_root / f"{claimed.attempt.wire_id}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        beginning = Beginning(
            attempt_id=claimed.attempt.id, fence=claimed.attempt.fence, pid=4242, pid_started_at=1, log_path=str(path)
        )
        await self._work.record([beginning], [])
        return Held(self._work, claimed, path)


class Held:
    def __init__(self, work: StoreWork, claimed: Claimed, path: Path) -> None:
        self._work = work
        self._claimed = claimed
        self.path = path

    def write(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    @property
    def arguments(self) -> Mapping[str, str]:
        return self._claimed.attempt.arguments

    async def say(self, **progress: object) -> None:
        attempt = self._claimed.attempt
        await self._work.report([Report(attempt_id=attempt.id, fence=attempt.fence, progress=progress)])

    async def end(self, state: RunState, *, exit_code: int | None = 0, message: str | None = None) -> None:
        attempt = self._claimed.attempt
        outcome = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state, exit_code=exit_code, message=message)
        await self._work.record([], [outcome])


@asynccontextmanager
async def served(
    folder: Path,
    *,
    auth: str = "keys",
    stopping: asyncio.Event | None = None,
    url: str | None = None,
    private: bool = False,
) -> AsyncIterator[Served]:
    """`private`: notices may go to addresses of this host."""
    database = database_from_url(url or f"sqlite:///{folder}/waterclock.db")
    await database.open()
    await database.migrate()
    settings = Settings(data_dir=folder, auth=auth, channels_private=private)
    context = replace(context_of(settings, database), stopping=stopping)
    made: list[FirstStart] = []
    await context.access.first_start(made.append)
    (folder / "token").write_text(made[0].token + "\n")
    async with _running(context, database) as url:
        headers = {"authorization": f"Bearer {made[0].token}"} if auth == "keys" else {}
        async with httpx.AsyncClient(
            base_url=f"{url}/api/v1", headers=headers, timeout=PATIENCE_SECONDS, verify=NO_TLS
        ) as client:
            yield Served(
                url=url,
                token=made[0].token,
                folder=folder,
                database=database,
                context=context,
                client=client,
                hand=Hand(database, folder / "logs"),
            )
    await database.close()


def context_of(settings: Settings, database: Database) -> Context:
    jobs = Jobs(database, GUARDED)
    runs = Runs(database, jobs)
    box = SecretBox(settings.data_dir / "secret.keys")
    secrets = Secrets(database, box)
    store = FileLogStore(settings.data_dir / "logs")
    return Context(
        settings=settings,
        access=Access(database, box),
        groups=Groups(database),
        quotas=Quotas(database),
        audit=Audit(database),
        jobs=jobs,
        triggers=Triggers(database, GUARDED, {}),
        runs=runs,
        flows=Flows(database, GUARDED, {}),
        logs=Logs(database, runs, settings.data_dir / "logs", secrets, store=store, host="host-1"),
        bookmarks=Bookmarks(database, jobs),
        secrets=secrets,
        cluster=Cluster(database),
        messages=Messages(database),
        channels=Channels(database, box, AppriseSender(private=settings.channels_private)),
        chains=Chains(database, {}, probe_seconds=settings.chains_probe_seconds),
        lake=Lake(database, runs, {}),
        lake_sources=LakeSources(database, secrets, runs),
        lake_work=LakeWork(database, {}, lease_seconds=settings.lease_seconds),
        work=WorkService(database, {}, secrets),
        shipping=Shipping(database, store, cap_bytes=settings.log_cap_bytes),
    )


@asynccontextmanager
async def _running(context: Context, database: Database) -> AsyncIterator[str]:
    metrics = Metrics()
    health = Health(database, context.access, metrics)
    async with audited(database, context.settings.data_dir / "audit") as record:
        routes = [*api_routes(context), *chain_routes(context), *lake_routes(context)]
        app = build_app(glue=_no_glue, health=health, metrics=metrics, routes=routes, record=record)
        async with _listening(app) as url:
            yield url


@asynccontextmanager
async def _listening(app: ASGIApp) -> AsyncIterator[str]:
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    listening = bind("127.0.0.1", 0)
    # uvloop does this by itself; asyncio's own loop does not on a socket that it is handed.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serving = asyncio.create_task(serve(app, sock=listening, ready=port.set_result, stop=stop, grace_seconds=1))
    try:
        yield f"http://127.0.0.1:{await asyncio.wait_for(port, PATIENCE_SECONDS)}"
    finally:
        stop.set()
        await serving


async def _no_glue(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("the Glue face is not part of these tests")
