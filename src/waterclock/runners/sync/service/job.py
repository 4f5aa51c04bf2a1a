"""What a job reads from a service: which request, where the records lie, how it goes on, and where it begins."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sync.service.columns import Kind
from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.service.paging import Paging, paging_of
from waterclock.runners.sync.service.path import JsonPath, path_of
from waterclock.runners.sync.service.watermark import Incremental, Nulls
from waterclock.runners.sync.source import SourceFailed

INFER_RECORDS: Final = 10_000
_SCHEME: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    endpoint: str
    method: str
    params: Mapping[str, Any]
    body: Any
    records: JsonPath | None  # None: the page itself is the list
    records_may_miss: bool
    paging: Paging
    incremental: Incremental | None
    unique: tuple[str, ...]  # of a full sync: its key
    types: Mapping[str, Kind]
    infer_records: int
    ignores_new_fields: bool
    skips_bad: bool


def reading_of(task: Mapping[str, Any]) -> Reading:
    given = Given(task)
    reading = Reading(
        endpoint=_endpoint(given),
        method=given.choice("method", ("GET", "POST"), "GET"),
        params=_params(given),
        body=given.raw("body"),
        records=path_of(given.raw("records"), field="records") if "records" in given else None,
        records_may_miss=given.choice("missing_records", ("fail", "empty"), "fail") == "empty",
        paging=paging_of(given.inner("paging")),
        incremental=_incremental(given),
        unique=() if given.raw("sync_mode") == SyncMode.INCREMENTAL else given.texts("key_columns"),
        types=_types(given),
        infer_records=given.whole("infer_records", INFER_RECORDS, least=1),
        ignores_new_fields=given.choice("new_fields", ("fail", "ignore"), "fail") == "ignore",
        skips_bad=given.choice("on_bad_line", ("fail", "skip"), "fail") == "skip",
    )
    _check_body(reading)
    return reading


def _endpoint(given: Given) -> str:
    """Below the source's base_url: a job does not choose the host that gets the source's credentials."""
    text = given.text("endpoint", "/")
    if _SCHEME.match(text) or not text.isprintable() or "\\" in text or "#" in text:
        raise SourceFailed(f"endpoint {text!r} is no path such as /v1/items: the host is the source's")
    if ".." in text.partition("?")[0].split("/"):
        raise SourceFailed(f"endpoint {text!r} may not hold ..")
    return text


def _params(given: Given) -> Mapping[str, Any]:
    params = given.mapping("params")
    for name, value in params.items():
        each = value if isinstance(value, list) else [value]
        if not all(one is None or isinstance(one, str | int | float | bool) for one in each):
            raise SourceFailed(f"params.{name} must be a text, a number, true or false, or a list of them")
    return params


def _incremental(given: Given) -> Incremental | None:
    is_full = given.raw("sync_mode") != SyncMode.INCREMENTAL
    if "incremental_column" not in given:
        if is_full:
            return None
        raise SourceFailed("an IncrementalSync needs incremental_column, which grows with every new record")
    since, keyed, start = given.inner("since"), bool(given.texts("key_columns")), given.raw("last_synced_value")
    return Incremental(
        column=path_of(given.raw("incremental_column"), field="incremental_column"),
        is_full=is_full,
        start=start if "last_synced_value" in given else None,
        param=since.text("param") if "param" in since else None,
        filtered=since.truth("filter", default=True),
        inclusive=given.truth("inclusive", default=keyed),
        nulls=Nulls(given.choice("null_rows", tuple(Nulls), Nulls.READ if keyed else Nulls.FAIL)),
        lag_seconds=given.number("lag_seconds", None, or_zero=True),
    )


def _types(given: Given) -> Mapping[str, Kind]:
    types = given.mapping("types")
    for name, kind in types.items():
        if kind not in set(Kind):
            raise SourceFailed(f"types.{name} is {kind!r}: known are {', '.join(Kind)}")
    return {name: Kind(kind) for name, kind in types.items()}


def _check_body(reading: Reading) -> None:
    if reading.body is not None and reading.method != "POST":
        raise SourceFailed("body is for the method POST")
    if reading.paging.in_body and (reading.method != "POST" or not isinstance(reading.body or {}, Mapping)):
        raise SourceFailed("paging.in 'body' needs the method POST and a body that is an object")
