"""Clients of the tests' service, in time that passes only when somebody waits."""

from collections.abc import Mapping
from typing import Any

from tests.services.rest_service import RestService
from waterclock.runners.sync.service.client import Client
from waterclock.runners.sync.service.config import service_of
from waterclock.runners.sync.service.job import reading_of
from waterclock.runners.sync.service.pages import Page, pages_of
from waterclock.runners.sync.service.times import Times

NOON_US = 1_794_830_400_000_000  # 2026-11-16 12:00 UTC

JOB_OF_PAGES: Mapping[str, Any] = {"endpoint": "/pages", "records": "$.items[*]", "paging": {"style": "page"}}


class Waiting:
    """What was waited for, second by second; chance always gives the most."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []
        self.times = Times(
            monotonic=lambda: self.now,
            wall_us=lambda: NOON_US + int((self.now - 1_000) * 1_000_000),
            sleep=self._wait,
            chance=lambda: 1.0,
        )

    def _wait(self, seconds: float) -> None:
        self.waits.append(round(seconds, 6))
        self.now += seconds


def client_of(service: RestService, waiting: Waiting | None = None, *, private: bool = True, **config: Any) -> Client:
    given = {"base_url": service.url, "timeout_seconds": 10, **config}
    return Client(service_of(given), allows_private=private, times=(waiting or Waiting()).times)


def page_of(client: Client, path: str = "/all") -> Any:
    try:
        return client.ask("GET", client.url_of(path), params={}).page
    finally:
        client.close()


def read(
    service: RestService, job: Mapping[str, Any], waiting: Waiting | None = None, **config: Any
) -> tuple[list[Page], list[Any]]:
    """All pages, and the ids in them."""
    client = client_of(service, waiting, **config)
    try:
        pages = list(pages_of(client, reading_of(job), {}))
    finally:
        client.close()
    return pages, [record["id"] for page in pages for record in page.records]
