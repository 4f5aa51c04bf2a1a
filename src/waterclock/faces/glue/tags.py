"""Tag actions: parse, call one service, render. A resource is named by its ARN."""

import re
from typing import Final

from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.tagging import Resource, Taggable
from waterclock.faces.glue.services import NAMESPACE, Body, Handler, Services, Wire

KINDS: Final = {
    "job": Taggable.JOB,
    "trigger": Taggable.TRIGGER,
    "workflow": Taggable.FLOW,
    "crawler": Taggable.CRAWLER,
}

_ARN: Final = re.compile(r"arn:aws[a-z-]*:glue:[a-z0-9-]+:([0-9]{12}):([A-Za-z]+)/(.+)", re.ASCII | re.DOTALL)


async def tag_resource(services: Services, caller: Caller, body: Body) -> Wire:
    await services.tags.add(caller, _resource(body["ResourceArn"]), body["TagsToAdd"])
    return {}


async def untag_resource(services: Services, caller: Caller, body: Body) -> Wire:
    await services.tags.remove(caller, _resource(body["ResourceArn"]), body["TagsToRemove"])
    return {}


async def get_tags(services: Services, caller: Caller, body: Body) -> Wire:
    return {"Tags": await services.tags.get(caller, _resource(body["ResourceArn"]))}


def _resource(arn: str) -> Resource:
    """In any region; what is of a kind that carries no tags here is not found."""
    found = _ARN.fullmatch(arn)
    if found is None:
        form = "arn:aws:glue:REGION:ACCOUNT:KIND/NAME, where KIND is job, trigger, workflow or crawler"
        raise InvalidInput(f"must be {form}", field="ResourceArn", value=arn)
    account, kind, name = found.groups()
    if kind not in KINDS:
        raise NotFound(kind, name)
    return Resource(kind=KINDS[kind], account=account, namespace=NAMESPACE, name=name)


ACTIONS: Final[dict[str, Handler]] = {
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "GetTags": get_tags,
}
