"""A stand-in for Google: the token endpoint, which really checks what was signed, and as much of Sheets as is read."""

import base64
import binascii
import csv
import io
import itertools
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SCOPES: Final = frozenset(
    f"https://www.googleapis.com/auth/{each}"
    for each in ("spreadsheets.readonly", "spreadsheets", "drive.readonly", "drive")
)
ACCOUNT: Final = "reader@tests.iam.gserviceaccount.com"
LONGEST_SECONDS: Final = 3600
SKEW_SECONDS: Final = 300
_A1: Final = re.compile(r"(?:(?P<sheet>'(?:[^']|'')+'|[^!']+)!)?(?P<cells>[A-Z]*\d*(?::[A-Z]*\d*)?)?")
_CELL: Final = re.compile(r"([A-Z]*)(\d*)")

Cell = str | int | float | bool


@dataclass(slots=True, kw_only=True)
class Spreadsheet:
    """Its sheets in their order; `gid` of a sheet is its place. `columns` and `rows` are those of its grid."""

    sheets: dict[str, list[list[Cell]]] = field(default_factory=dict)
    public: bool = False
    rows: int = 1000
    columns: int = 26


class Refused(Exception):
    def __init__(self, status: int, said: str, **headers: str) -> None:
        super().__init__(said)
        self.status, self.headers = status, headers


class GoogleStandIn:
    """`token_uri`, `base_url` and `service_account` are what a source is given; `refusing`: a status for every call."""

    def __init__(self) -> None:
        self.spreadsheets: dict[str, Spreadsheet] = {}
        self.refusing: int | None = None
        self.tokens_given = 0
        self.asked: list[str] = []  # paths, in their order
        self._tokens: dict[str, float] = {}
        self._numbers = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"
        self.token_uri = f"{self.base_url}/token"

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def service_account(self) -> dict[str, str]:
        """The JSON file that Google hands out."""
        return account_file(self._key, self.token_uri)

    def forget_tokens(self) -> None:
        """As if they had expired."""
        self._tokens.clear()

    def token_for(self, form: Mapping[str, str]) -> dict[str, object]:
        if form.get("grant_type") != GRANT:
            raise Refused(400, _oauth("unsupported_grant_type", f"Invalid grant_type: {form.get('grant_type')}"))
        self._check(form.get("assertion", ""))
        token = f"ya29.{next(self._numbers)}"
        self._tokens[token] = time.time() + LONGEST_SECONDS
        self.tokens_given += 1
        return {"access_token": token, "expires_in": LONGEST_SECONDS - 1, "token_type": "Bearer"}

    def _check(self, assertion: str) -> None:
        """RFC 7523, as Google's documentation has it: what is not right is `invalid_grant` with the reason."""
        parts = assertion.split(".")
        if len(parts) != 3:
            raise Refused(400, _oauth("invalid_grant", "Invalid JWT: it has not three parts."))
        header, claims = _claims(parts[0]), _claims(parts[1])
        if header.get("alg") != "RS256":
            raise Refused(400, _oauth("invalid_grant", "Invalid JWT: the algorithm is not RS256."))
        try:
            signed = f"{parts[0]}.{parts[1]}".encode()
            self._key.public_key().verify(_decoded(parts[2]), signed, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            raise Refused(400, _oauth("invalid_grant", "Invalid JWT Signature.")) from None
        if why := self._why_not(claims):
            raise Refused(400, _oauth("invalid_grant", why))

    def _why_not(self, claims: Mapping[str, Any]) -> str:
        now, begins, ends = time.time(), claims.get("iat"), claims.get("exp")
        if claims.get("iss") != ACCOUNT:
            return "Invalid grant: account not found"
        if claims.get("aud") != self.token_uri:
            return "Invalid JWT: Failed audience check."
        if not isinstance(begins, int) or not isinstance(ends, int) or not 0 < ends - begins <= LONGEST_SECONDS:
            return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
        if not begins - SKEW_SECONDS <= now <= ends + SKEW_SECONDS:
            return "Invalid JWT: Token must be in a reasonable timeframe. Check your iat and exp values."
        if not SCOPES & set(str(claims.get("scope", "")).split()):
            return "Invalid OAuth scope or ID token audience provided."
        return ""

    def values(self, authorization: str, path: str) -> dict[str, object]:
        """`/v4/spreadsheets/ID/values/RANGE`, or `/v4/spreadsheets/ID` for the names and grids of its sheets."""
        self._check_token(authorization)
        _, _, _, number, *rest = path.split("/")
        found = self.spreadsheets.get(unquote(number))
        if found is None:
            raise Refused(404, _api(404, "NOT_FOUND", "Requested entity was not found."))
        match rest:
            case []:
                return {"spreadsheetId": unquote(number), "sheets": [_properties(found, name) for name in found.sheets]}
            case ["values", asked]:
                return _values(found, unquote(asked))
            case _:
                raise Refused(404, _api(404, "NOT_FOUND", f"{path} is not served by the stand-in"))

    def _check_token(self, authorization: str) -> None:
        kind, _, token = authorization.partition(" ")
        if kind != "Bearer" or self._tokens.get(token, 0) < time.time():
            raise Refused(401, _api(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."))

    def export(self, path: str, asked: Mapping[str, str]) -> str:
        """The public CSV, which Google sends to another host for, and to its sign-in page where it is not public."""
        number = unquote(path.split("/")[3])
        found = self.spreadsheets.get(number)
        if found is None:
            raise Refused(404, "<html>Sorry, the file you have requested does not exist.</html>")
        if not found.public:
            raise Refused(302, "", location=f"{self.base_url}/signin")
        if "content" not in path:
            sheet = quote(self._sheet_asked(found, asked), safe="")
            raise Refused(307, "", location=f"{self.base_url}/spreadsheets/d/{number}/content?sheet={sheet}")
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\r\n").writerows(_even(found.sheets[self._sheet_asked(found, asked)]))
        return lines.getvalue()

    def _sheet_asked(self, found: Spreadsheet, asked: Mapping[str, str]) -> str:
        names = list(found.sheets)
        if "sheet" in asked and asked["sheet"] in names:
            return asked["sheet"]
        gid = asked.get("gid", "0")
        if "sheet" in asked or not gid.isdigit() or int(gid) >= len(names):
            raise Refused(400, "<html>Sorry, unable to open the file at this time.</html>")
        return names[int(gid)]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def account_file(key: rsa.RSAPrivateKey, token_uri: str) -> dict[str, str]:
    kind, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    text = key.private_bytes(encoding, kind, serialization.NoEncryption()).decode()
    return {
        "type": "service_account",
        "project_id": "tests",
        "private_key_id": "1",
        "private_key": text,
        "client_email": ACCOUNT,
        "token_uri": token_uri,
    }


def _handler(google: GoogleStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, asked = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
            if path.startswith("/v4/spreadsheets/"):
                self._answer(lambda: json.dumps(google.values(self.headers.get("authorization", ""), path)))
            elif path.startswith("/spreadsheets/d/"):
                self._answer(lambda: google.export(path, asked), "text/csv")
            else:
                self._answer(lambda: "<html>Sign in</html>", "text/html")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            if urlsplit(self.path).path == "/token":
                self._answer(lambda: json.dumps(google.token_for(dict(parse_qsl(body)))))
            else:
                self.send_error(404)

        def _answer(self, make: Any, kind: str = "application/json") -> None:
            google.asked.append(self.path)
            headers: Mapping[str, str] = {}
            try:
                if google.refusing is not None:
                    raise Refused(google.refusing, _api(google.refusing, "REFUSED", "The stand-in was told to refuse."))
                status, answer = 200, str(make())
            except Refused as why:
                status, answer, headers = why.status, str(why), why.headers
            body = answer.encode()
            self.send_response(status)
            for name, value in {"content-type": kind, **headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler


def _values(found: Spreadsheet, asked: str) -> dict[str, object]:
    """Google leaves out what is empty at the ends of rows, and empty rows at the end; a range outside is refused."""
    sheet, first, last = _range(found, asked)
    rows = found.sheets[sheet][first[1] : last[1]]
    cut = [_without_empty(row[first[0] : last[0]]) for row in rows]
    while cut and not cut[-1]:
        cut.pop()
    name = f"{sheet}!{_letters(first[0])}{first[1] + 1}:{_letters(last[0] - 1)}{last[1]}"
    return {"range": name, "majorDimension": "ROWS", **({"values": cut} if cut else {})}


def _range(found: Spreadsheet, asked: str) -> tuple[str, tuple[int, int], tuple[int, int]]:
    if asked in found.sheets:
        return asked, (0, 0), (found.columns, found.rows)
    matched = _A1.fullmatch(asked)
    sheet = (matched["sheet"] or next(iter(found.sheets))) if matched else ""
    sheet = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
    if matched is None or sheet not in found.sheets:
        raise Refused(400, _api(400, "INVALID_ARGUMENT", f"Unable to parse range: {asked}"))
    begin, _, end = (matched["cells"] or "").partition(":")
    (left, top), (right, bottom) = _place(begin), _place(end or begin)
    first = (left or 1) - 1, (top or 1) - 1
    if first[0] >= found.columns or first[1] >= found.rows:
        most = f"Max rows: {found.rows}, max columns: {found.columns}"
        raise Refused(400, _api(400, "INVALID_ARGUMENT", f"Range ({asked}) exceeds grid limits. {most}"))
    return sheet, first, (min(right or found.columns, found.columns), min(bottom or found.rows, found.rows))


def _place(cell: str) -> tuple[int, int]:
    matched = _CELL.fullmatch(cell)
    assert matched is not None
    column = 0
    for letter in matched[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column, int(matched[2] or 0)


def _letters(column: int) -> str:
    before, last = divmod(column, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _even(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    widest = max(map(len, rows), default=0)
    shown = ([("TRUE" if each else "FALSE") if isinstance(each, bool) else each for each in row] for row in rows)
    return [[*row, *[""] * (widest - len(row))] for row in shown]


def _without_empty(row: list[Cell]) -> list[Cell]:
    while row and row[-1] == "":
        row = row[:-1]
    return row


def _properties(found: Spreadsheet, name: str) -> dict[str, object]:
    grid = {"rowCount": found.rows, "columnCount": found.columns}
    return {"properties": {"sheetId": list(found.sheets).index(name), "title": name, "gridProperties": grid}}


def _claims(part: str) -> Mapping[str, Any]:
    try:
        claims = json.loads(_decoded(part))
    except ValueError:
        claims = None
    if not isinstance(claims, dict):
        raise Refused(400, _oauth("invalid_grant", "Invalid JWT: it is no JSON."))
    return claims


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        raise Refused(400, _oauth("invalid_grant", "Invalid JWT: it is not base64.")) from None


def _oauth(error: str, said: str) -> str:
    return json.dumps({"error": error, "error_description": said})


def _api(code: int, status: str, said: str) -> str:
    return json.dumps({"error": {"code": code, "message": said, "status": status}})
