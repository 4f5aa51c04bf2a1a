"""Which calls are the same call, sent again by an SDK whose answer was lost."""

import hashlib

import orjson

from waterclock.domain.access import Caller
from waterclock.faces.glue.services import Body


def digest_of(action: str, caller: Caller, body: Body) -> str | None:
    """Of this call and its repetitions; None where the client does not say which call it is."""
    if caller.call_id is None:
        return None
    call = [action, caller.org_id, caller.call_id, body]
    return hashlib.sha256(orjson.dumps(call, option=orjson.OPT_SORT_KEYS)).hexdigest()
