"""Sheets of Google: through its API with a service account, or the public export as CSV.

A sheet has no version, so every sync reads all of it. One of more than `_CELLS` cells is read by several calls: who
inserts rows meanwhile may move one from one call into the next.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final
from urllib.parse import quote

import httpx

from waterclock import clock
from waterclock.runners.sync.google_token import GRANT, ServiceAccount, account_of
from waterclock.runners.sync.places.http import Web, WebStream
from waterclock.runners.sync.places.place import CHUNK_BYTES, Found, Stream
from waterclock.runners.sync.service.client import Client
from waterclock.runners.sync.service.config import RETRIES, Bearer, Service, service_of
from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.service.login import EARLY_SECONDS, USUAL_SECONDS
from waterclock.runners.sync.service.retry import Passing
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.service.wire import Sent, Wire
from waterclock.runners.sync.source import Means, SourceFailed

API: Final = "https://sheets.googleapis.com"
EXPORT: Final = "https://docs.google.com"
_CELLS: Final = 200_000  # a call
_ID: Final = re.compile(r"(?:https://[^/]+/spreadsheets/d/)?([A-Za-z0-9_-]+)(?:/[^\s]*)?")
_SECONDS: Final = 60.0


class SheetsPlace:
    """A sheet is a file whose bytes are its rows, a JSON array each; its name is `<spreadsheet>/<sheet>`."""

    is_listed = False

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self.where = service_of({"base_url": config.get("base_url") or API}).base_url
        self._account, self._means = account_of(config), means
        self._client: Client | None = None
        self._until = 0.0

    def test(self) -> str:
        self._asked()
        return f"{self._account.token_uri} gave a token to {self._account.email}"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        """By name or by number: `<spreadsheet>/Orders`, `<spreadsheet>/0`."""
        spreadsheet, _, wanted = pattern.partition("/")
        titles = list(self._grids(spreadsheet))
        by_number = wanted not in titles and wanted.isdigit() and int(wanted) < len(titles)
        title = titles[int(wanted)] if by_number else wanted
        if title not in titles:
            there = ", ".join(titles)
            raise SourceFailed(f"the spreadsheet has no sheet {wanted!r}; there are {there} (options.sheet)")
        return [Found(name=f"{spreadsheet}/{title}")]

    def open(self, found: Found) -> Stream:
        spreadsheet, _, title = found.name.partition("/")
        grid = self._grids(spreadsheet).get(title)
        if grid is None:
            raise SourceFailed(f"the sheet {title!r} was deleted while it was read")
        return _SheetStream(self, spreadsheet, title, rows=grid["rowCount"], columns=grid["columnCount"])

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def get(self, path: str, **params: str) -> Mapping[str, Any]:
        client = self._asked()
        page = client.ask("GET", client.url_of(f"v4/spreadsheets/{path}"), params=params).page
        if not isinstance(page, Mapping):
            raise SourceFailed(f"{self.where}: the answer is no spreadsheet")
        return page

    def _grids(self, spreadsheet: str) -> Mapping[str, Mapping[str, int]]:
        """By title, in their order; a sheet that is a chart has none."""
        sheets = self.get(spreadsheet, fields="sheets.properties").get("sheets", ())
        known = [each["properties"] for each in sheets]
        return {each["title"]: grid for each in known if (grid := each.get("gridProperties"))}

    def _asked(self) -> Client:
        """With a token that lasts a while."""
        if self._client is None or clock.monotonic() >= self._until:
            self.close()
            now = clock.monotonic()
            token, seconds = _token(self._account, self._means)
            self._until = now + seconds - EARLY_SECONDS
            self._client = Client(_service(self.where, token), allows_private=self._means.allows_private)
        return self._client


class PublicSheetPlace:
    """`<spreadsheet>/<name or gid>`, as CSV; without either, its first sheet."""

    is_listed = False

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self._web = Web(service_of({"base_url": config.get("base_url") or EXPORT}), means)
        self.where = self._web.where

    def test(self) -> str:
        return f"{self.where} is asked for what everybody may read; a preview shows whether that is so"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        return [Found(name=pattern)]

    def open(self, found: Found) -> Stream:
        spreadsheet, _, sheet = found.name.partition("/")
        answer = self._web.get(f"spreadsheets/d/{spreadsheet}/{_export(sheet)}")
        if not answer.headers.get("content-type", "").startswith("text/csv"):
            answer.close()
            raise SourceFailed(f"{self.where}: the spreadsheet {spreadsheet} is not public: share it with everybody")
        return WebStream(answer, f"{self.where}/spreadsheets/d/{spreadsheet}")

    def close(self) -> None:
        self._web.close()


def _export(sheet: str) -> str:
    if sheet in ("", "0"):
        return "export?format=csv"
    if sheet.isdigit():
        return f"export?format=csv&gid={sheet}"
    return f"gviz/tq?tqx=out:csv&sheet={quote(sheet, safe='')}"


def spreadsheet_of(task: Mapping[str, Any]) -> str:
    """Its id, or its address in a browser."""
    found = _ID.fullmatch(Given(task).text("spreadsheet_id").strip())
    if found is None:
        raise SourceFailed("spreadsheet_id is no id of a spreadsheet: it is what stands after /d/ in its address")
    return found.group(1)


class _SheetStream:
    def __init__(self, place: SheetsPlace, spreadsheet: str, title: str, *, rows: int, columns: int) -> None:
        self._place, self._path = place, f"{spreadsheet}/values/"
        self._title = title.replace("'", "''")
        self._windows = self._read(rows, max(1, _CELLS // max(columns, 1)))
        self._rest = b""

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        while not self._rest and (window := next(self._windows, None)) is not None:
            self._rest = window
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None: ...

    def close(self) -> None: ...

    def _read(self, rows: int, step: int) -> Iterator[bytes]:
        for first in range(1, rows + 1, step):
            last = min(first + step - 1, rows)
            cells = quote(f"'{self._title}'!{first}:{last}", safe="")
            how = {"valueRenderOption": "UNFORMATTED_VALUE", "dateTimeRenderOption": "FORMATTED_STRING"}
            found = self._place.get(f"{self._path}{cells}", majorDimension="ROWS", **how).get("values", [])
            found += [[]] * (last - first + 1 - len(found))  # what is empty at the end is left out
            yield b"".join(json.dumps(row).encode() + b"\n" for row in found)


def _token(account: ServiceAccount, means: Means) -> tuple[str, float]:
    form = {"grant_type": GRANT, "assertion": account.statement(clock.wall_us() // 1_000_000)}
    sent = Sent(method="POST", url=httpx.URL(account.token_uri), form=form)
    tls = account.token_uri.startswith("https:")
    wire = Wire(allows_private=means.allows_private, timeout_seconds=_SECONDS, tls=tls, times=Times())
    try:
        reply = wire.send(sent)
    except Passing as passing:
        raise SourceFailed(str(passing)) from None
    finally:
        wire.close()
    return _answered(reply.status, reply.body, account)


def _answered(status: int, body: bytes, account: ServiceAccount) -> tuple[str, float]:
    try:
        answer = Given(json.loads(body))
        if status == httpx.codes.OK:
            return answer.text("access_token"), answer.number("expires_in", USUAL_SECONDS) or USUAL_SECONDS
        why = answer.text("error_description", answer.text("error", ""))
    except (ValueError, SourceFailed):
        why = ""
    raise SourceFailed(f"{account.token_uri} gives {account.email} no token (HTTP status {status}): {why}".rstrip(": "))


def _service(base_url: str, token: str) -> Service:
    auth = Bearer(token=token)
    return Service(base_url=base_url, headers={}, auth=auth, per_second=None, retries=RETRIES, timeout_seconds=_SECONDS)
