"""Numbers about this process and its store, in Prometheus's text form. No names of jobs or people, so few series."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.run import LIVE

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(slots=True)
class Metrics:
    """What this process has counted since it started."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)  # by face, action, status

    def text(self, queued: Mapping[str, int]) -> str:
        """`queued`: the live runs by state, from the store."""
        return "\n".join((*_live_runs(queued), *self._requests(), ""))

    def _requests(self) -> Iterator[str]:
        yield "# HELP waterclock_http_requests_total Requests answered by this process."
        yield "# TYPE waterclock_http_requests_total counter"
        for (face, action, status), count in sorted(self.requests.items()):
            labels = _labels(face=face, action=action, status=str(status))
            yield f"waterclock_http_requests_total{labels} {count}"


def _live_runs(queued: Mapping[str, int]) -> Iterator[str]:
    yield "# HELP waterclock_runs_live Runs that have not ended, by state."
    yield "# TYPE waterclock_runs_live gauge"
    for state in sorted(LIVE):
        yield f"waterclock_runs_live{_labels(state=state)} {queued.get(state, 0)}"


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in labels.items()) + "}"
