"""Figures in words: as many digits as the noise leaves any meaning."""

from bench.contest.contestant import Figure
from bench.contest.standing import Standing


def number(value: float) -> str:
    """12,345 and 123 and 12.3 and 1.23 and 0.0123: three digits, but whole numbers whole."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.1 or size == 0:
        return f"{value:.2f}"
    return f"{value:.2g}"


def with_unit(value: float, figure: Figure) -> str:
    return f"{number(value)}{figure.unit}" if figure.unit.startswith("/") else f"{number(value)} {figure.unit}"


def extent(standing: Standing, figure: Figure) -> str:
    """The median, and the range over the rounds where there are several."""
    median, ends = standing.median(figure), standing.extent(figure)
    if median is None or ends is None:
        return "–"
    least, most = (number(end) for end in ends)
    return with_unit(median, figure) + (f" ({least}–{most})" if least != most else "")


def goal(figure: Figure) -> str:
    """In a cell's words: "≥ 25,000/s", "≥ 90 % of the limit"; nothing where there is none."""
    told = []
    if figure.goal is not None:
        told.append(("≥ " if figure.more_is_better else "≤ ") + with_unit(figure.goal, figure))
    if figure.share is not None:
        told.append(f"≥ {100 * figure.share:.0f} % of the limit")
    return ", ".join(told)


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{number(ratio)} ×"
