"""A real server for tests of the faces: SQLite in a folder, uvicorn in a thread, boto3 in front. No worker runs:
a test moves attempts itself, through the same operations that a worker uses."""

import asyncio
import itertools
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import boto3
import uvloop
from botocore.config import Config

from waterclock.domain.access import Caller, Role
from waterclock.domain.audit import Entry
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.rules import Rules
from waterclock.domain.run import RunState
from waterclock.faces.glue.face import Authenticate, Glue
from waterclock.faces.glue.services import Services
from waterclock.faces.http.app import App, build_app
from waterclock.faces.http.auth import Anybody, Signatures, first_admin
from waterclock.faces.http.health import Health
from waterclock.faces.http.metrics import Metrics
from waterclock.faces.http.server import serve
from waterclock.services.access import Access, FirstStart, NewKey
from waterclock.services.bookmarks import Bookmarks
from waterclock.services.crawlers import Crawlers
from waterclock.services.flows import Flows
from waterclock.services.jobs import Jobs
from waterclock.services.logs import Logs
from waterclock.services.quotas import Quotas
from waterclock.services.runs import Runs
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.tags import Tags
from waterclock.services.triggers import Triggers
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import access as access_ops
from waterclock.stores.ops import claiming
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.reading import get_attempt

T = TypeVar("T")
DEADLINE = 30.0
CLAIMANT = Claimant(node="test-node", host="test-host")
SCRIPT = {"Name": "pythonshell", "ScriptLocation": "s3://bucket/script.py"}

_session = boto3.Session()
_numbers = itertools.count(1)


class Served:
    """Start with `with`."""

    def __init__(
        self, folder: Path, rules: Rules, *, auth: bool = True, body_seconds: float = 20.0, url: str | None = None
    ) -> None:
        self._folder = folder
        self.path, self.logs = folder / "wc.db", folder / "logs"
        self._url = url or f"sqlite:///{self.path}"
        self.rules = rules
        self._auth = auth
        self._body_seconds = body_seconds
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: uvloop.run(self._main()), name="served")
        self._held: dict[str, Claimed] = {}
        self.audit: list[Entry] = []

    def __enter__(self) -> "Served":
        self._thread.start()
        assert self._started.wait(DEADLINE)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()

    async def _main(self) -> None:
        self.loop, self.stop = asyncio.get_running_loop(), asyncio.Event()
        self.database = database_from_url(self._url)
        await self.database.open()
        await self.database.migrate()
        self.box = SecretBox(self._folder / "keys")
        self.access = Access(self.database, self.box)
        await self.access.first_start(self._keep)
        self.app = self._app()
        await serve(self.app, port=0, ready=self._ready, stop=self.stop, grace_seconds=1)
        await self.database.close()

    def _app(self) -> App:
        jobs = Jobs(self.database, self.rules)
        triggers = Triggers(self.database, self.rules, {"glue": self.rules.fire})
        self.quotas = Quotas(self.database)
        runs = Runs(self.database, jobs, {"glue": self.rules.fire}, self.quotas)
        services = Services(
            jobs=jobs,
            triggers=triggers,
            runs=runs,
            flows=Flows(self.database, self.rules, {"glue": self.rules.fire}),
            logs=Logs(self.database, runs, self.logs, Secrets(self.database, self.box)),
            bookmarks=Bookmarks(self.database, jobs),
            tags=Tags(self.database),
            crawlers=Crawlers(self.database),
        )
        authenticate: Authenticate = Signatures(self.access) if self._auth else Anybody()
        self.metrics = Metrics()
        return build_app(
            glue=Glue(services, authenticate, body_seconds=self._body_seconds),
            health=Health(self.database, self.access, self.metrics),
            metrics=self.metrics,
            record=self.audit.append,
            body_seconds=self._body_seconds,
        )

    def _keep(self, first: FirstStart) -> None:
        self.first = first

    def _ready(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._started.set()

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(doing, self.loop).result(DEADLINE)

    def client(self, key: NewKey, service: str = "glue", **config: Any) -> Any:
        return _session.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=DEADLINE, **config),
        )

    def account(self) -> "Account":
        """An organisation that nobody else uses."""
        number = f"{next(_numbers):012d}"
        org = self.run(self.database.write(access_ops.create_organisation, account=number, name=f"org {number}"))
        return Account(served=self, org_id=org.id, number=number)

    # What a worker does

    def claim(self, run_id: str) -> Claimed:
        """That attempt and no other."""
        if run_id not in self._held:
            claims = self.run(self.database.write(claiming.claim, claimant=CLAIMANT, limit=1000, ttl_seconds=3600))
            found = {claimed.attempt.wire_id: claimed for claimed in claims.claimed}
            self._held[run_id] = found.pop(run_id)
            others = [claimed.attempt.id for claimed in found.values()]
            self.run(self.database.write(claiming.release, node=CLAIMANT.node, attempt_ids=others))
        return self._held[run_id]

    def begin(self, run_id: str, *, log_path: str | None = None) -> None:
        attempt = self.claim(run_id).attempt
        beginning = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=1, log_path=log_path)
        assert not self.run(self.database.write(claiming.begin, [beginning])), "it is not ours any more"

    def end(
        self, run_id: str, state: RunState = RunState.SUCCEEDED, message: str | None = None, bookmark: str | None = None
    ) -> None:
        attempt = self.claim(run_id).attempt
        outcome = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state, message=message, bookmark=bookmark)
        assert self.run(self.database.write(end_attempts, [outcome], {"glue": self.rules.fire})) == {attempt.id}

    def wire_state(self, account: "Account", run_id: str) -> RunState:
        found = self.run(self.database.read(get_attempt, org_id=account.org_id, wire_id=run_id))
        assert found is not None
        return found.state


@dataclass
class Account:
    """One organisation on the server, and clients for its users."""

    served: Served
    org_id: int
    number: str
    keys: dict[str, NewKey] = field(default_factory=dict)

    def key(self, role: Role = Role.AUTHOR, name: str | None = None) -> NewKey:
        name = name or role.value
        if name not in self.keys:
            served = self.served
            create = access_ops.create_user
            served.run(served.database.write(create, org_id=self.org_id, name=name, role=role))
            self.keys[name] = served.run(served.access.create_key(self.admin(), name))
        return self.keys[name]

    def client(self, role: Role = Role.AUTHOR, name: str | None = None, *, service: str = "glue") -> Any:
        return self.served.client(self.key(role, name), service)

    def admin(self) -> Caller:
        return replace(first_admin(address="", request_id=""), org_id=self.org_id)
