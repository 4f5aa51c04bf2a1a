"""The secrets of a lake job: `{{secret:NAME}}` in any text of its task, and the one that its `credentials` name.

Its runs carry references to all of them as an argument that nobody can override. So whoever hands out secrets, or shows
a log, knows them as those of any other run.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from waterclock.domain.secret import check_secrets, is_secret_name, names_in, reference_to, with_values

ARGUMENT: Final = "--secrets"
CREDENTIALS: Final = "credentials"


def secret_arguments(task: Mapping[str, object]) -> dict[str, str]:
    """The fixed arguments of its job."""
    names = secrets_of(task)
    return {ARGUMENT: " ".join(map(reference_to, sorted(names)))} if names else {}


def secrets_of(task: Mapping[str, object]) -> frozenset[str]:
    credentials = _credentials(task)
    return secrets_in(task) | {credentials} if credentials else secrets_in(task)


def secrets_in(config: Mapping[str, object]) -> frozenset[str]:
    """Of a source, where no field is the name of one by itself."""
    return frozenset(name for _, text in _texts(config) for name in names_in(text))


def more_secrets(arguments: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The arguments of a run that refer to these, too, beside all that they referred to before."""
    known = names_in(arguments.get(ARGUMENT, ""))
    if known.issuperset(names):
        return dict(arguments)
    return {**arguments, ARGUMENT: " ".join(map(reference_to, sorted(known.union(names))))}


def check_lake_secrets(task: Mapping[str, object]) -> None:
    """Every reference can be read, or is refused by its place: `query_info.outputs[0].config.table_name`."""
    check_secrets(dict(_texts(task)))


def with_secrets(task: Mapping[str, object], values: Mapping[str, str]) -> dict[str, object]:
    """The task as its program is told it; `values` has all of `secrets_of`."""
    resolved, credentials = config_with(task, values), _credentials(task)
    return {**resolved, CREDENTIALS: values[credentials]} if credentials else resolved


def config_with(config: Mapping[str, object], values: Mapping[str, str]) -> dict[str, object]:
    """Of a source, as a program is told it; `values` has all of `secrets_in`."""
    return {name: _resolved(item, values) for name, item in config.items()}


def _credentials(task: Mapping[str, object]) -> str | None:
    given = task.get(CREDENTIALS)
    return given if isinstance(given, str) and is_secret_name(given) else None


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield place, value
        case Mapping():
            for name, item in value.items():
                yield from _texts(item, f"{place}.{name}".removeprefix("."))
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _texts(item, f"{place}[{number}]")


def _resolved(value: object, values: Mapping[str, str]) -> object:
    match value:
        case str():
            return with_values(value, values)
        case Mapping():
            return {name: _resolved(item, values) for name, item in value.items()}
        case list() | tuple():
            return [_resolved(item, values) for item in value]
    return value
