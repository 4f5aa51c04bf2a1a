"""Results on HDFS, by its own protocol. Renames there fail where the place is taken, which is what the swap needs."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from waterclock import reachable
from waterclock.runners.sql.folder import Sink
from waterclock.runners.sql.how import How
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.places import HDFS_PORT, Place
from waterclock.runners.sql.swapping import SwappedFolder
from waterclock.runners.sql.words import text_of

_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 60.0
_BUFFER_BYTES: Final = 1024 * 1024
_PATIENCE: Final = {"dfs.client.failover.max.attempts": "1"}  # there is but one server at an address
_MISSING: Final = (FileNotFoundError,)
_MISSING_OR_TAKEN: Final = (FileNotFoundError, FileExistsError)

T = TypeVar("T")


def hdfs_folder(place: Place, *, how: How, tag: Tag, allows_private: bool) -> SwappedFolder:
    tree = HdfsTree(place, allows_private=allows_private)
    return SwappedFolder(tree, where=str(place), name=place.name, how=how, tag=tag)


class HdfsTree:
    def __init__(self, place: Place, *, allows_private: bool) -> None:
        self._place, self._allows_private = place, allows_private
        self._where = str(place)
        self._connection: Any = None

    def names(self, folder: str = "") -> Sequence[str] | None:
        path = self._path(folder)
        try:
            found = self.answer(lambda: list(self._client().list_status(path)), but=_MISSING)
        except FileNotFoundError:
            return None
        if len(found) == 1 and not found[0].isdir and found[0].path.rstrip("/") == path:
            raise OutputFailed(f"{self._where} is a file, and not the folder of a result")
        return [each.path.rpartition("/")[2] for each in found]

    def make(self, folder: str) -> None:
        self.answer(lambda: self._client().mkdirs(self._path(folder), create_parent=True))

    def create(self, path: str) -> Sink:
        return _File(self.answer(lambda: self._created(self._path(path))), self)

    def read(self, path: str) -> Iterator[bytes]:
        file = self.answer(lambda: self._client().read(self._path(path)))
        while piece := self.answer(lambda: bytes(file.read(_BUFFER_BYTES))):
            yield piece

    def rename(self, path: str, to: str) -> bool:
        try:
            self.answer(lambda: self._client().rename(self._path(path), self._path(to)), but=_MISSING_OR_TAKEN)
        except _MISSING_OR_TAKEN:
            return False
        return True

    def remove(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self.answer(lambda: self._client().delete(self._path(path), recursive=True), but=_MISSING)

    def answer(self, call: Callable[[], T], *, but: tuple[type[OSError], ...] = ()) -> T:
        """Within its time, for the library waits as long as the server does. Its errors are Python's: `but` some that
        the caller expects, they are why the output failed."""
        done: Future[T] = Future()
        threading.Thread(target=_do, args=(call, done), daemon=True).start()
        try:
            return done.result(timeout=_ANSWER_SECONDS)
        except but:
            raise
        except TimeoutError:
            raise OutputFailed(f"{self._where}: HDFS has not answered for {_ANSWER_SECONDS:g} s") from None
        except (OSError, RuntimeError, ValueError) as problem:
            raise OutputFailed(f"{self._where}: {text_of(problem)}") from None

    def _path(self, name: str) -> str:
        return f"{self._place.parent.rstrip('/')}/{name}".rstrip("/") or "/"

    def _created(self, path: str) -> Any:
        from hdfs_native import WriteOptions

        # Its folder is there, unless somebody has removed it: then it is not to be there again.
        return self._client().create(path, WriteOptions(create_parent=False))

    def _client(self) -> Any:
        """What cannot be reached is known within seconds."""
        if self._connection is None:
            authority = self._authority()
            import hdfs_native

            self._connection = hdfs_native.Client(f"hdfs://{authority}", _PATIENCE if ":" in authority else None)
        return self._connection

    def _authority(self) -> str:
        """Held to an address that was found public; where all are allowed, by its name, which Kerberos asks for."""
        host, port = self._place.host, self._place.port or HDFS_PORT
        addresses = reachable.addresses_of(host)
        if not addresses and self._allows_private and not self._place.port:
            return host  # a name service of HADOOP_CONF_DIR
        if not addresses:
            raise OutputFailed(f"{self._where}: nobody knows the host {host!r}")
        private = next((each for each in addresses if not reachable.is_public(each)), None)
        if private and not self._allows_private:
            raise OutputFailed(
                f"{self._where}: {host} is at {private}, which is not a public address: "
                "an admin may allow such with the setting lake.private"
            )
        address = _answering(addresses, port, self._where)
        return f"{_bracketed(host if self._allows_private else address)}:{port}"


class _File:
    def __init__(self, file: Any, tree: HdfsTree) -> None:
        self._file, self._tree = file, tree
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        self._waiting += data
        if len(self._waiting) >= _BUFFER_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._tree.answer(self._file.close)

    def _flush(self) -> None:
        data, self._waiting = bytes(self._waiting), bytearray()
        self._tree.answer(lambda: self._file.write(data))


def _do(call: Callable[[], T], done: "Future[T]") -> None:
    try:
        done.set_result(call())
    except (OSError, RuntimeError, ValueError, OutputFailed) as problem:  # raised again where it is waited for
        done.set_exception(problem)


def _answering(addresses: Sequence[str], port: int, where: str) -> str:
    problem: OSError | None = None
    for address in addresses:
        try:
            with socket.create_connection((address, port), timeout=_CONNECT_SECONDS):
                return address
        except OSError as failed:
            problem = failed
    raise OutputFailed(f"{where} cannot be reached: {problem}")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
