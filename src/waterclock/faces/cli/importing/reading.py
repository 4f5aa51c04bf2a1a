"""What both endpoints hold: of the source what was chosen, of ours all, with tags where they are compared."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from waterclock.faces.cli.importing.endpoint import Denied, Endpoint
from waterclock.faces.cli.importing.thing import Kind, Thing

TOLD_EVERY: Final = 200  # tags are read one call a thing

Tell = Callable[[str], None]


def chosen(there: Endpoint, kinds: Iterable[Kind], names: str, tell: Tell) -> Sequence[Thing]:
    return _tagged(there, [thing for thing in there.things(kinds) if fnmatchcase(thing.name, names)], tell)


def known(here: Endpoint, wanted: Sequence[Thing], tell: Tell) -> Sequence[Thing]:
    """Of every kind, since what is wanted may need what is here."""
    places = {thing.place for thing in wanted}
    found = list(here.things(Kind))
    compared = _tagged(here, [thing for thing in found if thing.place in places], tell)
    return [*compared, *(thing for thing in found if thing.place not in places)]


def _tagged(endpoint: Endpoint, found: Sequence[Thing], tell: Tell) -> Sequence[Thing]:
    """As they were where the caller may not read tags, or the endpoint knows none: that alone stops no import."""
    tagged = []
    for thing in found:
        try:
            tagged.append(endpoint.tagged(thing))
        except Denied as refused:
            tell(f"tags are neither compared nor carried over: {endpoint} does not tell them: {refused.message}")
            return found
        if len(tagged) % TOLD_EVERY == 0:
            tell(f"read the tags of {len(tagged)} of {len(found)} at {endpoint}")
    return tagged
