"""What is read of a sync's task before its program runs: its mode, and the sources that go with it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_references import NAME, NUMBER
from waterclock.domain.lake_sync import SyncMode

MODE_ARGUMENT: Final = "--sync-mode"  # of one run: it goes before what the job says


def sync_mode(task: Mapping[str, object], arguments: Mapping[str, str]) -> SyncMode:
    """FullSync where nothing is said: it is right whatever was there before."""
    given = arguments.get(MODE_ARGUMENT) or task.get("sync_mode") or SyncMode.FULL
    try:
        return SyncMode(str(given))
    except ValueError:
        raise InvalidInput(f"must be {' or '.join(SyncMode)}", field="sync_mode", value=str(given)) from None


def source_ids(task: Mapping[str, object]) -> frozenset[int]:
    """Of the source that it reads, and of those that its outputs, destinations, are written to."""
    info = task.get("query_info")
    within = info.get("outputs") if isinstance(info, Mapping) else None
    outputs = (*_list(task.get("destinations")), *_list(task.get("outputs")), *_list(within))
    configs = [each.get("config") for each in outputs if isinstance(each, Mapping)]
    return frozenset(_numbers([task, *(each for each in configs if isinstance(each, Mapping))]))


def _numbers(places: Sequence[Mapping[str, object]]) -> Iterator[int]:
    """What a job names by `source` is kept as a number, too."""
    for place in places:
        found = (place.get(key) for key in (NUMBER, NAME))
        yield from (number for number in found if isinstance(number, int) and not isinstance(number, bool))


def _list(given: object) -> Sequence[object]:
    return given if isinstance(given, list | tuple) else ()
