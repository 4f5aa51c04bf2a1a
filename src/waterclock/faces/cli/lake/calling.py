"""Calls to the lake face: its own paths, lists that come in pieces, and times as people write them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from waterclock.domain.moment import to_iso
from waterclock.faces.cli.client import Client, path

PAGE: Final = 1_000
MILLISECOND: Final = 1_000

Found = dict[str, Any]

job_id = click.argument("job_id", metavar="ID", type=click.IntRange(1))
most = click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")


def at(client: Client, *parts: object) -> str:
    """Below /lake, beside the paths of /api/v1, with which the client speaks."""
    return client.server + path("lake", *map(str, parts))


def listed(client: Client, *parts: str, most: int | None = None, **asked: object) -> Iterator[Found]:
    """All that there are, up to `most`, a page after another."""
    begin = 0
    while most is None or begin < most:
        size = PAGE if most is None else min(PAGE, most - begin)
        page = client.post(at(client, *parts, "list"), {**_given(asked), "from": begin, "size": size})
        yield from page["data"]
        begin += len(page["data"])
        if not page["data"] or begin >= page["total"]:
            return


def last_run(client: Client, job_id: int, run_id: int | None = None) -> Found | None:
    """The newest of the job, or the one that is named."""
    runs = listed(client, "history", job_id=job_id, most=1 if run_id is None else None)
    return next((run for run in runs if run_id in (None, run["run_id"])), None)


def when(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else to_iso(milliseconds * MILLISECOND)


def _given(asked: Mapping[str, object]) -> Found:
    return {name: value for name, value in asked.items() if value is not None}
