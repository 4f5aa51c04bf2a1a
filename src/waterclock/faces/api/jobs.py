"""Jobs: `/jobs` and `/jobs/{name}`. Those of other faces are listed and run here, and defined only there.

Glue's are deleted here, too; chains and lake jobs only by their own faces.
"""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.errors import InvalidInput, NotAllowed
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.labels import label_set
from waterclock.domain.lake import NAMESPACE as LAKE
from waterclock.domain.moment import to_iso
from waterclock.faces.api.call import NAMESPACES, OURS, PAGING, Call, Handler, json, json_page, namespace, page_of
from waterclock.faces.api.fields import MOST_SECONDS, Fields, flag, inner, integer, number, several, text, texts

MOST_RETRIES: Final = 10
CALLABLE_QUEUE: Final = "callables"  # they run inside the worker, and wait apart from programs
MOST_LISTED: Final = 50  # labels, some of them perhaps twice

LIMITS: Final[Fields] = {
    "memory_bytes": integer(1, 2**62),
    "cpu_seconds": integer(1, MOST_SECONDS),
    "processes": integer(1, 2**22),
    "open_files": integer(1, 2**30),
}


def queue(field: str, value: object) -> str:
    found = str(text(64)(field, value))
    if "," in found or not found.isprintable():
        raise InvalidInput("must be printable, without a comma", field=field, value=value)
    return found


def label(field: str, value: object) -> str:
    (found,) = label_set([text()(field, value)], field)
    return found


def labels(field: str, value: object) -> tuple[str, ...]:
    return label_set(several(label, MOST_LISTED)(field, value), field)


SPEC: Final[Fields] = {
    "kind": text(64),
    "script": text(4_096),
    "arguments": texts(),
    "fixed_arguments": texts(),
    "timeout_seconds": integer(1, MOST_SECONDS),
    "notify_after_seconds": integer(1, MOST_SECONDS),
    "retries": integer(0, MOST_RETRIES),
    "retry_delay_seconds": number(0, 7 * 86_400),
    "max_concurrent": integer(0, 100_000),
    "queueing": flag,
    "python_modules": text(4_000),
    "limits": inner(LIMITS),
    "queue": queue,
    "labels": labels,
}


def spec_of(given: Mapping[str, Any]) -> JobSpec:
    """What is not given is the default."""
    known = {name: value for name, value in given.items() if name not in ("name", "arguments")}
    if given["kind"] == "callable":
        known.setdefault("queue", CALLABLE_QUEUE)
    return JobSpec(default_arguments=given.get("arguments", {}), **known)


def rendered(job: Job) -> dict[str, object]:
    spec = job.spec
    return {
        "id": job.id,
        "namespace": job.namespace,
        "name": job.name,
        "owner": job.owner,
        "version": job.version,
        "arguments": spec.default_arguments,
        **{name: getattr(spec, name) for name in SPEC if name != "arguments"},
        "tags": job.tags,
        "created_at": to_iso(job.created_at),
        "updated_at": to_iso(job.updated_at),
    }


async def list_jobs(call: Call) -> Response:
    query = call.query({**PAGING, "namespace": namespace})
    namespaces = [query["namespace"]] if "namespace" in query else NAMESPACES
    return json_page(await call.context.jobs.list(call.caller, namespaces, page_of(query)), rendered)


async def create_job(call: Call) -> Response:
    given = await call.body({**SPEC, "name": text()}, required=("name", "kind"))
    spec = spec_of(given)
    job = await call.context.jobs.create(call.caller, OURS, given["name"], spec, kept(given), {})
    return json(rendered(job), 201)


async def get_job(call: Call) -> Response:
    return json(rendered(await call.context.jobs.get(call.caller, asked_namespace(call), call.name())))


async def replace_job(call: Call) -> Response:
    """All of its settings: what is left out is the default again."""
    given = await call.body(SPEC, required=("kind",))
    only_ours(call, "job")
    spec = spec_of(given)
    return json(rendered(await call.context.jobs.update(call.caller, OURS, call.name(), lambda _: (spec, kept(given)))))


async def delete_job(call: Call) -> Response:
    return json(rendered(await call.context.jobs.delete(call.caller, operable_namespace(call), call.name())))


def asked_namespace(call: Call) -> str:
    return str(call.query({"namespace": namespace}).get("namespace", OURS))


def operable_namespace(call: Call) -> str:
    asked = asked_namespace(call)
    refuse_chains(asked, call.name())
    if asked == LAKE:  # its job, its trigger and its row are one thing, and only /lake changes all three at once
        raise NotAllowed(f"{call.name()!r} is a job of the lake: use /lake/job/{call.name()}")
    return asked


def refuse_chains(asked: str, name: str) -> None:
    """A chain's trigger and its job are the chain: nobody starts, stops or deletes them behind its back."""
    if asked == CHAINS:
        raise NotAllowed(f"{name!r} belongs to a chain: use /chains/{name.removeprefix('chain-')}")


def only_ours(call: Call, kind: str) -> None:
    asked = asked_namespace(call)
    if asked != OURS:
        raise NotAllowed(f"{kind} {call.name()!r} is defined through the {asked} face: change it there")


def kept(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "name"}


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/jobs", list_jobs),
    ("POST", "/jobs", create_job),
    ("GET", "/jobs/{name}", get_job),
    ("PUT", "/jobs/{name}", replace_job),
    ("DELETE", "/jobs/{name}", delete_job),
)
