"""One sync from its order to its bookmark."""

from contextlib import closing
from pathlib import Path

from waterclock.domain.lake_sync import SourceKind, SyncMode
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.sql.loading import Loading
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.outputs_of import outputs_of
from waterclock.runners.sync import bookmarks
from waterclock.runners.sync.destinations import Own, wheres_of
from waterclock.runners.sync.keeping import Keeping
from waterclock.runners.sync.pipeline import Pipeline
from waterclock.runners.sync.source import Means, Source, Wanted
from waterclock.runners.sync.source_of import source_of
from waterclock.runners.sync.stopping import Stopping


def sync(order: Order, folder: Path, reporter: Reporter, stopping: Stopping) -> None:
    mode = SyncMode(order.task["sync_mode"])
    loading = Loading(_outputs(order), _log)
    stopping.clean_up = loading.abort
    mark = bookmarks.mark_of(order.task, wheres_of(order.task["destinations"], _own(order)))
    wanted = _wanted(order, mode, mark)
    loading.sweep()
    with closing(source(order).read(wanted)) as rows:
        pipeline = Pipeline(
            rows,
            loading,
            mode=mode,
            goes_on=wanted.since is not None,
            tell=lambda known: reporter.progress(**known),
            log=_log,
            commits=stopping.commits(),
        )
        pipeline.run(Keeping(folder, mark, mode, reporter))


def source(order: Order) -> Source:
    """The one that the task reads."""
    found = next(each for each in order.sources if each["id"] == order.task["source_id"])
    means = Means(roots=order.roots, allows_private=order.allows_private, s3=order.s3)
    return source_of(SourceKind(found["kind"]), found["config"], means)


def _wanted(order: Order, mode: SyncMode, mark: str) -> Wanted:
    """A full sync begins with the first row, whatever is known of earlier ones."""
    if mode is SyncMode.FULL:
        return Wanted(task={name: value for name, value in order.task.items() if name != "last_synced_value"})
    since = bookmarks.read(order.bookmark, mark)
    if since is None and order.bookmark:
        _log("the job reads or writes another place than the run that left its bookmark: it begins anew")
    return Wanted(task=order.task, since=since)


def _outputs(order: Order) -> list[Output]:
    tag = Tag(job_id=order.job_id, attempt_id=order.attempt_id)
    try:
        return outputs_of(order.task["destinations"], tag=tag, order=order)
    except OutputFailed as failed:  # which knows them by what they are to a query
        raise OutputFailed(str(failed).replace("outputs[", "destinations[", 1)) from None


def _own(order: Order) -> Own:
    return Own(clickhouse=order.clickhouse.get("url", ""))


def _log(line: str) -> None:
    print(line, flush=True)
