"""growth.png and growth.svg beside growth.json; by an interpreter that has matplotlib, a venv of the bench's own.

A point is the median of the rounds, a line through it goes from the least to the most of them.
"""

import json
import statistics
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

PANELS = {"cpu_us_per_fire": "CPU per due fire, µs", "lateness_p99_ms": "lateness p99, ms"}
COLOURS = ("#0b6e8f", "#b03a2e", "#6b8e23", "#8a6d3b")


def draw(path: Path) -> None:
    found = json.loads(path.read_text())
    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(11, 4.2))
    for axis, (key, title) in zip(axes, PANELS.items(), strict=True):
        for (name, points), colour in zip(found["series"].items(), COLOURS, strict=False):
            sizes = [size for size, _ in points]
            figures = [[each[key] for each in rounds] for _, rounds in points]
            axis.plot(sizes, [statistics.median(each) for each in figures], "o-", color=colour, label=name)
            axis.vlines(sizes, [min(each) for each in figures], [max(each) for each in figures], color=colour)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.set_title(title, fontsize="small", loc="left")
        axis.set_xlabel("due, or stored")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize="small")
    figure.text(0.01, 0.01, f"load {found['load'][0]:g} → {found['load'][1]:g}", fontsize="small", color="#555555")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    for ending in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=110, metadata={"Date": None} if ending == "svg" else None)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
