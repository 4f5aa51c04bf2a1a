"""The services of AWS that one endpoint serves: how each is asked and answered, and its table of actions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from waterclock.domain.errors import WaterclockError
from waterclock.faces.glue.errors import INTERNAL, TABLE, Refusal, Table, refusal
from waterclock.faces.glue.protocol import Reply, failure, parse_body, parse_target, success
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.services import Body, Handler


class AwsService(Protocol):
    @property
    def name(self) -> str:
        """As metrics and the audit show it."""
        ...

    @property
    def scopes(self) -> Collection[str]:
        """What the credential scope of a signature may name."""
        ...

    @property
    def handlers(self) -> Mapping[str, Handler]: ...

    def named_in(self, body: bytes) -> "AwsService":
        """The service itself, where only the body tells which it is; no more is read of it before the signature is."""
        ...

    def action(self, target: str | None, body: bytes) -> str:
        """One of those served, or a typed refusal."""
        ...

    def read(self, action: str, body: bytes) -> Body:
        """What the action was given, if the service's own model allows it."""
        ...

    def success(self, action: str, result: Mapping[str, Any], *, request_id: str) -> Reply: ...

    def refusal(self, error: WaterclockError) -> Refusal:
        """By the service's own table."""
        ...

    def failure(self, refused: Refusal, *, request_id: str) -> Reply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonService:
    """AWS JSON 1.1: the target names service and action, the body is a JSON object."""

    name: str
    prefix: str  # of X-Amz-Target
    model: ServiceModel
    handlers: Mapping[str, Handler]
    refusals: Table = TABLE
    internal: str = INTERNAL
    told_as: str = "Message"

    @property
    def scopes(self) -> Collection[str]:
        return (self.name,)

    def named_in(self, body: bytes) -> "JsonService":
        return self

    def action(self, target: str | None, body: bytes) -> str:
        return parse_target(target, self.handlers, prefix=self.prefix)

    def read(self, action: str, body: bytes) -> Body:
        return self.model.validate(action, parse_body(body))

    def success(self, action: str, result: Mapping[str, Any], *, request_id: str) -> Reply:
        return success(result, request_id=request_id)

    def refusal(self, error: WaterclockError) -> Refusal:
        return refusal(error, self.refusals, internal=self.internal)

    def failure(self, refused: Refusal, *, request_id: str) -> Reply:
        return failure(refused, request_id=request_id, told_as=self.told_as)
