"""The program of tests/services/chdb.py, a component of the tests: chDB behind ClickHouse's HTTP protocol.

Runs under the interpreter that has chdb. Statements come in the URL, in the body, or both; one at a time, for there is
one engine in the process. A refusal has a status and the engine's text, as ClickHouse's own has.
"""

import gzip
import re
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

# Of the URL's parameters those that speak to the server; all others are settings of the statement.
OF_HTTP: Final = {"query", "database", "user", "password", "query_id", "session_id", "wait_end_of_query", "buffer_size"}
CODE: Final = re.compile(r"Code: (\d+)\.")
NOT_FOUND: Final = {47, 60, 81}  # a column, a table, a database that is not there
NOT_UNDERSTOOD: Final = {27, 62, 73, 117}  # rows or a statement that cannot be parsed, a format that is not known
ROWS_FOLLOW: Final = re.compile(r"(?is)^\s*(insert\s.*?)\s+format\s+(\w+)\s*$")
PLAIN_NAME: Final = re.compile(r"\w+")


class Refused(Exception):
    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {message}")
        self.status = status


class Engine:
    """Statements one after another, each in the database that it asks for."""

    def __init__(self, folder: str) -> None:
        self._session = Session(folder)
        self._turn = threading.Lock()

    def run(self, statement: str, rows: bytes, database: str, settings: dict[str, str]) -> bytes:
        with self._turn, tempfile.NamedTemporaryFile() as file:
            file.write(rows)
            file.flush()
            self._query(f"USE {quoted(database)}")
            for name, value in settings.items():
                self._query(f"SET {quoted(name)} = '{value}'")
            return self._query(reading_rows(statement, file.name) if rows else statement)

    def _query(self, statement: str) -> bytes:
        try:
            return bytes(self._session.query(statement, "TabSeparated").bytes() or b"")
        except RuntimeError as error:
            raise refusal(str(error)) from None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine
    user: str
    password: str

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self._body()  # read in any case: what is left unread would be taken for the next request
        try:
            status, answer = 200, self._run(dict(parse_qsl(urlsplit(self.path).query)), body)
        except Refused as why:
            status, answer = why.status, f"{why}\n".encode()
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _run(self, given: dict[str, str], body: bytes) -> bytes:
        user = self.headers.get("x-clickhouse-user", given.get("user", "default"))
        password = self.headers.get("x-clickhouse-key", given.get("password", ""))
        if (user, password) != (self.user, self.password):
            raise Refused(403, 516, f"{user}: Authentication failed: password is incorrect, or there is no such user")
        database = self.headers.get("x-clickhouse-database", given.get("database", "default"))
        settings = {name: value for name, value in given.items() if name not in OF_HTTP}
        if "query" in given:
            return self.engine.run(given["query"], body, database, settings)
        return self.engine.run(body.decode(), b"", database, settings)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        return gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def log_message(self, format: str, *args: object) -> None: ...


def reading_rows(statement: str, path: str) -> str:
    """An INSERT whose rows came with the request takes them from a file: any size, any bytes."""
    if not (insert := ROWS_FOLLOW.match(statement)):
        raise Refused(400, 62, "Syntax error: rows were sent, but the statement is no INSERT that ends with its FORMAT")
    return f"{insert[1]} FROM INFILE '{path}' FORMAT {insert[2]}"


def refusal(text: str) -> Refused:
    code = int(found[1]) if (found := CODE.search(text)) else 0
    status = 404 if code in NOT_FOUND else 400 if code in NOT_UNDERSTOOD else 500
    return Refused(status, code, text.partition("DB::Exception: ")[2] or text)


def quoted(name: str) -> str:
    if not PLAIN_NAME.fullmatch(name):
        raise Refused(400, 62, f"Syntax error: {name!r} is not a plain name")
    return f"`{name}`"


def main(port: str, folder: str, user: str, password: str) -> None:
    Handler.engine, Handler.user, Handler.password = Engine(str(Path(folder).resolve())), user, password
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
