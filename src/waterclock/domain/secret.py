"""Secrets by name: how arguments refer to them. A reference is what is stored and shown; its value only a program gets.

`{{secret:NAME}}` anywhere in an argument's value stands for the secret's; `--secret-env` = `VARIABLE=NAME,…` gives
secrets as environment variables, which other users of the host do not see.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import Moment

ENVIRONMENT: Final = "--secret-env"
LEAST_BYTES: Final = 4  # a shorter one could not be masked without hiding half of every log
MOST_BYTES: Final = 64 * 1024

_OPENING: Final = "{{secret:"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_REFERENCE: Final = re.compile(r"\{\{secret:([A-Za-z0-9_.-]{1,128})\}\}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_OURS: Final = frozenset({"PATH", "HOME", "LANG", "PYTHONUNBUFFERED"})
_OUR_PREFIX: Final = "WATERCLOCK_"
_NOT_FOR_SECRETS: Final = "--additional-python-modules"  # it names a folder that is kept, and pip repeats it


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret as it is listed: all but its value, which nobody can read back."""

    name: str
    version: int
    owner: str
    description: str
    created_by: str  # of this version
    created_at: Moment  # the first version
    updated_at: Moment  # this version


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    arguments: Mapping[str, str]
    environment: Mapping[str, str]


def refers_to_secrets(arguments: Mapping[str, str]) -> bool:
    """Asked of every run that starts."""
    return ENVIRONMENT in arguments or any(_OPENING in value for value in arguments.values())


def secret_names(arguments: Mapping[str, str]) -> frozenset[str]:
    """The names that stand in these arguments, also where something else in them is wrong."""
    if not refers_to_secrets(arguments):
        return frozenset()
    named = {name for value in arguments.values() for name in _REFERENCE.findall(value)}
    return frozenset(named | {name for _, name in _pairs(arguments) if _NAME.fullmatch(name)})


def check_secrets(arguments: Mapping[str, str]) -> None:
    """Every reference can be read, or is refused by the name of its argument."""
    for key, value in arguments.items():
        if _OPENING not in value:
            continue
        if key == _NOT_FOR_SECRETS:
            raise InvalidInput("cannot refer to secrets: what it names is kept and shown", field=key)
        if _OPENING in _REFERENCE.sub("", value):
            raise InvalidInput(
                "a reference to a secret is {{secret:NAME}}; a name has 1 to 128 letters, digits, '_', '.', '-'",
                field=key,
            )
    if ENVIRONMENT in arguments:
        _check_environment(arguments)


def resolve(arguments: Mapping[str, str], values: Mapping[str, str]) -> Resolved:
    """As the program is given them; `values` has every name that the arguments refer to."""
    given = {
        key: _REFERENCE.sub(lambda found: values[found[1]], value)
        for key, value in arguments.items()
        if key != ENVIRONMENT
    }
    return Resolved(arguments=given, environment={variable: values[name] for variable, name in _pairs(arguments)})


def names_in(text: str) -> frozenset[str]:
    """The secrets that a text refers to."""
    return frozenset(_REFERENCE.findall(text)) if _OPENING in text else frozenset()


def with_values(text: str, values: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: values[found[1]], text) if _OPENING in text else text


def reference_to(name: str) -> str:
    return f"{_OPENING}{name}}}}}"


def is_secret_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def check_secret_name(name: str) -> None:
    if not is_secret_name(name):
        raise InvalidInput("a secret's name has 1 to 128 letters, digits, '_', '.', '-'", field="name")


def check_secret_value(value: str) -> None:
    """Never with the value in the answer."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput("must be UTF-8", field="value") from None
    if not LEAST_BYTES <= size <= MOST_BYTES:
        raise InvalidInput(f"must have {LEAST_BYTES} to {MOST_BYTES} bytes, not {size}", field="value")
    if "\0" in value:
        raise InvalidInput("cannot hold a NUL", field="value")
    if not value.strip():
        raise InvalidInput("is blank", field="value")
    if "\N{REPLACEMENT CHARACTER}" in value:
        raise InvalidInput("holds U+FFFD: it was not UTF-8 where it came from", field="value")


def _check_environment(arguments: Mapping[str, str]) -> None:
    variables: set[str] = set()
    for variable, name in _pairs(arguments):
        if not _VARIABLE.fullmatch(variable) or not _NAME.fullmatch(name):
            raise InvalidInput("must be VARIABLE=SECRET, several with commas", field=ENVIRONMENT)
        if variable in _OURS or variable.startswith(_OUR_PREFIX):
            raise InvalidInput(f"the variable {variable} is not yours to set", field=ENVIRONMENT)
        if variable in variables:
            raise InvalidInput(f"the variable {variable} is given twice", field=ENVIRONMENT)
        variables.add(variable)


def _pairs(arguments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Of `--secret-env`: variables, and the names of their secrets."""
    if ENVIRONMENT in arguments:
        pairs: Iterable[str] = arguments[ENVIRONMENT].split(",")
        yield from ((variable.strip(), name.strip()) for variable, _, name in (pair.partition("=") for pair in pairs))
