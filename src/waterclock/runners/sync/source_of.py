"""From a source's kind to what reads it; what a kind needs is imported when one is wanted."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, cast

from waterclock.domain.lake_sync import READ_BY, SourceKind, SyncKind
from waterclock.runners.sync.source import Means, Source

_DATABASES: Final = READ_BY[SyncKind.DB]
_SERVICES: Final = READ_BY[SyncKind.SERVICE]


def source_of(kind: SourceKind, config: Mapping[str, Any], means: Means) -> Source:
    """`config`: with its secrets. Nothing is asked before the first call of the source."""
    if kind in _DATABASES:
        return cast(Source, _module("databases").database_source(kind, config, means))
    if kind in _SERVICES:
        return cast(Source, _module("rest").rest_source(config, means))
    return cast(Source, _module("files").file_source(kind, config, means))


def _module(name: str) -> Any:
    return import_module(f"waterclock.runners.sync.{name}")
