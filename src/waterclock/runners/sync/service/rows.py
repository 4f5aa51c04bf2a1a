"""The records of a service as Arrow batches: a sample decides the columns, then page by page, never all at once."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sync.service.client import Client
from waterclock.runners.sync.service.columns import Columns, Kind, Misfit, fitted, is_whole
from waterclock.runners.sync.service.job import Reading
from waterclock.runners.sync.service.overlap import Overlap
from waterclock.runners.sync.service.pages import Page, pages_of
from waterclock.runners.sync.service.path import shape_of
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.service.watermark import Watermark
from waterclock.runners.sync.source import SourceFailed, Wanted

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE_BYTES: Final = 8 * 1024 * 1024  # of pages: a sample ends here, whatever infer_records says
MOST_COLUMNS: Final = 2_000
BATCH_SECONDS: Final = 5.0  # so that it is seen that a slow service is being read
BATCH_BYTES: Final = 8 * 1024 * 1024  # of pages, as a rule of thumb for the records in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    page: int
    number: int  # from 1, in its page
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What is new in a page."""

    bytes: int  # of the page
    records: list[_Record]


class RestRows:
    """`bad_lines`: records that were left out, where the job says so."""

    def __init__(
        self, client: Client, reading: Reading, wanted: Wanted, watermark: Watermark | None, times: Times
    ) -> None:
        self._client, self._reading, self._wanted, self._watermark = client, reading, wanted, watermark
        self._times = times
        self.bad_lines = 0
        self._overlap = Overlap(reading.unique)
        self._left = wanted.most_rows
        self._pages = pages_of(client, reading, watermark.params if watermark else {})
        self._columns = Columns(reading.types, _known(wanted))
        self._sample = self._sampled()
        self._kinds = self._columns.kinds
        _check(self._kinds, reading.endpoint)
        if not self._kinds and wanted.since is None:  # else nothing is new, and nothing will be written
            raise SourceFailed(
                f"{reading.endpoint}: no record came, so its columns are not known: name them in types of the job"
            )

    @property
    def schema(self) -> "pa.Schema":
        import pyarrow as pa

        return pa.schema([(name, _arrow(kind)) for name, kind in self._kinds.items()])

    @property
    def total(self) -> int | None:
        return self._total if self._wanted.since is None else None  # of all records, not of the new ones

    def batches(self) -> Iterator["pa.RecordBatch"]:
        rows: list[list[Any]] = []
        size, began = 0, self._times.monotonic()
        for part in self._parts():
            size += part.bytes
            for record in part.records:
                rows += self._fitted(record)
                if len(rows) >= self._wanted.batch_rows:
                    yield self._batch(rows)
                    rows = []
            if rows and (size >= BATCH_BYTES or self._times.monotonic() - began >= BATCH_SECONDS):
                yield self._batch(rows)
                rows, size, began = [], 0, self._times.monotonic()
        if rows:
            yield self._batch(rows)

    def bookmark(self) -> Mapping[str, Any] | None:
        if self._watermark is None:
            return None
        return {**self._watermark.bookmark, "columns": {name: kind.value for name, kind in self._kinds.items()}}

    def close(self) -> None:
        self._client.close()

    # Pages

    def _sampled(self) -> list[_Part]:
        sample: list[_Part] = []
        count = size = 0
        self._total: int | None = None
        for page, records in self._rest():
            self._total = page.total if page.number == 1 else self._total
            sample.append(_Part(bytes=page.bytes, records=records))
            self._columns.see(each for each in page.records if isinstance(each, Mapping))  # those that are not new, too
            count, size = count + len(page.records), size + page.bytes
            if count >= self._reading.infer_records or size >= SAMPLE_BYTES:
                break
        return sample

    def _parts(self) -> Iterator[_Part]:
        """The sample, each page of which is let go once it is written, and all that follow."""
        self._sample.reverse()
        while self._sample:
            yield self._sample.pop()
        for page, records in self._rest():
            yield _Part(bytes=page.bytes, records=records)

    def _rest(self) -> Iterator[tuple[Page, list[_Record]]]:
        while self._left is None or self._left > 0:
            if (page := next(self._pages, None)) is None:
                return
            records = list(itertools.islice(self._new(page), self._left))
            if self._left is not None:
                self._left -= len(records)
            yield page, records

    def _new(self, page: Page) -> Iterator[_Record]:
        for number, fields in enumerate(page.records, 1):
            if not isinstance(fields, Mapping):
                self._bad(page.number, number, f"it is {shape_of(fields)}, and no object: check records of the job")
                continue
            if self._overlap.holds(page.number, fields):
                continue
            where = self._where(page.number, number)
            if self._watermark is None or self._watermark.takes(fields, where):
                yield _Record(page=page.number, number=number, fields=fields)

    # Records

    def _fitted(self, record: _Record) -> list[list[Any]]:
        """One row, or none where a bad one is left out."""
        try:
            row = [fitted(name, record.fields.get(name), kind) for name, kind in self._kinds.items()]
        except Misfit as misfit:
            hint = "its type was found in the first records: give infer_records or types"
            self._bad(record.page, record.number, f"{misfit} ({hint})")
            return []
        if (
            new := []
            if self._reading.ignores_new_fields
            else [name for name in record.fields if name not in self._kinds]
        ):
            hint = "none of the first records had it: give infer_records, types or new_fields ignore"
            self._bad(record.page, record.number, f"the field {new[0]!r} is new ({hint})")
            return []
        return [row]

    def _bad(self, page: int, number: int, why: str) -> None:
        if not self._reading.skips_bad:
            raise SourceFailed(f"{self._where(page, number)}: {why}")
        self.bad_lines += 1

    def _where(self, page: int, number: int) -> str:
        return f"{self._reading.endpoint}, page {page}, record {number}"

    def _batch(self, rows: list[list[Any]]) -> "pa.RecordBatch":
        import pyarrow as pa

        schema = self.schema
        columns = [pa.array(values, each.type) for values, each in zip(zip(*rows, strict=True), schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _known(wanted: Wanted) -> Mapping[str, Kind]:
    """Of the last run: a column that is null this time, or whole by chance, is what it was."""
    columns = (wanted.since or {}).get("columns") or {}
    return {name: Kind(kind) for name, kind in columns.items() if kind in set(Kind)}


def _check(kinds: Mapping[str, Kind], endpoint: str) -> None:
    if broken := next((name for name in kinds if not is_whole(name)), None):
        raise SourceFailed(f"{endpoint}: the name of the field {broken!a} holds half a character")
    if len(kinds) > MOST_COLUMNS:
        raise SourceFailed(
            f"{endpoint}: the records have {len(kinds)} different fields: are their names data? "
            f"At most {MOST_COLUMNS} become columns"
        )


def _arrow(kind: Kind) -> "pa.DataType":
    import pyarrow as pa

    match kind:
        case Kind.BOOL:
            return pa.bool_()
        case Kind.INT:
            return pa.int64()
        case Kind.FLOAT:
            return pa.float64()
        case Kind.TIMESTAMP:
            return pa.timestamp("us", "UTC")
        case Kind.DATE:
            return pa.date32()
        case Kind.TEXT | Kind.JSON:
            return pa.string()
