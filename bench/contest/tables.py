"""Results as Markdown: a table for one contest, and one table of all of them with their goals."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.contest.contestant import LIMIT, PEER, US, Figure
from bench.contest.results import Result
from bench.contest.standing import Standing, best, champion, holds, ratio
from bench.contest.wording import extent, goal, times

VERDICTS = {None: "", True: "yes", False: "**no**"}
HEAD = (
    "contest",
    "ours",
    "best peer",
    "ahead of it",
    "every peer (we are ahead of it by)",
    "limit",
    "goal",
    "holds",
    "load",
)
ORDER = {US: 0, PEER: 1, LIMIT: 2}
NOTE = """\
Written by `make bench`: each row is of one run, all contestants in turns. Figures are medians of the rounds, with
ranges in brackets. How far we are ahead is the median of the rounds' own ratios: over 1 where we are better. The limit
is a bare prototype's, with how much of it we reach. The load is the machine's, of a minute, before and after.
"""


def write_tables(results: Sequence[Result], folder: Path) -> None:
    for result in results:
        (folder / f"{result.name}.md").write_text(page(result))
    (folder / "README.md").write_text(overview(results))


def page(result: Result) -> str:
    """One contest: a row per contestant, best first within its role."""
    first, ours = result.figures[0], champion(result.standings)
    head = ["", "role", *(f"{each.title}{', goal ' + goal(each) if goal(each) else ''}" for each in result.figures)]
    rows = [
        [each.name, each.role, *(extent(each, figure) for figure in result.figures), _beside(ours, each, first)]
        for each in ranked(result.standings, first)
    ]
    lines = [f"# {result.title}", "", *_table([*head, "we are ahead by"], rows), ""]
    lines += [f"- {each.name}: {_line(each.problem)}" for each in result.standings if each.problem]
    lines += [f"{_circumstances(result)}", "", f"![{result.title}]({result.name}.svg)", ""]
    return "\n".join(lines)


def overview(results: Sequence[Result]) -> str:
    """All contests: a row for each figure that has a goal, or else for the first."""
    rows = [_row(result, figure) for result in results for figure in _counted(result)]
    pages = [f"[{result.name}]({result.name}.md): {result.title}" for result in results]
    return "\n".join(["# Results", "", NOTE, *_table(HEAD, rows), "", *(f"- {each}" for each in pages), ""])


def ranked(standings: Sequence[Standing], figure: Figure) -> list[Standing]:
    """Ours first, then peers, then limits; within each the best first, and who has no figures last."""
    sign = -1 if figure.more_is_better else 1

    def place(standing: Standing) -> tuple[int, bool, float]:
        median = standing.median(figure)
        return ORDER[standing.role], median is None, sign * (median or 0)

    ours = champion(standings)
    return [ours, *sorted((each for each in standings if each is not ours), key=place)]


def _row(result: Result, figure: Figure) -> list[str]:
    ours = champion(result.standings)
    peer, limit = best(result.standings, figure), best(result.standings, figure, LIMIT)
    peers = [each for each in ranked(result.standings, figure) if each.role == PEER]
    return [
        f"[{result.name}]({result.name}.md): {figure.title}{' (quick: small counts)' if result.quick else ''}",
        extent(ours, figure) + (f" ({_line(ours.problem)})" if ours.problem else ""),
        f"{peer.name}: {extent(peer, figure)}" if peer else "–",
        times(ratio(ours, peer, figure)) if peer else "",
        "; ".join(_told(ours, each, figure) for each in peers),
        f"{limit.name}: {extent(limit, figure)}, {_share(ours, limit, figure)}" if limit else "–",
        goal(figure),
        VERDICTS[holds(result.standings, figure)],
        f"{result.load[0]:g} → {result.load[1]:g}",
    ]


def _counted(result: Result) -> list[Figure]:
    return [each for number, each in enumerate(result.figures) if number == 0 or goal(each)]


def _told(ours: Standing, other: Standing, figure: Figure) -> str:
    if other.median(figure) is None:
        return f"{other.name}: {_line(other.problem)}" if other.problem else f"{other.name}: –"
    behind = times(ratio(ours, other, figure))
    return f"{other.name} {extent(other, figure)}" + (f" [{behind}]" if behind else "")


def _beside(ours: Standing, other: Standing, figure: Figure) -> str:
    return "" if other is ours else times(ratio(ours, other, figure))


def _share(ours: Standing, limit: Standing, figure: Figure) -> str:
    share = ratio(ours, limit, figure)
    return "" if share is None else f"{100 * share:.0f} % of it"


def _circumstances(result: Result) -> str:
    facts = ", ".join(_fact(name, value) for name, value in result.machine.items())
    quick = "; quick: small counts, for trying" if result.quick else ""
    return f"\n{result.ran_at}, {result.rounds} round(s), load {result.load[0]:g} → {result.load[1]:g}; {facts}{quick}."


def _fact(name: str, value: object) -> str:
    told = " ".join(f"{each} {of}" for each, of in value.items()) if isinstance(value, dict) else str(value)
    return f"{name.replace('_', ' ')} {told}"


def _line(words: str) -> str:
    """Fit for a cell: one line, no bars."""
    return " ".join(words.split()).replace("|", "/")[:200]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_cells(head), "|" + "---|" * len(head), *map(_cells, rows)]


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
