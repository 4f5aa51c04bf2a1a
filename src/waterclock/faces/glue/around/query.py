"""The query protocol of AWS's older services: a form in, XML out; the form's Version tells the service.

Parameters that an action does not know are passed over, as these services do.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from waterclock.domain.errors import Forbidden, InvalidInput, NotFound, Unauthenticated, Unavailable, WaterclockError
from waterclock.faces.glue.errors import Refusal, Table, WireError, refusal
from waterclock.faces.glue.protocol import Reply, closing, encodable
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.services import Body, Handler

CONTENT_TYPE: Final = "application/x-www-form-urlencoded"
MOST_PARAMETERS: Final = 100
LONGEST_SHOWN: Final = 128
TABLE: Final[Table] = (
    (InvalidInput, "ValidationError", 400),
    (NotFound, "NoSuchEntity", 404),
    (Forbidden, "AccessDenied", 403),
    (Unauthenticated, "InvalidClientTokenId", 403),
    (Unavailable, "ServiceUnavailable", 503),
)
# What the JSON services call these, these services call so.
NAMES: Final = {
    "InvalidSignatureException": "SignatureDoesNotMatch",
    "IncompleteSignatureException": "IncompleteSignature",
    "MissingAuthenticationTokenException": "MissingAuthenticationToken",
    "UnrecognizedClientException": "InvalidClientTokenId",
    "RequestEntityTooLargeException": "RequestEntityTooLarge",
    "RequestTimeoutException": "RequestTimeout",
}

_VERSION: Final = re.compile(rb"(?:^|&)Version=([0-9-]{10})(?:&|$)")
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class MalformedForm(WireError):
    name = "MalformedInput"


class UnknownAction(WireError):
    name = "InvalidAction"

    def __init__(self, action: str, version: str) -> None:
        super().__init__(f"Could not find operation {_cut(action)} for version {_cut(version)}")


class MissingAction(WireError):
    name = "MissingAction"

    def __init__(self) -> None:
        super().__init__("The request names no Action")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryService:
    """One service, or, before the body has told which, all of them: that one serves no action itself."""

    name: str
    scopes: Collection[str]
    model: ServiceModel
    handlers: Mapping[str, Handler]
    version: str = ""
    by_version: Mapping[str, "QueryService"] = field(default_factory=dict)

    def named_in(self, body: bytes) -> "QueryService":
        version = _VERSION.search(body)
        return self.by_version.get(version[1].decode(), self) if version else self

    def action(self, target: str | None, body: bytes) -> str:
        form = _form(body)
        action = form.get("Action")
        if not action:
            raise MissingAction
        if action not in self.handlers:
            raise UnknownAction(action, form.get("Version", "NO_VERSION_SPECIFIED"))
        return action

    def read(self, action: str, body: bytes) -> Body:
        known = self.model.shape(self.model.input_shape(action))["members"]
        return self.model.validate(action, {name: text for name, text in _form(body).items() if name in known})

    def success(self, action: str, result: Mapping[str, Any], *, request_id: str) -> Reply:
        content = {f"{action}Result": result, "ResponseMetadata": {"RequestId": request_id}}
        namespace = self.model.metadata["xmlNamespace"]
        body = _element(f"{action}Response", content, f' xmlns="{namespace}"')
        return Reply(status=200, headers=_headers(request_id), body=body.encode())

    def refusal(self, error: WaterclockError) -> Refusal:
        refused = refusal(error, TABLE, internal="InternalFailure")
        return replace(refused, name=NAMES.get(refused.name, refused.name))

    def failure(self, refused: Refusal, *, request_id: str) -> Reply:
        told = {
            "Type": "Sender" if refused.status < 500 else "Receiver",
            "Code": refused.name,
            "Message": encodable(refused.message),
        }
        body = _element("ErrorResponse", {"Error": told, "RequestId": request_id})
        headers = {**_headers(request_id), **closing(refused)}
        return Reply(status=refused.status, headers=headers, body=body.encode())


def of(*services: QueryService) -> QueryService:
    """Where a form has come and nothing of it has been read yet."""
    return QueryService(
        name="query",
        scopes=tuple(scope for service in services for scope in service.scopes),
        model=ServiceModel("query", ()),
        handlers={},
        by_version={service.version: service for service in services},
    )


def _form(body: bytes) -> dict[str, str]:
    """Where a name comes twice, the last counts."""
    try:
        text = body.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS))
    except ValueError:
        raise MalformedForm(f"The body must be a form of at most {MOST_PARAMETERS} parameters in UTF-8") from None


def _element(name: str, content: object, attributes: str = "") -> str:
    inside = (
        "".join(_element(member, value) for member, value in content.items())
        if isinstance(content, Mapping)
        else escape(_NOT_XML.sub("\ufffd", str(content)))
    )
    return f"<{name}{attributes}>{inside}</{name}>"


def _headers(request_id: str) -> dict[str, str]:
    return {"content-type": "text/xml", "x-amzn-RequestId": request_id}


def _cut(text: str) -> str:
    return text[:LONGEST_SHOWN]
