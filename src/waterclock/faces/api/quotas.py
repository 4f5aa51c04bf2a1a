"""Quotas: `/quotas`, `/quotas/{kind}` for everybody without a line of their own, `/quotas/{kind}/{user}`."""

from typing import Final

from starlette.responses import Response

from waterclock.domain.quota import EVERYBODY, LARGEST, Quota, QuotaKind
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import integer, one_of


async def list_quotas(call: Call) -> Response:
    call.query({})
    return json({"items": [_rendered(quota) for quota in await call.context.quotas.list(call.caller)]})


async def set_quota(call: Call) -> Response:
    given = await call.body({"most": integer(0, LARGEST)}, required=("most",))
    return json(_rendered(await call.context.quotas.set(call.caller, _user(call), _kind(call), given["most"])))


async def remove_quota(call: Call) -> Response:
    await call.context.quotas.remove(call.caller, _user(call), _kind(call))
    return json({"user": _user(call) or None, "kind": _kind(call)})


def _kind(call: Call) -> QuotaKind:
    found: QuotaKind = one_of(QuotaKind)("kind", call.name("kind"))
    return found


def _user(call: Call) -> str:
    return call.name("user") if "user" in call.request.path_params else EVERYBODY


def _rendered(quota: Quota) -> dict[str, object]:
    """`user` null is everybody without a line of their own."""
    return {
        "user": quota.user or None,
        "kind": quota.kind,
        "most": quota.most,
        "used": quota.used if quota.user else None,
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/quotas", list_quotas),
    ("PUT", "/quotas/{kind}", set_quota),
    ("DELETE", "/quotas/{kind}", remove_quota),
    ("PUT", "/quotas/{kind}/{user}", set_quota),
    ("DELETE", "/quotas/{kind}/{user}", remove_quota),
)
