"""Checks of single fields of a source's config: what they say never has the value in it, which may be a secret."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_source_secrets import MASK, is_secret_word, refers
from waterclock.domain.secret import check_secret_value

LONGEST_TEXT: Final = 1_000
MOST_WORDS: Final = 100  # headers or options

Check = Callable[[str, object], None]

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"[^\s/@?#\\]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SQL: Final = re.compile(r"[A-Za-z0-9_]+(\+[A-Za-z0-9_]+)?://", re.ASCII)
_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection", "authorization"})
_LOCAL_SQL: Final = ("sqlite", "duckdb")


def text(field: str, value: object) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT or CONTROL.search(value):
        raise InvalidInput(f"must be text of 1 to {LONGEST_TEXT} characters, no control characters", field=field)


def host(field: str, value: object) -> None:
    text(field, value)
    if not _HOST.fullmatch(str(value)):
        raise InvalidInput("must be a name or an address alone, such as db.example.com", field=field)


def whole_number(least: int, most: int) -> Check:
    def check(field: str, value: object) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InvalidInput(f"must be a whole number, {least} to {most}", field=field)

    return check


def number_up_to(most: float) -> Check:
    def check(field: str, value: object) -> None:
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
            raise InvalidInput(f"must be a number above 0, up to {most:g}", field=field)

    return check


def flag(field: str, value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidInput("must be true or false", field=field)


def address(field: str, value: object) -> None:
    text(field, value)
    parts = _parts(str(value))
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("must begin with http:// or https:// and a host", field=field)
    if "@" in parts.netloc:
        raise InvalidInput("must not hold a user or a password: everybody is shown it", field=field)
    if parts.query or parts.fragment:
        raise InvalidInput("must not hold a query or a fragment", field=field)


def secret(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInput("must be text", field=field)
    if value == MASK or refers(value):
        return
    if not value:
        raise InvalidInput("is empty: leave it out where there is none", field=field)
    try:
        check_secret_value(value)
    except InvalidInput as problem:
        raise InvalidInput(problem.reason, field=field) from None


def account(field: str, value: object) -> None:
    """Of a service, as Google gives it out: a JSON file."""
    if isinstance(value, str) and (value == MASK or refers(value)):
        return
    try:
        account = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        account = None
    if not isinstance(account, Mapping) or not {"client_email", "private_key"} <= account.keys():
        raise InvalidInput("must be the JSON of a service account, with client_email and private_key", field=field)
    secret(field, json.dumps(account))


def sql_address(field: str, value: object) -> None:
    secret(field, value)
    given = str(value)
    if given == MASK or given.startswith("{{secret:"):
        return
    if not _SQL.match(given):
        raise InvalidInput(
            "must be an address of SQLAlchemy, such as mssql+pymssql://user:password@host/db", field=field
        )
    if given.partition("://")[0].partition("+")[0].lower() in _LOCAL_SQL:
        raise InvalidInput("is a file of the worker: its kind is sqlite or local", field=field)
    password = given.partition("://")[2].rpartition("@")[0].partition(":")[2]
    if refers(given) and password and not refers(password):
        raise InvalidInput("has a password beside a reference: refer to it, too, or give all in the open", field=field)


def words(field: str, value: object) -> None:
    """Headers or options. Those that are secrets by their names are kept as such, so they have to be long enough."""
    if not isinstance(value, Mapping) or len(value) > MOST_WORDS:
        raise InvalidInput(f"must be an object of at most {MOST_WORDS} texts", field=field)
    for name, each in value.items():
        if not isinstance(name, str) or not _WORD.fullmatch(name):
            raise InvalidInput("names have 1 to 64 letters, digits, '_', '.', '-'", field=field)
        (secret if is_secret_word(name) else text)(f"{field}.{name}", each)
    if len({name.lower() for name in value}) < len(value):
        raise InvalidInput("has a name twice, in small letters and in capitals", field=field)


def headers(field: str, value: object) -> None:
    words(field, value)
    if isinstance(value, Mapping) and (ours := sorted(name for name in value if name.lower() in _OURS)):
        raise InvalidInput("is not yours to set: auth is for logins", field=f"{field}.{ours[0]}")


def texts(field: str, value: object) -> None:
    if not isinstance(value, list | tuple) or len(value) > MOST_WORDS:
        raise InvalidInput(f"must be a list of at most {MOST_WORDS} texts", field=field)
    for number, each in enumerate(value):
        text(f"{field}[{number}]", each)


def one_of(*known: str) -> Check:
    def check(field: str, value: object) -> None:
        if value not in known:
            raise InvalidInput(f"must be one of {', '.join(known)}", field=field)

    return check


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # it is read only now, and may be none
    except ValueError:
        return None
    return parts
