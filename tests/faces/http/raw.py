"""HTTP without a client library's good manners."""

import http.client
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.faces.http.served import DEADLINE, Served
from waterclock.services.access import NewKey


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return orjson.loads(self.raw)


def request(
    served: Served,
    method: str,
    path: str = "/",
    *,
    headers: dict[str, str] | None = None,
    body: bytes | Any = b"",
    chunked: bool = False,
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=DEADLINE)
    try:
        # Refused while we are still sending: the answer is there all the same.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body=body, headers=headers or {}, encode_chunked=chunked)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


def sign(
    served: Served, key: NewKey, body: bytes, headers: dict[str, str], *, path: str = "/", service: str = "glue"
) -> dict[str, str]:
    """The headers of a request as botocore signs it, now."""
    unsigned = AWSRequest(method="POST", url=served.url + path, data=body, headers=headers)
    SigV4Auth(Credentials(key.id, key.secret), service, "us-east-1").add_auth(unsigned)
    return {**dict(unsigned.headers.items()), "Host": f"127.0.0.1:{served.port}"}


def signed_call(served: Served, key: NewKey, action: str, body: Any, *, path: str = "/") -> Answer:
    """`body` as it is, where it is bytes: also what botocore would never send."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = sign(served, key, raw, {"X-Amz-Target": f"AWSGlue.{action}"}, path=path)
    return request(served, "POST", path, headers=headers, body=raw)


class Line:
    """One connection, kept open: for calls by the thousand."""

    def __init__(self, served: Served, key: NewKey) -> None:
        self._served, self._key = served, key
        self._connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=DEADLINE)

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def call(self, action: str, body: Any) -> Answer:
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        headers = sign(self._served, self._key, raw, {"X-Amz-Target": f"AWSGlue.{action}"})
        self._connection.request("POST", "/", body=raw, headers=headers)
        response = self._connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())


def exchange(served: Served, sent: bytes) -> bytes:
    """What comes back, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE) as connection:
        connection.sendall(sent)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received
