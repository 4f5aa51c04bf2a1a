"""A job for each table of a database, all of them or none: `/lake/job/create_many`.

What is sent is one sync_db_job without a table, and the tables. Where it says where rows go, `{table}` stands for the
table, in letters, digits and underscores.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.lake import Listed
from waterclock.domain.lake_references import Found, check_found, sources_named
from waterclock.domain.lake_sync import SyncKind
from waterclock.faces.api.call import Call, Handler
from waterclock.faces.api.fields import several, text
from waterclock.faces.lake import rendering
from waterclock.faces.lake.definition import CLASSES, WITHIN, class_name, draft_of
from waterclock.faces.lake.fields import body, source
from waterclock.faces.lake.listing import listed
from waterclock.faces.lake.outputs import CONFIGS
from waterclock.faces.lake.syncs import settings

ALL: Final = "*"
TABLE: Final = "{table}"
MOST_TABLES: Final = 500

_OTHERS: Final = re.compile(r"\W+")
_QUOTES: Final = re.compile(r'["`]')  # around what holds a dot

Job = dict[str, Any]


def tables(field: str, value: object) -> Sequence[str] | str:
    if value == ALL:
        return ALL
    if isinstance(value, str):
        raise InvalidInput(f"must be a list of names, or {ALL!r} for all that the source has", field=field, value=value)
    found: tuple[str, ...] = several(text(), MOST_TABLES, least=1)(field, value)
    if twice := next((table for table in found if found.count(table) > 1), None):
        raise InvalidInput(f"has {twice!r} twice", field=field)
    return found


async def create_jobs(call: Call) -> Response:
    given = await body(call, {"job": settings, "tables": tables}, required=("job", "tables"))
    _check_job(given["job"])
    named = given["tables"] if given["tables"] != ALL else await _all_tables(call, given["job"])
    zone, now = call.context.settings.lake_timezone, await call.context.cluster.now()
    drafts = [draft_of(job, timezone=zone, now=now) for job in jobs_of(given["job"], named)]
    made = await call.context.lake.create_many(call.caller, drafts)
    return listed(Listed(items=made, total=len(made)), rendering.job)


def jobs_of(job: Job, tables: Sequence[str]) -> list[Job]:
    """As each would be sent by itself."""
    words = {table: _OTHERS.sub("_", _QUOTES.sub("", table)) for table in tables}
    seen: dict[str, str] = {}
    for table, word in words.items():
        if (other := seen.setdefault(word.casefold(), table)) != table:
            raise InvalidInput(f"{other!r} and {table!r} would both be written to {word}", field="tables")
    return [_job(job, table, word, is_alone=len(words) == 1) for table, word in words.items()]


def _job(job: Job, table: str, word: str, *, is_alone: bool) -> Job:
    shown = job.get("display_name", job.get("name"))
    given = job.get("destinations")
    destinations = given if isinstance(given, list) else []
    made = {**job, "table_name": table, "display_name": f"{shown} {table}" if isinstance(shown, str) else shown}
    if not destinations or any(isinstance(each, str) for each in destinations):
        name = job.get("dest_table_name") or TABLE
        made["dest_table_name"] = _apart(name, _filled(name, word), "dest_table_name", is_alone=is_alone)
    if destinations:
        made["destinations"] = [
            each
            if isinstance(each, str)  # a store, to which dest_table_name goes
            else _apart(each, _with_table(each, word), f"destinations[{number}]", is_alone=is_alone)
            for number, each in enumerate(destinations)
        ]
    return made


def _with_table(output: object, word: str) -> object:
    """Also where it names none, and could."""
    match _filled(output, word):
        case {"type": str(kind), "config": dict(config)} if kind in CONFIGS and "table_name" in CONFIGS[kind][1]:
            return {"type": kind, "config": {"table_name": word, **config}}
        case found:
            return found


def _filled(value: object, word: str) -> object:
    match value:
        case str():
            return value.replace(TABLE, word)
        case dict():
            return {name: _filled(item, word) for name, item in value.items()}
        case list():
            return [_filled(item, word) for item in value]
    return value


def _apart(given: object, filled: object, place: str, *, is_alone: bool) -> object:
    """Of two tables in one place, one would be gone."""
    if filled == given and not is_alone:
        raise InvalidInput(f"is one place for all tables: put {TABLE} into its name", field=f"{WITHIN}{place}")
    return filled


def _check_job(job: Mapping[str, Any]) -> None:
    if CLASSES[class_name(f"{WITHIN}class_name", job.get("class_name"))] is not SyncKind.DB:
        raise InvalidInput(f"must be {SyncKind.DB}: only a database has tables", field=f"{WITHIN}class_name")
    for name in ("table_name", "query"):
        if job.get(name):
            raise InvalidInput("must be left out: tables says what is read", field=f"{WITHIN}{name}")


async def _all_tables(call: Call, job: Job) -> Sequence[str]:
    """Of the source itself, as a worker sees it."""
    place = f"{WITHIN}source"
    reference = source(place, job.get("source", job.get("source_id")))
    (named,) = sources_named(SyncKind.DB, {"source": reference})
    try:
        found = await call.context.lake_sources.get(call.caller, reference)
    except NotFound:
        check_found(named, None)
        raise
    check_found(named, Found(id=found.id, kind=found.kind))
    answer: Mapping[str, Any] = await call.context.lake_sources.tables(call.caller, found.id)
    names = [str(name) for name in answer["tables"]]
    if not 0 < len(names) <= MOST_TABLES:
        raise InvalidInput(f"the source has {len(names)}: name 1 to {MOST_TABLES} of them", field="tables")
    return names


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (("POST", "/job/create_many", create_jobs),)
