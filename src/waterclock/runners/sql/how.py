"""How rows are put into a place: added, in the place of what is there, or by their keys."""

from dataclasses import dataclass

from waterclock.runners.sql.folder import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What a job asks of an output."""

    mode: Mode
    keys: tuple[str, ...] = ()  # of an upsert
    keep_hours: float = 0  # for so long what was replaced is kept
    may_change: bool = True  # columns of a table may be added and widened
