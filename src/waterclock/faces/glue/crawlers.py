"""Crawler actions: what a client makes is kept and shown; nothing ever crawls."""

from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.access import Caller
from waterclock.domain.crawler import Crawler
from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import parse_schedule
from waterclock.domain.tagging import Taggable
from waterclock.faces.glue.render import epoch
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire, page_of, paged

PAGE: Final = 100
DEFAULTS: Final = {
    "Classifiers": [],
    "SchemaChangePolicy": {"UpdateBehavior": "UPDATE_IN_DATABASE", "DeleteBehavior": "DEPRECATE_IN_DATABASE"},
    "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVERYTHING"},
    "LineageConfiguration": {"CrawlerLineageSettings": "DISABLE"},
}


async def create_crawler(services: Services, caller: Caller, body: Body) -> Wire:
    if "Schedule" in body:
        _check_schedule(body["Schedule"])
    definition = {name: value for name, value in body.items() if name != "Tags"}
    await services.crawlers.create(caller, body["Name"], definition, body.get("Tags", {}))
    return {}


async def get_crawler(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Crawler": crawler_wire(await services.crawlers.get(caller, body["Name"]))}


async def get_crawlers(services: Services, caller: Caller, body: Body) -> Wire:
    page = await services.crawlers.list(caller, page_of(body, size=PAGE))
    return paged("Crawlers", [crawler_wire(crawler) for crawler in page.items], page.next_token)


async def list_crawlers(services: Services, caller: Caller, body: Body) -> Wire:
    """Those that carry all the tags: without any, everyone does."""
    asked = page_of(body, size=PAGE)
    found = await services.tags.names(caller, Taggable.CRAWLER, NAMESPACE, body.get("Tags", {}), asked)
    return paged("CrawlerNames", list(found.items), found.next_token)


async def batch_get_crawlers(services: Services, caller: Caller, body: Body) -> Wire:
    names = list(dict.fromkeys(body["CrawlerNames"]))
    found = await services.crawlers.get_many(caller, names)
    return {
        "Crawlers": [crawler_wire(found[name]) for name in names if name in found],
        "CrawlersNotFound": [name for name in names if name not in found],
    }


async def delete_crawler(services: Services, caller: Caller, body: Body) -> Wire:
    await services.crawlers.delete(caller, body["Name"])
    return {}


def crawler_wire(crawler: Crawler) -> Wire:
    given: Mapping[str, Any] = crawler.definition
    schedule = {"ScheduleExpression": given["Schedule"], "State": "SCHEDULED"} if "Schedule" in given else None
    return {
        **DEFAULTS,
        **{name: value for name, value in given.items() if name != "Schedule"},
        **({"Schedule": schedule} if schedule else {}),
        "State": "READY",
        "CrawlElapsedTime": 0,
        "CreationTime": epoch(crawler.created_at),
        "LastUpdated": epoch(crawler.updated_at),
        "Version": 1,
    }


def _check_schedule(text: str) -> None:
    try:
        parse_schedule(text)
    except InvalidInput as refused:
        raise InvalidInput(refused.reason, field="Schedule", value=text) from refused


ACTIONS: Final[dict[str, Handler]] = {
    "CreateCrawler": create_crawler,
    "GetCrawler": get_crawler,
    "GetCrawlers": get_crawlers,
    "ListCrawlers": list_crawlers,
    "BatchGetCrawlers": batch_get_crawlers,
    "DeleteCrawler": delete_crawler,
}
