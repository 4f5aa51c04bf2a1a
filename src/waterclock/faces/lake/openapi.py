"""What the lake face serves, as OpenAPI 3.1: one row beside each route, and the document made of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from starlette.responses import Response

from waterclock import __version__
from waterclock.faces.api.call import Call, json
from waterclock.faces.lake.schedule import IDEMPOTENCY_KEY
from waterclock.faces.lake.schemas import SCHEMAS, TABLE_NAME
from waterclock.faces.lake.shapes import ID, ref, text
from waterclock.services.lake_work import LONGEST_WAIT_SECONDS

PATH: Final = "/openapi.json"
OPENAPI: Final = "3.1.0"
ALWAYS: Final = (400, 401, 403, 413, 503)
PARAMETERS: Final[Mapping[str, Any]] = {
    "id": ID,
    "name": TABLE_NAME,
    "source_id": ID,
    IDEMPOTENCY_KEY: {
        **text(),
        "pattern": "^[!-~]+$",
        "description": "the same for a call that is sent again because its answer was lost: it is one run",
    },
    "wait": {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT_SECONDS, "description": "seconds"},
}
WORDS: Final = {
    200: "Done.",
    400: "Something sent is wrong, or the state of things forbids it; the message says what and where.",
    401: "No caller, or one that is not known.",
    403: "The caller may not do this.",
    404: "There is nothing of this name or number in the caller's organisation.",
    409: "The name is taken.",
    413: "The body is too long.",
    503: "The store does not answer; nothing is known to be done.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What is sent and answered, by the names of their schemas; `refusals` are those besides the usual."""

    summary: str
    answer: str
    request: str | None = None
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    makes: tuple[str, str] | None = None  # a parameter of other paths, and where the answer has it
    refusals: tuple[int, ...] = ()


OPERATIONS: Final[Mapping[tuple[str, str], Operation]] = {
    ("POST", "/job/create"): Operation(
        summary="Create a job", request="NewJob", answer="Job", makes=("id", "/job/job_id")
    ),
    ("POST", "/job/create_many"): Operation(
        summary="Create a sync job for each table of a database, all or none", request="NewJobs", answer="Jobs"
    ),
    ("POST", "/job/list"): Operation(summary="List jobs", request="AskJobs", answer="Jobs"),
    ("GET", "/job/{id}"): Operation(summary="Show a job", answer="Job", refusals=(404,)),
    ("PUT", "/job/{id}"): Operation(summary="Replace a job", request="NewJob", answer="Success", refusals=(404,)),
    ("DELETE", "/job/{id}"): Operation(summary="Delete a job", answer="Success", refusals=(404,)),
    ("GET", "/job/{id}/status"): Operation(summary="How a job stands", answer="Status", refusals=(404,)),
    ("POST", "/history/list"): Operation(summary="List runs", request="AskRuns", answer="Runs", refusals=(404,)),
    ("PUT", "/schedule/job/{id}/now"): Operation(
        summary="Run a job now, or at a moment",
        request="Now",
        answer="Started",
        headers=(IDEMPOTENCY_KEY,),
        refusals=(404,),
    ),
    ("PUT", "/schedule/job/{id}/kill"): Operation(summary="Kill a job's run", answer="Success", refusals=(404,)),
    ("GET", "/schedule/job/next"): Operation(summary="For a worker: what to run next", answer="Next", query=("wait",)),
    ("POST", "/schedule/job/report"): Operation(
        summary="From a worker: how a run stands, or how it ended", request="Report", answer="Reported", refusals=(404,)
    ),
    ("GET", "/schedule/job/progress"): Operation(summary="All runs that live", answer="Live"),
    ("POST", "/table/create"): Operation(
        summary="Give a table its name",
        request="Table",
        answer="MadeTable",
        makes=("name", "/table/name"),
        refusals=(409,),
    ),
    ("POST", "/table/list"): Operation(summary="List tables", request="AskTables", answer="Tables"),
    ("DELETE", "/table/{name}"): Operation(summary="Forget a table's name", answer="Success", refusals=(404,)),
    ("POST", "/source/create"): Operation(
        summary="Create a source of syncs",
        request="NewSource",
        answer="MadeSource",
        makes=("source_id", "/source/source_id"),
        refusals=(409,),
    ),
    ("POST", "/source/list"): Operation(summary="List sources", request="AskTables", answer="Sources"),
    ("GET", "/source/{source_id}"): Operation(summary="Show a source", answer="MadeSource", refusals=(404,)),
    ("PUT", "/source/{source_id}"): Operation(
        summary="Replace a source", request="NewSource", answer="Success", refusals=(404, 409)
    ),
    ("DELETE", "/source/{source_id}"): Operation(summary="Delete a source", answer="Success", refusals=(404,)),
    ("POST", "/source/{source_id}/test"): Operation(
        summary="Whether a worker can reach a source", answer="Tested", refusals=(404,)
    ),
    ("POST", "/source/{source_id}/preview"): Operation(
        summary="The first rows, as a worker reads them", request="AskPreview", answer="Preview", refusals=(404,)
    ),
    ("GET", "/source/{source_id}/tables"): Operation(
        summary="What a worker finds to read", answer="SourceTables", refusals=(404,)
    ),
}


async def show_document(call: Call) -> Response:
    """To every caller: it shows nothing of anybody's."""
    return json(document())


@cache
def document() -> Mapping[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for (method, path), operation in OPERATIONS.items():
        paths.setdefault(f"/lake{path}", {})[method.lower()] = _described(method, path, operation)
    return {
        "openapi": OPENAPI,
        "info": {"title": "Waterclock: the lake face", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(method: str, path: str, operation: Operation) -> dict[str, Any]:
    named = {"path": re.findall(r"\{(\w+)\}", path), "query": operation.query, "header": operation.headers}
    parameters = [
        {"name": name, "in": place, "required": place == "path", "schema": PARAMETERS[name]}
        for place, names in named.items()
        for name in names
    ]
    answers = {200: operation.answer, **dict.fromkeys(sorted({*ALWAYS, *operation.refusals}), "Error")}
    described: dict[str, Any] = {
        "operationId": _id(method, path),
        "summary": operation.summary,
        "responses": {
            str(status): {"description": WORDS[status], "content": _content(name)} for status, name in answers.items()
        },
    }
    if operation.makes:
        described["responses"]["200"]["links"] = _links(*operation.makes)
    if parameters:
        described["parameters"] = parameters
    if operation.request:
        described["requestBody"] = {"required": operation.request in NEEDED, "content": _content(operation.request)}
    return described


def _links(name: str, place: str) -> dict[str, Any]:
    """What can be done with what was made."""
    return {
        _id(method, path): {"operationId": _id(method, path), "parameters": {name: f"$response.body#{place}"}}
        for method, path in OPERATIONS
        if f"{{{name}}}" in path
    }


def _id(method: str, path: str) -> str:
    return re.sub(r"\W+", "_", f"{method.lower()}{path}").strip("_")


NEEDED: Final = frozenset(
    {"NewJob", "NewJobs", "Table", "Report", "NewSource"}
)  # the others may be sent without a body


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": ref(name)}}
