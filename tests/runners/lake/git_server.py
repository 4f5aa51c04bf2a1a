"""Repositories over https on loopback: git's own backend behind a server with a certificate and a password."""

import base64
import datetime
import ipaddress
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "git.tests"


@dataclass(slots=True, kw_only=True)
class GitServer:
    """`logins` are those that it was asked with; None stands for a question without one."""

    port: int
    certificate: Path
    password: str | None = None  # as user:password
    redirects_to: str | None = None
    logins: list[str | None] = field(default_factory=list)

    def url(self, repository: str, host: str = "127.0.0.1") -> str:
        return f"https://{host}:{self.port}/{repository}"


@contextmanager
def git_server(root: Path, folder: Path) -> Iterator[GitServer]:
    certificate, key = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as listening:
        server = GitServer(port=listening.server_port, certificate=certificate)
        listening.RequestHandlerClass = _handler(server, root)
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join(20)


def _handler(server: GitServer, root: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            login = self.headers.get("Authorization")
            server.logins.append(base64.b64decode(login.removeprefix("Basic ")).decode() if login else None)
            if server.redirects_to:
                self._answer(b"301 Moved", {"Location": server.redirects_to + self.path}, b"")
            elif server.password and server.logins[-1] != server.password:
                self._answer(b"401 Unauthorized", {"WWW-Authenticate": 'Basic realm="tests"'}, b"")
            else:
                self._ask_git()

        do_POST = do_GET

        def _ask_git(self) -> None:
            path, _, query = self.path.partition("?")
            length = int(self.headers.get("Content-Length") or 0)
            env = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type") or "",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            }
            ran = subprocess.run(
                ["git", "-c", "safe.directory=*", "http-backend"],
                env=env,
                input=self.rfile.read(length),
                capture_output=True,
                check=True,
            )
            head, _, body = ran.stdout.partition(b"\r\n\r\n")
            headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n"))
            self._answer(headers.pop("Status", "200 OK").encode(), headers, body)

        def _answer(self, status: bytes, headers: dict[str, str], body: bytes) -> None:
            headers["Content-Length"] = str(len(body))
            lines = [b"HTTP/1.1 " + status, *(f"{name}: {value}".encode() for name, value in headers.items())]
            self.wfile.write(b"\r\n".join([*lines, b"", body]))

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private
