"""Workers over HTTP: `/work/…`, what a worker without a database asks. See docs/decisions/0007."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Final, TypeVar

from starlette.responses import Response

from waterclock.domain.access import Right
from waterclock.domain.errors import InvalidInput
from waterclock.faces.api.call import Call, Handler
from waterclock.faces.api.errors import WrongProtocol
from waterclock.faces.api.fields import flag, integer, number, text, written
from waterclock.faces.http.marks import mark_routine
from waterclock.faces.work_codec import decoded, encoded
from waterclock.faces.work_messages import (
    HEADER,
    LARGEST_BODY,
    LARGEST_PIECE,
    OLDEST,
    PROTOCOL,
    Adopt,
    Adopted,
    AskSecrets,
    Attempts,
    Beat,
    Claim,
    Done,
    GiveBack,
    Leave,
    Lock,
    Locked,
    Record,
    Release,
    Renew,
    Stopping,
    Taken,
    Tell,
    Texts,
    Values,
    Woken,
)
from waterclock.services.work import LONGEST_WAIT_SECONDS

T = TypeVar("T")

NUMBER: Final = written(integer(0, 2**62))


def spoken(handler: Callable[[Call], Awaitable[object]], *, routine: bool = True) -> Handler:
    """Its value as the answer, to workers whose protocol we understand. What is routine leaves no row in the audit."""

    @wraps(handler)
    async def answer(call: Call) -> Response:
        call.caller.needs(Right.WORK)
        _check_protocol(call.request.headers.get(HEADER, ""))
        said = encoded(await handler(call))
        if routine:
            mark_routine(call.request.scope)
        return Response(said, 200, {"cache-control": "no-store"}, "application/json")

    return answer


async def beat(call: Call) -> object:
    said = await _question(call, Beat)
    return await call.context.work.beat(call.caller, said.node, said.wall_us, said.pulse)


async def leave(call: Call) -> object:
    said = await _question(call, Leave)
    await call.context.work.leave(call.caller, said.host, said.node)
    return Done()


async def wake(call: Call) -> object:
    """Answered when something may be worth a look, at once if it was since `mark`, and when the server is to stop."""
    query = call.query({"mark": text(200), "seconds": written(number(0, LONGEST_WAIT_SECONDS))})
    rung = await call.context.work.wake(
        call.caller, query.get("mark", ""), query.get("seconds", LONGEST_WAIT_SECONDS), call.context.stopping
    )
    return Woken(topics=rung.topics, mark=rung.mark)


async def claim(call: Call) -> object:
    said = await _question(call, Claim)
    return await call.context.work.claim(
        call.caller, said.claimant, limit=said.limit, ttl_seconds=said.ttl_seconds, until=said.until
    )


async def give_back(call: Call) -> object:
    said = await _question(call, GiveBack)
    await call.context.work.give_back(call.caller, said.claimant, said.besides, until=said.until)
    return Done()


async def release(call: Call) -> object:
    said = await _question(call, Release)
    await call.context.work.release(call.caller, said.host, said.node, said.attempt_ids)
    return Done()


async def adopt(call: Call) -> object:
    said = await _question(call, Adopt)
    found = await call.context.work.adopt(call.caller, said.claimant, ttl_seconds=said.ttl_seconds)
    return Adopted(claimed=tuple(found))


async def record(call: Call) -> object:
    """Those of the beginnings that are lost."""
    said = await _question(call, Record)
    lost = await call.context.work.record(call.caller, said.host, said.beginnings, said.outcomes)
    return Attempts(attempt_ids=tuple(sorted(lost)))


async def report(call: Call) -> object:
    """Those that were taken."""
    said = await _question(call, Tell)
    taken = await call.context.work.report(call.caller, said.host, said.reports)
    return Attempts(attempt_ids=tuple(sorted(taken)))


async def renew(call: Call) -> object:
    """Those that are still the worker's."""
    said = await _question(call, Renew)
    ours = await call.context.work.renew(call.caller, said.host, said.held, said.ttl_seconds)
    return Attempts(attempt_ids=tuple(sorted(ours)))


async def lock(call: Call) -> object:
    said = await _question(call, Lock)
    reason = await call.context.work.lock(call.caller, said.host, said.attempt_id, said.fence, said.destinations)
    return Locked(waits_for=reason)


async def stopping(call: Call) -> object:
    said = await _question(call, Stopping)
    return Attempts(attempt_ids=tuple(await call.context.work.stopping(call.caller, said.host, said.node)))


async def secrets(call: Call) -> object:
    said = await _question(call, AskSecrets)
    call.is_about(f"attempt {said.attempt_id}", *said.names)
    found = await call.context.work.secrets(call.caller, said.host, said.attempt_id, said.fence, said.names)
    return Values(values=dict(found))


async def masks(call: Call) -> object:
    said = await _question(call, AskSecrets)
    call.is_about(f"attempt {said.attempt_id}", *said.names)
    found = await call.context.work.masks(call.caller, said.host, said.attempt_id, said.fence, said.names)
    return Texts(texts=tuple(found))


async def ship(call: Call) -> object:
    """A piece of a log, as its bytes; a piece that comes twice is written once."""
    fields = {"host": text(64), "fence": NUMBER, "offset": NUMBER, "last": written(flag)}
    query = call.query(fields, required=("host", "fence", "offset"))
    attempt_id = int(NUMBER("attempt_id", call.name("attempt_id")))
    data = await call.content(LARGEST_PIECE)
    await call.context.work.check_log(call.caller, query["host"], attempt_id, query["fence"])
    size = await call.context.shipping.ship(
        call.caller, attempt_id, query["fence"], query["offset"], data, last=query.get("last", False)
    )
    return Taken(size=size)


async def _question(call: Call, kind: type[T]) -> T:
    return decoded(kind, await call.content(LARGEST_BODY), strictly=True)


def _check_protocol(given: str) -> None:
    if not (given.isascii() and given.isdigit() and len(given) <= 9):
        raise InvalidInput("must be the number of the worker's protocol", field=HEADER)
    if not OLDEST <= int(given) <= PROTOCOL:
        raise WrongProtocol(int(given), OLDEST, PROTOCOL)


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("POST", "/work/beat", spoken(beat)),
    ("POST", "/work/leave", spoken(leave)),
    ("GET", "/work/wake", spoken(wake)),
    ("POST", "/work/claim", spoken(claim)),
    ("POST", "/work/give-back", spoken(give_back)),
    ("POST", "/work/release", spoken(release)),
    ("POST", "/work/adopt", spoken(adopt)),
    ("POST", "/work/record", spoken(record)),
    ("POST", "/work/report", spoken(report)),
    ("POST", "/work/renew", spoken(renew)),
    ("POST", "/work/lock", spoken(lock)),
    ("POST", "/work/stopping", spoken(stopping)),
    ("POST", "/work/secrets", spoken(secrets, routine=False)),
    ("POST", "/work/masks", spoken(masks, routine=False)),
    ("PUT", "/work/logs/{attempt_id}", spoken(ship)),
)
