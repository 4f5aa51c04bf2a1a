"""A crawler: kept and shown for clients that make one, never run."""

from collections.abc import Mapping
from dataclasses import dataclass

from waterclock.domain.moment import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawler:
    id: int
    org_id: int
    name: str
    owner: str
    definition: Mapping[str, object]  # as the face was given it
    tags: Mapping[str, str]
    created_at: Moment
    updated_at: Moment
