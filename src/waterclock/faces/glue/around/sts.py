"""STS, as far as clients ask who they are."""

import base64
import hashlib
from typing import Final

from waterclock.domain.access import Caller
from waterclock.faces.glue.around.query import QueryService
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.services import Body, Handler, Services, Wire

VERSION: Final = "2011-06-15"


async def get_caller_identity(services: Services, caller: Caller, body: Body) -> Wire:
    return {
        "UserId": unique_id("AIDA", caller.account, caller.user),
        "Account": caller.account,
        "Arn": f"arn:aws:iam::{caller.account}:user/{caller.user}",
    }


def unique_id(prefix: str, account: str, name: str) -> str:
    """The same for the same name, always; 21 letters and digits, as AWS has them."""
    digest = hashlib.sha256(f"{prefix}:{account}:{name}".encode()).digest()
    return prefix + base64.b32encode(digest).decode()[:17]


ACTIONS: Final[dict[str, Handler]] = {"GetCallerIdentity": get_caller_identity}
STS: Final = QueryService(
    name="sts", scopes=("sts",), version=VERSION, model=ServiceModel("sts", tuple(ACTIONS)), handlers=ACTIONS
)
