"""NAME.png and NAME.svg beside each NAME.json: a bar for each contestant, best first, the range over rounds, the goal.

`python -m bench.contest.plots FILE…`, by an interpreter that has matplotlib: a venv of the bench's own.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import Patch

from bench.contest import results, wording
from bench.contest.contestant import LIMIT, PEER, US, Figure
from bench.contest.standing import Standing

COLOURS = {US: "#0b6e8f", PEER: "#b9b4a9", LIMIT: "#e6c35c"}
ROLES = {US: "Waterclock", PEER: "peers", LIMIT: "bare prototype"}
LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
WIDE = 20  # a ratio of the largest to the least from which bars are told apart on a logarithmic scale alone


def draw(path: Path) -> None:
    result = results.read(path)
    first = result.figures[0]
    order = ranked(result.standings, first)
    if not order:
        return
    figure, axes = pyplot.subplots(
        1,
        len(result.figures),
        figsize=(4 + 4 * len(result.figures), 1.5 + 0.45 * len(order)),
        sharey=True,
        squeeze=False,
    )
    for axis, shown in zip(axes[0], result.figures, strict=True):
        _panel(axis, order, shown)
    axes[0][0].set_yticks(range(len(order)), [each.name for each in order])
    axes[0][0].invert_yaxis()
    figure.suptitle(result.title, x=0.01, ha="left", fontweight="bold")
    roles = [role for role in COLOURS if any(each.role == role for each in order)]
    handles: list[Any] = [Patch(color=COLOURS[role], label=ROLES[role]) for role in roles]
    figure.legend(handles=handles, loc="lower right", ncols=len(handles), frameon=False, fontsize="small")
    load = f"load {result.load[0]:g} → {result.load[1]:g}"
    told = f"{result.ran_at[:10]}, median and range of {result.rounds} round(s), {load}"
    figure.text(0.01, 0.01, told, fontsize="small", color="#555555")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    for ending in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=110, metadata={"Date": None} if ending == "svg" else None)
    pyplot.close(figure)


def ranked(standings: Sequence[Standing], figure: Figure) -> list[Standing]:
    """Who has figures, the best first, whatever its role."""
    found = [(median, each) for each in standings if (median := each.median(figure)) is not None]
    return [each for _, each in sorted(found, key=lambda pair: pair[0], reverse=figure.more_is_better)]


def _panel(axis: Any, order: Sequence[Standing], figure: Figure) -> None:
    medians = [each.median(figure) or 0.0 for each in order]
    ends = [each.extent(figure) or (0.0, 0.0) for each in order]
    around = [[median - least for median, (least, _) in zip(medians, ends, strict=True)]]
    around.append([most - median for median, (_, most) in zip(medians, ends, strict=True)])
    axis.barh(
        range(len(order)),
        medians,
        color=[COLOURS[each.role] for each in order],
        xerr=around,
        ecolor="#444444",
        capsize=2,
    )
    reached = [median for median in medians if median > 0]
    most = max([*(end for _, end in ends), figure.goal or 0.0])
    if reached and most / min(reached) > WIDE:
        axis.set_xscale("log")
        axis.set_xlim(min(reached) / 3, most * 6)
    else:
        axis.set_xlim(0, most * 1.25)
    for place, (median, (_, end)) in enumerate(zip(medians, ends, strict=True)):
        axis.annotate(
            wording.number(median),
            (end, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox=LABEL,
        )
    if figure.goal is not None:
        axis.axvline(figure.goal, color="#b03a2e", linestyle="--", linewidth=1)
    goal = f" (goal {wording.goal(figure)})" if figure.goal is not None else ""
    better = "more is better" if figure.more_is_better else "less is better"
    axis.set_title(f"{figure.title}, {figure.unit}{goal}\n{better}", fontsize="small", loc="left")
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        draw(Path(name))
