"""Every request of the seed, sent as it is written there, is answered in the shape that is written there."""

from typing import Any

import httpx
import pytest

from tests.faces.api.serving import NO_TLS, Served
from tests.faces.lake.samples import SQL, made
from tests.faces.lake.seed import COPY, SHARED, blocks, calls, outputs
from waterclock.domain.access import Role

# What the server decides: another number, moment or state than in the seed's example.
DECIDED = {"job_id", "next_run_time", "creator_id", "current_sync_status", "build_tool"}


def shape(value: Any, name: str = "") -> Any:
    """The names, in their order, and the types; a time is a number."""
    match value:
        case dict():
            return [(key, shape(each, key)) for key, each in value.items()]
        case list():
            return [shape(each) for each in value]
    assert not name.endswith("_time") or isinstance(value, int), (name, value)
    return type(value).__name__


def agreed(value: Any) -> Any:
    """All that must be the same word by word."""
    match value:
        case dict():
            return {key: agreed(each) for key, each in value.items() if key not in DECIDED}
        case list():
            return [agreed(each) for each in value]
    return value


def test_our_copy_is_the_seed() -> None:
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not beside this project")
    assert COPY.read_bytes() == SHARED.read_bytes()


def test_all_of_the_seed_is_replayed() -> None:
    replayed = [(call.method, call.url) for call in calls()]
    assert replayed == [
        ("POST", "/lake/job/create"),
        ("GET", "/lake/job/:id"),
        ("PUT", "/lake/job/:id"),
        ("POST", "/lake/job/list"),
        ("DELETE", "/lake/job/:id"),
        ("POST", "/lake/job/create"),
    ]
    assert list(outputs()) == ["Hadoop", "Clickhouse"]
    assert blocks() == 2 * len(replayed) + len(outputs())


async def test_every_request_is_answered_in_the_shape_of_the_seed(server: Served) -> None:
    token = await server.token_of("test@gmail.com", Role.AUTHOR)
    job_id = 0
    async with httpx.AsyncClient(
        base_url=server.url, headers={"authorization": f"Bearer {token}"}, verify=NO_TLS
    ) as client:
        for call in calls():
            answer = await client.request(call.method, call.path(job_id), json=call.request)
            assert answer.status_code == 200, (call.title, answer.text)
            assert shape(answer.json()) == shape(call.answer), call.title
            assert agreed(answer.json()) == agreed(call.answer), call.title
            if call.url.endswith("/create"):
                job = answer.json()["job"]
                assert job["creator_id"] == call.answer["job"]["creator_id"] == "test@gmail.com"
                job_id = job["job_id"]


async def test_the_outputs_of_the_seed_are_kept_as_they_are_written(lake: httpx.AsyncClient) -> None:
    written = list(outputs().values())
    job = await made(lake, SQL, query_info={"query": "select 1", "outputs": written})
    assert job["query_info"]["outputs"] == written
    assert shape(job["query_info"]["outputs"]) == shape(written)
