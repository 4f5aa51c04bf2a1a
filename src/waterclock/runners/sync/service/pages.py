"""The pages of a service, one after another: each once, never for ever, and its records where the job says."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from waterclock.runners.sync.service.client import Answer, Client
from waterclock.runners.sync.service.job import Reading
from waterclock.runners.sync.service.paging import Ask, Seen
from waterclock.runners.sync.service.path import NotThere, shape_of
from waterclock.runners.sync.source import SourceFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    number: int  # from 1
    records: list[Any] = field(repr=False)
    total: int | None
    bytes: int


def pages_of(client: Client, reading: Reading, params: Mapping[str, Any]) -> Iterator[Page]:
    """`params`: those of the watermark."""
    paging, number, asked, last = reading.paging, 0, set[str](), b""
    url = client.url_of(reading.endpoint)
    ask: Ask | None = paging.first()
    while ask is not None:
        number += 1
        if number > paging.most_pages:
            raise SourceFailed(
                f"{reading.endpoint}: there are more than {paging.most_pages} pages: "
                "does the service page for ever? If not, give paging.most_pages"
            )
        _check_new(ask, asked, f"{reading.endpoint}, page {number}")
        answer = _asked(client, reading, ask, params, url)
        url = answer.url if ask.url else url
        records = _records(reading, answer.page, f"{reading.endpoint}, page {number}")
        last = _check_moves(reading, records, last, number)
        yield Page(number=number, records=records, total=paging.total_of(answer.page), bytes=answer.bytes)
        ask = paging.after(ask, Seen(page=answer.page, records=len(records), next_url=answer.next_url))


def _asked(client: Client, reading: Reading, ask: Ask, params: Mapping[str, Any], url: Any) -> Answer:
    if ask.url is not None:
        return client.ask(reading.method, client.here(ask.url, url), params={}, body=reading.body)
    whole = {name: value for name, value in {**reading.params, **params}.items() if value is not None}
    if reading.paging.in_body:
        return client.ask(reading.method, url, params=whole, body={**(reading.body or {}), **ask.params})
    return client.ask(reading.method, url, params={**whole, **ask.params}, body=reading.body)


def _check_new(ask: Ask, asked: set[str], where: str) -> None:
    """A cursor or an address that comes again would lead round and round."""
    name = ask.url or json.dumps(ask.params, sort_keys=True, default=str)
    if name in asked:
        raise SourceFailed(f"{where}: the service leads back to a page that was read: its paging goes in a circle")
    asked.add(name)


def _check_moves(reading: Reading, records: list[Any], last: bytes, number: int) -> bytes:
    """One that does not know the parameter gives the same page each time."""
    if not records or reading.paging.same_page:
        return b""
    digest = hashlib.sha256(json.dumps(records, sort_keys=True).encode()).digest()
    if digest == last:
        raise SourceFailed(
            f"{reading.endpoint}, page {number}: the same records came as in page {number - 1}: does the service know "
            "the parameters of paging? If they may repeat, give paging.same_page true"
        )
    return digest


def _records(reading: Reading, page: Any, where: str) -> list[Any]:
    if reading.records is None:
        if isinstance(page, list) or page is None:
            return page or []
        raise SourceFailed(
            f"{where}: it is {shape_of(page)}, and no list: say in records where the list is ($.data[*])"
        )
    try:
        return reading.records.records(page)
    except NotThere as missing:
        if reading.records_may_miss:
            return []
        raise SourceFailed(f"{where}: records {reading.records.text} leads nowhere: {missing}") from None
