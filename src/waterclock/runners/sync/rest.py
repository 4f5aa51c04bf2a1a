"""REST services as sources: records that come in pages of JSON, read patiently and never twice.

A job says `endpoint`, `params`, `method`, `body`, `records` (where the list lies: service/path.py), `paging`
(service/paging.py), `incremental_column` with `since` and `lag_seconds` (service/watermark.py), `types` and
`infer_records` (service/columns.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from waterclock.runners.sync.service.client import Client
from waterclock.runners.sync.service.config import Service, service_of
from waterclock.runners.sync.service.job import reading_of
from waterclock.runners.sync.service.rows import RestRows
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.service.watermark import Watermark
from waterclock.runners.sync.source import Means, Source, Wanted


def rest_source(config: Mapping[str, Any], means: Means) -> Source:
    return RestSource(service_of(config), allows_private=means.allows_private)


class RestSource:
    def __init__(self, service: Service, *, allows_private: bool, times: Times | None = None) -> None:
        self._service, self._allows_private, self._times = service, allows_private, times or Times()

    def test(self) -> str:
        """One request, to the first endpoint that the source names, else to its base; tried twice at most."""
        client = self._client(replace(self._service, retries=min(1, self._service.retries)))
        endpoint = next(iter(self._service.endpoints), "")
        try:
            status = client.greet(client.url_of(endpoint), at_its_base=not endpoint)
        finally:
            client.close()
        return f"{self._service.base_url} answers ({status})"

    def tables(self) -> Sequence[str]:
        """Those that the source names: services have no list of them that all agree on."""
        return self._service.endpoints

    def read(self, wanted: Wanted) -> RestRows:
        reading, client = reading_of(wanted.task), self._client(self._service)
        watermark = None
        if reading.incremental is not None:
            watermark = Watermark.after(reading.incremental, wanted.since, now_us=self._times.wall_us())
        try:
            return RestRows(client, reading, wanted, watermark, self._times)
        except BaseException:
            client.close()
            raise

    def _client(self, service: Service) -> Client:
        return Client(service, allows_private=self._allows_private, times=self._times)
