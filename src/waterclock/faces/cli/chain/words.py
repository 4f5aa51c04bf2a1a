"""Times and spans as a watcher reads them, and text cut to a screen's columns. Pure."""

from datetime import datetime, tzinfo
from typing import Final

from waterclock.faces.cli.output import printable, screen_width

CUT: Final = "…"
SEP: Final = " · "


def span(seconds: float) -> str:
    """`0.4 s`, `34 s`, `12 min 5 s`, `2 h 3 min`, `3 d 4 h`"""
    if seconds < 10:
        return f"{max(seconds, 0.0):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min {rest} s"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes} min"


def moment(iso: str | None) -> datetime | None:
    return None if iso is None else datetime.fromisoformat(iso)


def time_of_day(iso: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(iso).astimezone(zone).strftime("%H:%M:%S")


def since(iso: str | None, now: datetime) -> float:
    """Seconds; none of what has not begun, nor of what began after our last look."""
    began = moment(iso)
    return max((now - began).total_seconds(), 0.0) if began else 0.0


def joined(*words: str | None) -> str:
    return SEP.join(word for word in words if word)


def one_line(text: str | None) -> str:
    """The last line that says something: where programs say why they failed."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return printable(lines[-1]) if lines else ""


def fit(text: str, width: int) -> str:
    """Cut so that it takes at most `width` columns."""
    if screen_width(text) <= width:
        return text
    kept, left = "", width - screen_width(CUT)
    for char in text:
        left -= screen_width(char)
        if left < 0:
            break
        kept += char
    return kept.rstrip() + CUT if width > 0 else ""


def padded(text: str, width: int) -> str:
    cut = fit(text, width)
    return cut + " " * (width - screen_width(cut))
