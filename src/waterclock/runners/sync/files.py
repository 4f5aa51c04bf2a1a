"""Files as a source: those that match a pattern, in one schema; an incremental sync reads what is new or changed.

The columns are named and typed by the first rows of each file (`LOOKED_AT_ROWS`), brought together by name. A value
further on that does not fit is a bad line.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from waterclock.domain.lake_sync import SourceKind, SyncMode
from waterclock.runners.sync.file_bookmark import Read, bookmark_of
from waterclock.runners.sync.file_rows import FileRows
from waterclock.runners.sync.formats.columns import settled, together, wanted_of
from waterclock.runners.sync.formats.format import BadLines, File, Format
from waterclock.runners.sync.formats.formats_of import FORMATS
from waterclock.runners.sync.formats.options import Options, format_of, options_of, skips_bad_lines
from waterclock.runners.sync.places.http import HttpPlace
from waterclock.runners.sync.places.local import LocalPlace
from waterclock.runners.sync.places.place import Found, Place
from waterclock.runners.sync.places.s3 import S3Place
from waterclock.runners.sync.places.sftp import SftpPlace
from waterclock.runners.sync.source import Means, Rows, Source, SourceFailed, Wanted

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_LISTED: Final = 1_000
_FILES_OF_A_PREVIEW: Final = 10
_UNSHOWN: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # a name that is not UTF-8 has such halves
_PLACES: Final[Mapping[SourceKind, Callable[[Mapping[str, Any], Means], Place]]] = {
    SourceKind.LOCAL: LocalPlace,
    SourceKind.S3: S3Place,
    SourceKind.HTTP: HttpPlace,
    SourceKind.SFTP: SftpPlace,
}


def file_source(kind: SourceKind, config: Mapping[str, Any], means: Means) -> Source:
    if kind is SourceKind.GOOGLE_SHEETS:
        from waterclock.runners.sync.sheets import sheet_source

        return sheet_source(config, means)
    return FileSource(_PLACES[kind](config, means))


class FileSource:
    def __init__(self, place: Place) -> None:
        self._place = place

    def test(self) -> str:
        with closing(self._place):
            return self._place.test()

    def tables(self) -> Sequence[str]:
        """The first files that are there, by name; a web server lists none."""
        if not self._place.is_listed:
            return []
        with closing(self._place):
            return [found.name for found in self._place.find("**", most=_MOST_LISTED)]

    def read(self, wanted: Wanted) -> Rows:
        files = self._found(_patterns(wanted.task))
        names = [each.name for each in files]
        options = options_of(wanted.task, names)
        return rows_of(self._place, files, wanted, options, lambda: FORMATS[format_of(wanted.task, names)](options))

    def _found(self, patterns: Sequence[str]) -> Sequence[Found]:
        found = {each.name: each for pattern in patterns for each in self._place.find(pattern)}
        if wrong := next((name for name in found if _UNSHOWN.search(name)), None):
            raise SourceFailed(f"{self._place.where}: the name {wrong!a} holds what cannot be shown: rename it")
        return list(found.values())


def rows_of(
    place: Place, files: Sequence[Found], wanted: Wanted, options: Options, format: Callable[[], Format]
) -> FileRows:
    """What is to be read of these files: all, or what the last run did not read."""
    is_full = wanted.since is None or wanted.task.get("sync_mode") == SyncMode.FULL
    read = Read(None if is_full else wanted.since)
    if not files and (is_full or read.schema is None):
        raise SourceFailed(f"{place.where}: no file matches {', '.join(_patterns(wanted.task))}")
    new = [each for each in files if not read.has(each)]
    is_preview = wanted.most_rows is not None
    looked_at = new[:_FILES_OF_A_PREVIEW] if is_preview else new
    schema = None if new else read.schema
    if schema is None:
        schema = _schema(place, format(), looked_at or files, read.schema, options)
    bookmark = None if is_preview else _bookmark(files, schema, wanted.task)
    return FileRows(
        place,
        format,
        looked_at,
        schema=schema,
        bad=BadLines(skips=is_preview or skips_bad_lines(wanted.task)),
        batch_rows=wanted.batch_rows,
        most_rows=wanted.most_rows,
        bookmark=lambda: bookmark,
    )


def _bookmark(files: Sequence[Found], schema: "pa.Schema", task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A full sync can do without: an incremental one after it reads all again."""
    is_incremental = task.get("sync_mode") == SyncMode.INCREMENTAL
    if is_incremental and not task.get("key_columns"):
        _check_versions(files)
    try:
        return bookmark_of(files, schema)
    except SourceFailed:
        if is_incremental:
            raise
        return None


def _check_versions(files: Sequence[Found]) -> None:
    if unknown := next((each.name for each in files if not each.version), None):
        raise SourceFailed(
            f"{unknown} has no version (ETag or Last-Modified), so that each incremental sync would add it again: "
            "give key_columns, or sync it by FullSync"
        )


def _schema(
    place: Place, format: Format, files: Sequence[Found], before: "pa.Schema | None", options: Options
) -> "pa.Schema":
    """Columns that no new file has are not asked for: what they hold there stays."""
    import pyarrow as pa

    looks = [(each.name, look) for each in files if (look := _look(place, format, each)) is not None]
    if not looks:
        shown = ", ".join(each.name for each in files[:3])
        raise SourceFailed(f"{place.where}: there is nothing that can be read in the files that match ({shown} …)")
    there = {name for _, look in looks for name in look.names}
    known = pa.schema([field for field in before or () if field.name in there])
    asked = [(name, wanted_of(look, options)) for name, look in [("earlier files", known), *looks]]
    return settled(together(asked, has_types=format.has_types), options)


def _look(place: Place, format: Format, found: Found) -> "pa.Schema | None":
    with closing(place.open(found)) as stream:
        return format.look(File(name=found.name, stream=stream))


def _patterns(task: Mapping[str, Any]) -> Sequence[str]:
    path = task.get("path")
    paths = [path] if isinstance(path, str) else path
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(each, str) and each for each in paths):
        raise SourceFailed("path is missing: the name of a file, a pattern such as orders/*.csv, or a list of them")
    return list(paths)
