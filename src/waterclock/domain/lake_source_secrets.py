"""The secrets in a source's config: where they stand, what they are called, and what people are shown instead.

One that is given in the open becomes a secret of the organisation, whose reference stands in the config from then on.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_sync import LakeSource
from waterclock.domain.secret import names_in, reference_to

MASK: Final = "******"

Config = Mapping[str, object]
Place = tuple[str, ...]

_FIELDS: Final = frozenset({"password", "private_key", "secret_key", "token", "service_account", "url"})
_OF_AUTH: Final = frozenset({"password", "token", "client_secret", "value"})
_WORDS: Final = ("headers", "options")
_WORD: Final = re.compile(r"auth|cookie|token|key|secret|passw", re.IGNORECASE)


def is_secret_word(name: str) -> bool:
    """Of a header or an option, by which they are told from the harmless ones."""
    return _WORD.search(name) is not None


def refers(text: str) -> bool:
    return bool(names_in(text))


def secret_texts(config: Config) -> dict[Place, str]:
    """Each secret by its place: in the open, a reference, or masked."""
    return {place: value for place, value in secret_places(config) if isinstance(value, str)}


def secret_places(config: Config) -> Iterator[tuple[Place, object]]:
    """Also of a config that nobody has checked yet: whatever stands there."""
    for name, value in config.items():
        if name in _FIELDS:
            yield (name,), value
        elif isinstance(value, Mapping) and name in _WORDS:
            yield from (((name, each), value[each]) for each in value if is_secret_word(str(each)))
        elif isinstance(value, Mapping) and name == "auth":
            yield from ((("auth", each), value[each]) for each in value if each in _OF_AUTH)


def name_of(source_id: int, place: Place) -> str:
    return f"source-{source_id}-{'-'.join(place).lower()}"


def own_secrets(source: LakeSource) -> frozenset[str]:
    """Those that were made for it, which go when it goes."""
    found = secret_texts(source.config)
    return frozenset(name_of(source.id, place) for place, text in found.items() if _is_own(source.id, place, text))


def with_values_at(config: Config, values: Mapping[Place, str]) -> dict[str, object]:
    return {name: _changed(value, (name,), values) for name, value in config.items()}


def with_kept(config: Config, stored: Config) -> dict[str, object]:
    """What is sent as it was shown is what is stored."""
    there = secret_texts(stored)
    kept = {}
    for place, text in secret_texts(config).items():
        if text == MASK and place not in there:
            where = ".".join(("config", *place))
            raise InvalidInput("there is nothing stored that it could stand for: give the secret", field=where)
        if text == MASK:
            kept[place] = there[place]
    return with_values_at(config, kept)


def in_the_open(config: Config) -> dict[Place, str]:
    """What is to be made a secret."""
    return {place: text for place, text in secret_texts(config).items() if not refers(text)}


def referring(source_id: int, config: Config) -> dict[str, object]:
    return with_values_at(config, {place: reference_to(name_of(source_id, place)) for place in in_the_open(config)})


def shown(source: LakeSource) -> dict[str, object]:
    """A reference that somebody gave is nothing secret; one that was made for them tells them nothing."""
    found = secret_texts(source.config)
    return with_values_at(source.config, {place: MASK for place, text in found.items() if not _is_given(source, place)})


def _changed(value: object, place: Place, values: Mapping[Place, str]) -> object:
    if isinstance(value, Mapping):
        return {name: values.get((*place, name), each) for name, each in value.items()}
    return values.get(place, value)


def _is_given(source: LakeSource, place: Place) -> bool:
    text = secret_texts(source.config)[place]
    return refers(text) and not _is_own(source.id, place, text)


def _is_own(source_id: int, place: Place, text: str) -> bool:
    return text == reference_to(name_of(source_id, place))
