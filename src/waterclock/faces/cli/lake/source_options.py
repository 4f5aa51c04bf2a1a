"""A source's config as options: common fields by their own names, any other by --set, secrets from files."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import click

from waterclock.domain.lake_source_secrets import MASK, refers, secret_places
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.content import STDIN, read_content
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.lake.calling import listed
from waterclock.faces.cli.parameters import PAIR

Config = dict[str, Any]

FIELDS: Final = {
    "host": "Of a database or an SFTP server.",
    "database": "Of a database server.",
    "user": "Of a database or an SFTP server.",
    "path": "Of an SQLite file or a local folder.",
    "base_url": "Of a service or a web server.",
    "bucket": "Of S3.",
    "endpoint": "Of S3, where it is not Amazon's.",
    "region": "Of S3.",
    "access_key": "Of S3.",
}


def configured(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        (
            *(click.option(f"--{name.replace('_', '-')}", help=said) for name, said in FIELDS.items()),
            click.option("--port", type=click.IntRange(1, 65_535), help="Of a server.  [default: the usual one]"),
            click.option("--password-file", metavar="FILE", help="A file with its password; -: standard input."),
            click.option(
                "--set", "others", type=PAIR, multiple=True, help="Any other field, JSON or text; repeatable."
            ),
            click.option(
                "--secret-file",
                "files",
                type=PAIR,
                multiple=True,
                metavar="FIELD=FILE",
                help="A file with the secret of this field, such as auth.token; -: standard input; repeatable.",
            ),
        )
    ):
        command = option(command)
    return command


def source_config(given: Mapping[str, Any]) -> Config:
    """What was given of it, as the server takes it."""
    config = {name: given[name] for name in (*FIELDS, "port") if given[name] is not None}
    put_values(config, given["others"])
    _refuse_open_secrets(config)
    files = [*given["files"], *([("password", given["password_file"])] if given["password_file"] else [])]
    if [file for _, file in files].count(STDIN) > 1:
        raise Refused("standard input can hold one secret: put the others into files")
    for field, file in files:
        _put(config, field, _secret(field, file))
    return config


def put_values(config: Config, given: Sequence[tuple[str, str]]) -> None:
    """Each where its name says: `options.sslmode`."""
    for field, value in given:
        _put(config, field, _value(value))


def with_changes(config: Config, changes: Config, unset: Sequence[str]) -> Config:
    """What holds further fields is changed field by field; another way to log in takes the place of the last."""
    if "type" in changes.get("auth", {}):
        config = {**config, "auth": {}}
    changed = {**config, **changes}
    for name in config.keys() & changes.keys():
        if isinstance(config[name], dict) and isinstance(changes[name], dict):
            changed[name] = {**config[name], **changes[name]}
    for field in unset:
        _take(changed, field)
    return changed


def source_id(client: Client, given: str) -> int:
    """Of a name or a number."""
    if given.isascii() and given.isdigit():
        return int(given)
    found = next((each for each in listed(client, "source", keyword=given) if each["name"] == given), None)
    if found is None:
        raise Refused(f"there is no source {given!r}: see waterclock lake source list")
    return int(found["source_id"])


def _refuse_open_secrets(config: Config) -> None:
    for place, value in secret_places(config):
        field = ".".join(place)
        if not isinstance(value, str) or not (refers(value) or value == MASK):
            raise Refused(
                f"--set {field}: others see a command line: give --secret-file {field}=FILE (-: standard input), "
                f"or {field}={{{{secret:NAME}}}}"
            )


def _put(config: Config, field: str, value: object) -> None:
    outer, dot, inner = field.partition(".")
    if not dot:
        config[outer] = value
    elif isinstance(config.setdefault(outer, {}), dict):
        config[outer] = {**config[outer], inner: value}
    else:
        raise Refused(f"--set {field}: {outer} is given as a whole, too")


def _take(config: Config, field: str) -> None:
    outer, dot, inner = field.partition(".")
    whole = config.get(outer)
    if outer not in config or (dot and (not isinstance(whole, dict) or inner not in whole)):
        raise Refused(f"--unset {field}: there is no such field")
    if dot and isinstance(whole, dict):
        config[outer] = {name: value for name, value in whole.items() if name != inner}
    else:
        del config[outer]


def _value(text: str) -> object:
    """Numbers, flags, lists and objects as JSON has them; all else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _secret(field: str, file: str) -> str:
    """An end of a line behind a single line is the editor's; a key of several lines is taken as it is."""
    try:
        content = read_content(file)
    except OSError as problem:
        raise Refused(f"{field}: {file}: {problem.strerror}") from None
    line = content.removesuffix("\n").removesuffix("\r")
    return line if "\n" not in line else content
