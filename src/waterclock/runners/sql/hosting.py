"""The worker's side of its SQL host: started where none answers, kept alive by a line for as long as the worker lives.

The host outlives the worker that started it, as long as a query needs it. Its socket's name says which engine, which
interpreter and which version of ours it is: a worker that comes back with other settings gets another host.
"""

import asyncio
import contextlib
import hashlib
import os
import pwd
import select
import sys
from pathlib import Path
from typing import Final

from waterclock import __version__, clock
from waterclock.domain.errors import CannotRun
from waterclock.runners import wire
from waterclock.runners.interpreters import PATH
from waterclock.runners.sql import door

READY: Final = "ready"
ANOTHER: Final = "another"  # one is there already, or about to be
REMOTE: Final = "WATERCLOCK_SQL_REMOTE"  # not an argument: it may hold a token, and those are for all to read
VERSION: Final = "WATERCLOCK_SQL_VERSION"  # ours, which the interpreter must have, too
REACH_SECONDS: Final = 120.0  # Spark on a busy machine
ANSWER_SECONDS: Final = 15.0
_RETRY_SECONDS: Final = 0.2
_TAIL_BYTES: Final = 2_000
# What a machine's Spark, Hadoop and Kerberos are told by their environment; of ours it gets nothing.
_PASSED: Final = ("JAVA_HOME", "SPARK_", "HADOOP_", "SAIL_", "KRB5", "TZ")


class SqlHost:
    """`folder` is in the worker's data directory; `user` is the system user that programs run as, where we are root."""

    def __init__(
        self, folder: Path, *, engine: str, remote: str = "", python: str = "", warm: int = 1, user: str = ""
    ) -> None:
        self._folder = folder.absolute()
        self._engine, self._remote, self._warm = engine, remote, max(0, warm)
        self._python = os.path.abspath(python) if "/" in python else python or sys.executable
        self._user = user if os.geteuid() == 0 else ""
        told = "\n".join((__version__, engine, remote, self._python, str(self._warm), self._user))
        self._path = self._folder / f"{engine}-{hashlib.sha256(told.encode()).hexdigest()[:12]}.sock"
        self._line: _HeldLine | None = None
        self._reaching = asyncio.Lock()

    async def ensure(self) -> str:
        """Where a host answers that has its engine; `CannotRun` says what is missing."""
        if self._line is None or self._line.is_lost:
            async with self._reaching:
                if self._line is None or self._line.is_lost:
                    self._line = await self._reach()
        return str(self._path)

    def close(self) -> None:
        """Let go of it: it leaves by itself once nobody needs it."""
        if self._line is not None:
            self._line.close()

    async def _reach(self) -> "_HeldLine":
        deadline = clock.monotonic() + REACH_SECONDS
        while (line := await self._dial()) is None:
            if clock.monotonic() > deadline:
                raise CannotRun(f"the SQL host does not answer: see {self._log}")
            if await self._start() == ANOTHER:
                await asyncio.sleep(_RETRY_SECONDS)
        return line

    async def _dial(self) -> "_HeldLine | None":
        """A line that the host has answered on: from then on it stays."""
        loop = asyncio.get_running_loop()
        try:
            connection = door.connect(self._path)
            connection.setblocking(False)
            _, line = await loop.create_unix_connection(_HeldLine, sock=connection)
            async with asyncio.timeout(ANSWER_SECONDS):
                await line.answered
        except TimeoutError:
            raise CannotRun(f"the SQL host does not answer on {str(self._path)!r}: it hangs or is stopped") from None
        except OSError:
            return None
        return line

    async def _start(self) -> str:
        """`ready`, or `another`: it may have been started by somebody else at the same time."""
        account = self._account()
        self._make_folder(account)
        try:
            with self._log.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *(self._python, "-P", "-m", "waterclock.runners.sql.host", str(self._path), self._engine),
                    str(self._warm),
                    env=self._environment(),
                    cwd=self._folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                    user=account.pw_uid if account else None,
                    group=account.pw_gid if account else None,
                    extra_groups=os.getgrouplist(self._user, account.pw_gid) if account else None,
                    umask=0o022,
                )
        except OSError as problem:
            raise CannotRun(f"sql.python {self._python!r} cannot be started: {problem.strerror}") from None
        said, _ = await process.communicate()
        verdict = said.decode(errors="replace").strip() or self._last_words()
        if "No module named 'waterclock'" in verdict:
            raise CannotRun(
                f"sql.python {self._python!r} has no waterclock: pip install 'waterclock[{self._engine}]' there"
            )
        if verdict not in (READY, ANOTHER):
            raise CannotRun(f"the SQL engine {self._engine!r} cannot be started: {verdict}")
        return verdict

    @property
    def _log(self) -> Path:
        return self._path.with_suffix(".log")

    def _account(self) -> pwd.struct_passwd | None:
        """Whose it is to be, where that is not us."""
        try:
            return pwd.getpwnam(self._user) if self._user else None
        except KeyError:
            raise CannotRun(
                f"the system user {self._user!r} that programs should run as does not exist on this worker"
            ) from None

    def _make_folder(self, account: pwd.struct_passwd | None) -> None:
        """The host's own: a socket and its log."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account:
            os.chown(self._folder, account.pw_uid, account.pw_gid)

    def _environment(self) -> dict[str, str]:
        """From scratch, as that of every program; the folder is there to be known by."""
        given = {name: value for name, value in os.environ.items() if name.startswith(_PASSED)}
        return {
            **given,
            "PATH": PATH,
            "HOME": str(self._folder),
            "LANG": "C.UTF-8",
            "WATERCLOCK_DATA_DIR": str(self._folder.parent),
            REMOTE: self._remote,
            VERSION: __version__,
        }

    def _last_words(self) -> str:
        """Of an interpreter that did not get as far as our own words."""
        with contextlib.suppress(OSError):
            lines = self._log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else f"see {self._log}"
        return f"see {self._log}"


class _HeldLine(asyncio.Protocol):
    """Held, and no more: the host lives while somebody holds one. It says one thing, at the beginning."""

    def __init__(self) -> None:
        self._is_closed = False
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None

    @property
    def is_lost(self) -> bool:
        """By the socket itself: the loop may not have looked at it since the host died."""
        if self._is_closed or self._transport is None:
            return True
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return bool(poll.poll(0))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(wire.encode({"op": "hold"}))

    def data_received(self, data: bytes) -> None:
        if not self.answered.done():
            self.answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed = True
        if not self.answered.done():
            self.answered.set_exception(ConnectionResetError("the SQL host hung up"))

    def close(self) -> None:
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()
