"""IAM, as far as clients turn the name of a role into its ARN. Roles are names here: every legal one is answered."""

from typing import Final
from urllib.parse import quote

import orjson

from waterclock.domain.access import Caller, Right
from waterclock.faces.glue.around.query import QueryService
from waterclock.faces.glue.around.sts import unique_id
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.services import Body, Handler, Services, Wire

VERSION: Final = "2010-05-08"
CREATED: Final = "1970-01-01T00:00:00Z"  # roles are not kept: theirs never changes
TRUST: Final = quote(
    orjson.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "glue.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ],
        }
    )
)


async def get_role(services: Services, caller: Caller, body: Body) -> Wire:
    caller.needs(Right.READ)
    name = body["RoleName"]
    return {
        "Role": {
            "Path": "/",
            "RoleName": name,
            "RoleId": unique_id("AROA", caller.account, name),
            "Arn": f"arn:aws:iam::{caller.account}:role/{name}",
            "CreateDate": CREATED,
            "AssumeRolePolicyDocument": TRUST,
            "MaxSessionDuration": 3600,
        }
    }


ACTIONS: Final[dict[str, Handler]] = {"GetRole": get_role}
IAM: Final = QueryService(
    name="iam", scopes=("iam",), version=VERSION, model=ServiceModel("iam", tuple(ACTIONS)), handlers=ACTIONS
)
