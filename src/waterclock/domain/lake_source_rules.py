"""What a source's config may hold, by its kind; whatever is wrong with it is refused by its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_secrets import check_lake_secrets
from waterclock.domain.lake_source_checks import (
    CONTROL,
    Check,
    account,
    address,
    flag,
    headers,
    host,
    number_up_to,
    one_of,
    secret,
    sql_address,
    text,
    texts,
    whole_number,
    words,
)
from waterclock.domain.lake_sync import SourceKind

LONGEST_NAME: Final = 255
MOST_RETRIES: Final = 100
MOST_PER_SECOND: Final = 10_000
MOST_SECONDS: Final = 3_600
CONFIG: Final = "config"

Config = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDraft:
    """What a caller decides about a source. Its secrets may stand in its config in the open: it is never shown."""

    name: str
    kind: SourceKind
    config: Config = field(repr=False)


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a config; what is `usual` is filled in."""

    check: Check
    required: bool = False
    usual: object = None


def check_source_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME or CONTROL.search(name):
        raise InvalidInput(f"must have 1 to {LONGEST_NAME} characters, none of them a control character", field="name")
    if name.isdigit():
        raise InvalidInput("must not be digits alone: a job may name a source by its number", field="name")


def checked_config(kind: SourceKind, given: object) -> dict[str, object]:
    """As it is kept, its secrets still in it; what is null is as good as not given."""
    config = _whole(kind, _members(CONFIG, given, FIELDS[kind]))
    if kind is SourceKind.GOOGLE_SHEETS:
        _one_way_in(config, "service_account", "public")
    if kind is SourceKind.SFTP:
        _one_way_in(config, "password", "private_key")
    if kind is SourceKind.S3 and ("access_key" in config) != ("secret_key" in config):
        raise InvalidInput("access_key and secret_key go together, or neither is given", field=CONFIG)
    try:
        check_lake_secrets(config)
    except InvalidInput as problem:
        raise InvalidInput(problem.reason, field=f"{CONFIG}.{problem.field}") from None
    return config


def _whole(kind: SourceKind, given: Mapping[str, object]) -> dict[str, object]:
    found = {name: given.get(name, each.usual) for name, each in FIELDS[kind].items()}
    if isinstance(given_account := found.get("service_account"), Mapping):
        found["service_account"] = json.dumps(given_account)
    return {name: value for name, value in found.items() if value is not None}


def _members(place: str, given: object, fields: Mapping[str, Field]) -> dict[str, object]:
    if not isinstance(given, Mapping):
        raise InvalidInput("must be a JSON object", field=place)
    found = {str(name): value for name, value in given.items() if value is not None}
    for name in found:
        if name not in fields:
            raise InvalidInput(f"unknown field; known here: {', '.join(fields)}", field=f"{place}.{name[:64]}")
    for name, each in fields.items():
        if name in found:
            each.check(f"{place}.{name}", found[name])
        elif each.required:
            raise InvalidInput("is required", field=f"{place}.{name}")
    return found


def _one_way_in(config: Config, first: str, other: str) -> None:
    if bool(config.get(first)) == bool(config.get(other)):
        raise InvalidInput(f"give {first} or {other}, one of them", field=CONFIG)


def _auth(field: str, value: object) -> None:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in AUTH:
        raise InvalidInput(f"must be one of {', '.join(AUTH)}", field=f"{field}.type")
    _members(field, value, {"type": Field(text), **AUTH[kind]})


AUTH: Final[Mapping[str, Mapping[str, Field]]] = {
    "none": {},
    "bearer": {"token": Field(secret, required=True)},
    "basic": {"user": Field(text, required=True), "password": Field(secret)},
    "api_key": {
        "name": Field(text, required=True),
        "value": Field(secret, required=True),
        "in": Field(one_of("header", "query")),
    },
    "oauth2_client": {
        "token_url": Field(address, required=True),
        "client_id": Field(text, required=True),
        "client_secret": Field(secret, required=True),
        "scope": Field(text),
        "secret_in": Field(one_of("header", "body")),
    },
}
_PORT: Final = whole_number(1, 65_535)


def _server(port: int) -> dict[str, Field]:
    return {"host": Field(host, required=True), "port": Field(_PORT, usual=port), "user": Field(text, required=True)}


def _database(port: int) -> dict[str, Field]:
    return {
        **_server(port),
        "password": Field(secret),
        "database": Field(text, required=True),
        "options": Field(words),
    }


_WEB: Final = {
    "base_url": Field(address, required=True),
    "headers": Field(headers),
    "auth": Field(_auth),
    "rate_limit_per_second": Field(number_up_to(MOST_PER_SECOND)),
    "retries": Field(whole_number(0, MOST_RETRIES)),
    "timeout_seconds": Field(number_up_to(MOST_SECONDS)),
}
FIELDS: Final[Mapping[SourceKind, Mapping[str, Field]]] = {
    SourceKind.POSTGRESQL: _database(5_432),
    SourceKind.MYSQL: _database(3_306),
    SourceKind.SQLITE: {"path": Field(text, required=True)},
    SourceKind.SQLALCHEMY: {"url": Field(sql_address, required=True)},
    SourceKind.REST: {**_WEB, "endpoints": Field(texts)},
    SourceKind.S3: {
        "endpoint": Field(address),
        "region": Field(text),
        "bucket": Field(text, required=True),
        "access_key": Field(text),
        "secret_key": Field(secret),
    },
    SourceKind.HTTP: _WEB,
    SourceKind.SFTP: {
        **_server(22),
        "password": Field(secret),
        "private_key": Field(secret),
        "host_key": Field(text),
    },
    SourceKind.LOCAL: {"path": Field(text, required=True)},
    SourceKind.GOOGLE_SHEETS: {
        "service_account": Field(account),
        "public": Field(flag),
        "token_uri": Field(address),
        "base_url": Field(address),
    },
}
