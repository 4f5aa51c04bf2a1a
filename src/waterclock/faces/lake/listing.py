"""Lists of this face: from here, so many, sorted by what may be sorted by; the answer says how many there are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic

from starlette.responses import Response

from waterclock.domain.lake import Field, Listed, Sort
from waterclock.faces.api.call import LONGEST_PAGE, Call, json
from waterclock.faces.api.fields import Fields, Reader, several, text
from waterclock.faces.lake.fields import among, body, known, whole

USUAL_SIZE: Final = 20
MOST_OFFSET: Final = 2**31 - 1
MOST_SORTS: Final = 8
ORDERS: Final = {"ASC": False, "DESC": True}

PAGE: Final[Fields] = {
    "keyword": text(least=0),
    "from": whole(0, MOST_OFFSET),
    "size": whole(0, LONGEST_PAGE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[Field]):
    keyword: str | None
    offset: int
    limit: int
    sorts: tuple[Sort[Field], ...]
    given: Mapping[str, Any]


async def listing(
    call: Call, fields: type[Field], others: Mapping[str, Field], more: Mapping[str, Reader] | None = None
) -> Asked[Field]:
    """`others` are names for the same fields, `more` what else may be asked for."""
    names = {**{each.value: each for each in fields}, **others}
    given = await body(call, {**PAGE, "sorts": several(_sort(names), MOST_SORTS), **(more or {})})
    return Asked(
        keyword=given.get("keyword") or None,
        offset=given.get("from", 0),
        limit=given.get("size", USUAL_SIZE),
        sorts=given.get("sorts", ()),
        given=given,
    )


def listed(found: Listed[Any], render: Callable[[Any], object]) -> Response:
    return json({"data": [render(each) for each in found.items], "total": found.total})


def _sort(names: Mapping[str, Field]) -> Reader:
    both = known({"field": among(names), "order": among(ORDERS)}, required=("field",))

    def reader(field: str, value: object) -> Sort[Field]:
        given = both(field, value)
        return Sort(field=given["field"], descending=given.get("order", False))

    return reader
