"""Random expressions, zones and moments for the property tests; moments like to be near a change of the clocks."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

# A zone, and moments (UTC) at which its clocks changed: by an hour, by half an hour, by a day, at midnight.
CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "America/New_York": ("2026-03-08T07:00", "2026-11-01T06:00"),
    "Australia/Lord_Howe": ("2026-04-04T15:00", "2026-10-03T15:30"),
    "Pacific/Apia": ("2011-12-30T10:00", "2012-03-31T14:00"),
    "America/Sao_Paulo": ("2018-11-04T03:00", "2019-02-17T02:00"),
    "Africa/Cairo": ("2014-05-15T22:00", "2023-10-26T21:00"),
    "America/St_Johns": ("2006-04-02T03:31", "2006-10-29T02:31"),
    "Antarctica/Troll": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "Asia/Kathmandu": ("1985-12-31T18:30", "1985-12-31T18:30"),
    "UTC": ("2024-02-29T00:00", "2099-12-31T23:00"),
}


@st.composite
def zoned_moments(draw: st.DrawFn) -> tuple[str, datetime]:
    zone = draw(st.sampled_from(sorted(CHANGES)))
    change = datetime.fromisoformat(draw(st.sampled_from(CHANGES[zone]))).replace(tzinfo=UTC)
    near = draw(st.integers(-3 * 3_600, 3 * 3_600) | st.integers(-3 * 86_400, 3 * 86_400))
    return zone, change + timedelta(seconds=near, microseconds=draw(st.sampled_from((0, 0, 1, 999_999))))


def numbers(low: int, high: int, *, wraps: bool = False) -> st.SearchStrategy[str]:
    value = st.integers(low, high)
    pair = st.tuples(value, value).map(lambda ends: ends if wraps else (min(ends), max(ends)))
    item = st.one_of(
        value.map(str),
        pair.map(lambda ends: f"{ends[0]}-{ends[1]}"),
        st.tuples(pair, st.integers(1, high)).map(lambda made: f"{made[0][0]}-{made[0][1]}/{made[1]}"),
        st.integers(1, high).map(lambda step: f"*/{step}"),
    )
    return st.one_of(st.just("*"), st.lists(item, min_size=1, max_size=3).map(",".join))


crontabs = st.tuples(
    numbers(0, 59), numbers(0, 23), numbers(1, 28), st.one_of(st.just("*"), numbers(1, 12)), numbers(0, 6)
).map(" ".join)

_days = st.one_of(
    numbers(1, 31, wraps=True),
    st.sampled_from(("L", "LW", "1W", "15W", "28W", "30W", "31W", "L-3", "L-29", "L-2W", "29", "31")),
)
_weekdays = st.one_of(
    numbers(1, 7, wraps=True),
    st.tuples(st.integers(1, 7), st.integers(1, 5)).map(lambda made: f"{made[0]}#{made[1]}"),
    st.integers(1, 7).map(lambda day: f"{day}L"),
    st.just("L"),
)
_months = st.one_of(st.just("*"), numbers(1, 12, wraps=True))
quartz = st.tuples(
    st.sampled_from(("0", "0", "30", "0/20", "59")),
    numbers(0, 59, wraps=True),
    numbers(0, 23, wraps=True),
    st.one_of(
        st.tuples(_days, _months, st.just("?")).map(" ".join), st.tuples(st.just("?"), _months, _weekdays).map(" ".join)
    ),
).map(" ".join)
