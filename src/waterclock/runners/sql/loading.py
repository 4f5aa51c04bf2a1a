"""Rows on their way to all the outputs of a run: loaded aside everywhere, and only then put in place, one by one."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waterclock.runners.sql.outputs import Output, OutputFailed, Written
from waterclock.runners.sql.words import text_of

if TYPE_CHECKING:
    import pyarrow as pa


class Loading:
    """A failure before the first output is in place leaves all of them as they were. `log` takes lines for people."""

    def __init__(self, outputs: Sequence[Output], log: Callable[[str], None]) -> None:
        self._outputs = outputs
        self._log = log
        self._aside: list[Output] = []  # begun, and not yet in place
        self._done: list[tuple[str, Written]] = []

    def sweep(self) -> None:
        for output in self._outputs:
            output.sweep()

    def open(self, schema: "pa.Schema") -> None:
        for output in self._outputs:
            self._aside.append(output)
            output.open(schema)

    def write(self, batch: "pa.RecordBatch") -> None:
        for output in self._outputs:
            output.write(batch)

    def put_in_place(self) -> None:
        for output in self._outputs:
            try:
                written = output.commit()
            except OutputFailed as failed:
                raise self._after(failed) from None
            self._aside.remove(output)
            self._done.append((output.where, written))
            self._log(f"{output.where}: {written.rows} rows, {written.bytes} bytes")

    def abort(self) -> None:
        for output in self._aside:
            try:
                output.abort()
            except Exception as error:  # it must hide neither why we abort nor keep the others from it
                self._log(f"{output.where}: not cleaned up, the job's next run will: {text_of(error)}")

    def placed(self) -> Mapping[str, Any]:
        """What is in place, as progress."""
        return {
            "rows_written": sum(each.rows for _, each in self._done),
            "bytes_written": sum(each.bytes for _, each in self._done),
            "outputs": [{"where": where, "rows": each.rows, "bytes": each.bytes} for where, each in self._done],
        }

    def _after(self, failed: OutputFailed) -> OutputFailed:
        done = ", ".join(where for where, _ in self._done)
        return OutputFailed(f"{failed}; already in place: {done}") if done else failed
