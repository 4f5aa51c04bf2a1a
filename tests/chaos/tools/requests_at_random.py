"""Requests that Hypothesis puts together: schedules, signatures, offsets, bodies; each is the bytes that are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import strategies as st

from tests.chaos.tools.raw_http import request
from waterclock.faces.api.routes import PREFIX, TABLE
from waterclock.faces.chains import routes as chains
from waterclock.faces.glue.face import HANDLERS
from waterclock.faces.glue.model import input_shape, shape
from waterclock.faces.work_messages import HEADER, PROTOCOL

# Not asked: what waits by its nature, what would send notices to other hosts, and our own way in.
SPARED: Final = {"/runs/{id}/log/follow", "/work/wake", "/channels", "/channels/{name}", "/channels/{name}/test"}
ZONES: Final = ("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Seoul", "America/St_Johns", "Pacific/Apia")
FIELDS: Final = (
    *("name", "kind", "script", "arguments", "fixed_arguments", "timeout_seconds", "retries", "retry_delay_seconds"),
    *("max_concurrent", "queueing", "python_modules", "limits", "memory_bytes", "processes", "queue", "labels", "job"),
    *("schedule", "timezone", "gap", "fold", "start_at", "end_at", "jitter_seconds", "exclude", "misfire", "policy"),
    *("grace_seconds", "cap", "type", "actions", "start", "runs", "ids", "all", "role", "group", "expires_at", "value"),
    *(
        "content",
        "properties",
        "nodes",
        "description",
        "namespace",
        "size",
        "token",
        "offset",
        "limit",
        "count",
        "from",
    ),
    *("node", "host", "held", "attempt_ids", "ttl_seconds", "outcomes", "beginnings", "claimant", "besides", "version"),
)

NUMBERS: Final = ("0", "1", "-1", "٣", str(2**31), str(2**63), "9" * 40)
ACTIONS: Final = [{"job": "talkative", "arguments": {"--day": "1"}, "timeout_seconds": 60}]
SAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "/jobs": {
        "name": "new",
        "kind": "python",
        "script": "file:///x.py",
        "arguments": {"--a": "b"},
        "retries": 1,
        "timeout_seconds": 60,
        "limits": {"memory_bytes": 2**30, "processes": 10},
        "labels": ["a"],
        "queueing": True,
        "max_concurrent": 2,
        "retry_delay_seconds": 1.5,
        "python_modules": "six==1.17.0",
        "queue": "default",
    },
    "/jobs/{name}": {"kind": "python", "script": "file:///x.py"},
    "/jobs/{name}/bookmark": {"content": "x"},
    "/triggers": {
        "name": "new",
        "schedule": "0 12 * * *",
        "timezone": "Europe/Berlin",
        "gap": "skip",
        "fold": "twice",
        "start_at": "2026-01-01T00:00:00Z",
        "end_at": "2030-01-01T00:00:00Z",
        "jitter_seconds": 5,
        "actions": ACTIONS,
        "exclude": ["2026-12-25"],
        "misfire": {"policy": "all", "grace_seconds": 60, "cap": 5},
        "start": True,
    },
    "/triggers/{name}": {"schedule": "rate(5 minutes)", "actions": ACTIONS},
    "/runs": {"job": "talkative", "namespace": "glue", "arguments": {"--a": "b"}, "timeout_seconds": 5},
    "/runs/batch": {"runs": [{"job": "talkative"}], "namespace": "glue"},
    "/runs/stop": {"ids": ["x"]},
    "/users": {"name": "ann", "role": "author"},
    "/users/{name}": {"role": "viewer"},
    "/users/{name}/tokens": {"name": "t", "expires_at": "2030-01-01T00:00:00Z"},
    "/secrets/{name}": {"value": "x", "description": "y"},
    "/groups": {"name": "team"},
    "/messages/read": {"ids": [1]},
    "": {
        "timestr": "0 12 * * *",
        "timezone": "Asia/Seoul",
        "switch": "OFF",
        "main_flag": 1,
        "dep_ot": 5,
        "deps": [{"env": "python", "command": "a/b.py;1", "ottime": 1}],
        "jobs": [{"env": "python", "command": "a/c.py", "step_lvl": 1, "ottime": 1}],
    },
    "/{id}/switch": {"switch": "ON"},
}
WRONGS: Final = ("cut", "changed", "byte", "dropped", "twice", "more", "path", "body")
OTHERS: Final = (b"X-Amz-Security-Token", b"Date", b"Authorization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """How this server is called, and what there is in it."""

    port: int
    token: str
    key: Credentials
    names: Sequence[str]  # of jobs, triggers and runs that exist
    worker_token: str

    def api(self, method: str, target: str, body: bytes = b"") -> bytes:
        token = self.worker_token if target.startswith(f"{PREFIX}/work/") else self.token
        headers = [(b"Host", b"127.0.0.1"), (b"Authorization", b"Bearer " + token.encode())]
        headers += [(HEADER.encode(), b"%d" % PROTOCOL)] if token is self.worker_token else []
        headers += [(b"Content-Type", b"application/json")] if body else []
        return request(method, target.encode("ascii"), headers, body)

    def signed(self, service: str, target: str, body: bytes) -> list[tuple[bytes, bytes]]:
        """The headers of a genuine call."""
        unsigned = AWSRequest(
            method="POST", url=f"http://127.0.0.1:{self.port}/", data=body, headers={"X-Amz-Target": target}
        )
        SigV4Auth(self.key, service, "us-east-1").add_auth(unsigned)
        host = [(b"Host", f"127.0.0.1:{self.port}".encode())]
        return host + [(name.encode(), value.encode()) for name, value in unsigned.headers.items()]


@cache
def anything() -> st.SearchStrategy[Any]:
    """JSON, with numbers and texts that other software chokes on."""
    numbers = st.one_of(
        st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from((0, -1, 1))
    )
    leaves = st.one_of(st.none(), st.booleans(), numbers, texts())
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.sampled_from(FIELDS), texts()), inner, max_size=4)
        ),
        max_leaves=12,
    )


@cache
def texts() -> st.SearchStrategy[str]:
    known = st.sampled_from(
        ("", "\0", "a" * 256, "🚀", "../x", "-1", "1e9", "2026-02-30T25:61:00Z", "9997-12-31T23:59Z")
    )
    return st.one_of(known, st.text(max_size=30).filter(_is_writable))


def schedules(door: Door) -> st.SearchStrategy[bytes]:
    """Previews: of an expression that is nearly right, in a zone, from a moment."""
    moments = st.one_of(st.datetimes().map(lambda found: found.isoformat()), texts())
    query = st.fixed_dictionaries(
        {"expression": expressions()},
        optional={
            "timezone": st.one_of(st.sampled_from(ZONES), texts()),
            "gap": st.sampled_from(("run_at_jump", "skip")),
            "fold": st.sampled_from(("once", "twice")),
            "from": moments,
            "count": st.one_of(st.integers(1, 1000).map(str), texts()),
        },
    )
    return query.map(lambda given: door.api("GET", f"{PREFIX}/schedules/preview?{urlencode(given, errors='replace')}"))


@cache
def expressions() -> st.SearchStrategy[str]:
    number = st.integers(0, 70).map(str)
    odd = st.sampled_from(("*", "?", "L", "LW", "15W", "L-3", "6#3", "FRI", "JAN", "6L", "31W", "1-70/0", "*/", ","))
    wrong = st.lists(st.one_of(number, odd), min_size=1, max_size=3).map(",".join)
    crontab = st.tuples(*(_field(low, high) for low, high in ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7)))).map(
        " ".join
    )
    days = st.one_of(
        st.tuples(st.one_of(_field(1, 31), odd), _field(1, 12), st.just("?")),
        st.tuples(st.just("?"), _field(1, 12), st.one_of(_field(1, 7), odd)),
    )
    quartz = st.tuples(_field(0, 59), _field(0, 59), _field(0, 23), days.map(" ".join)).map(" ".join)
    aws = st.tuples(_field(0, 59), _field(0, 23), days.map(" ".join), _field(2024, 2199)).map(" ".join)
    fields = st.lists(wrong, min_size=4, max_size=8).map(" ".join)
    rates = st.tuples(st.integers(-1, 10**20), st.sampled_from(("second", "minutes", "hours", "days", "weeks", "")))
    return st.one_of(
        crontab,
        quartz,
        aws.map(lambda inside: f"cron({inside})"),
        fields,
        rates.map(lambda rate: f"rate({rate[0]} {rate[1]})"),
        st.datetimes().map(lambda moment: f"at({moment.isoformat()})"),
        st.text("0123456789*/,-?LW#@ ()acdehilmnorstuyJANFEBSUMOT:.", max_size=60),
        texts(),
    )


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    """Of a cron expression, as it may stand there."""
    numbers = st.integers(low, high)
    spans = st.tuples(numbers, numbers).map(lambda two: f"{min(two)}-{max(two)}")
    steps = st.tuples(st.one_of(st.just("*"), spans), st.integers(1, high)).map(lambda two: f"{two[0]}/{two[1]}")
    item = st.one_of(numbers.map(str), spans, steps)
    return st.one_of(st.just("*"), st.lists(item, min_size=1, max_size=3).map(",".join))


def signatures(door: Door) -> st.SearchStrategy[bytes]:
    """A genuine call, with one header, the path or the body made another."""
    body, count = b'{"MaxResults":1}', len(door.signed("glue", "AWSGlue.GetJobs", b""))
    places, whats = st.integers(0, count - 1), st.sampled_from(WRONGS)
    junks = st.one_of(_header_values(), st.integers(0, 10**9).map(lambda found: b"%d" % found))
    shares, others, paths = st.floats(0, 1), st.sampled_from(OTHERS), st.sampled_from((b"/", b"/?", b"//", b"/glue"))

    @st.composite
    def built(draw: st.DrawFn) -> bytes:
        headers = door.signed("glue", "AWSGlue.GetJobs", body)
        place, what, junk = draw(places), draw(whats), draw(junks)
        name, value = headers[place]
        at = round(draw(shares) * len(value))
        changes: dict[str, list[tuple[bytes, bytes]]] = {
            "cut": [(name, value[:at])],
            "changed": [(name, junk)],
            "byte": [(name, value[:at] + junk[:3] + value[at + 1 :])],
            "dropped": [],
            "twice": [(name, value), (name, junk)],
            "more": [(name, value), (draw(others), junk)],
        }
        headers[place : place + 1] = changes.get(what, [(name, value)])
        path = b"/" + quote(junk).encode() if what == "path" else draw(paths)
        return request("POST", path, headers, junk if what == "body" else body)

    return built()


def offsets(door: Door, run_id: str) -> st.SearchStrategy[bytes]:
    """Pieces of a log, by offsets of every kind, over both faces that read it."""
    number = st.one_of(st.integers(-10, 3000), st.integers(-(2**70), 2**70), st.floats()).map(str)
    value = st.one_of(number, texts(), st.sampled_from(("٣", "1_000", "0x10", "+1", " 1", "1.0", "-0")))
    pairs = st.lists(st.tuples(st.sampled_from(("offset", "limit", "offset ")), value), max_size=3)
    plain = pairs.map(lambda given: door.api("GET", f"{PREFIX}/runs/{run_id}/log?{urlencode(given, errors='replace')}"))
    group = {"logGroupName": "/aws-glue/python-jobs/output", "logStreamName": run_id}
    more = {
        "startFromHead": st.booleans(),
        "limit": st.one_of(st.integers(-1, 10_001), anything()),
        "nextToken": st.one_of(texts(), number.map(lambda found: f"f/{found}/s"), anything()),
        "startTime": st.one_of(st.integers(-1, 2**63), anything()),
        "endTime": st.one_of(st.integers(-1, 2**63), anything()),
    }
    events = st.fixed_dictionaries({}, optional=more).map(
        lambda given: _call(door, "logs", "Logs_20140328.GetLogEvents", group | given)
    )
    return st.one_of(plain, events)


def bodies(door: Door) -> st.SearchStrategy[bytes]:
    """Every route of the API and of chains, with what exists and what does not, and fields that it may know."""
    routes = st.sampled_from(
        [
            *((method, PREFIX, path) for method, path, _ in TABLE if path not in SPARED),
            *((method, chains.FACE.prefix, path) for method, path, _ in chains.TABLE),
        ]
    )
    known = st.sampled_from((*door.names, *NUMBERS))
    name = st.one_of(known, known, known, texts().filter(bool))
    objects = st.one_of(st.dictionaries(st.sampled_from(FIELDS), anything(), max_size=6), anything())
    changes = st.lists(st.tuples(st.integers(0, 20), anything()), max_size=2)
    queries = st.dictionaries(st.sampled_from(FIELDS), texts(), max_size=2)

    @st.composite
    def built(draw: st.DrawFn) -> bytes:
        method, prefix, path = draw(routes)
        parts = [quote(draw(name), safe="") if part.startswith("{") else part for part in path.split("/")]
        given = _changed(SAMPLES[path], draw(changes)) if path in SAMPLES else draw(objects)
        raw = orjson.dumps(given) if method != "GET" else b""
        query = draw(queries) if method == "GET" else {}
        return door.api(method, f"{prefix}{'/'.join(parts)}?{urlencode(query, errors='replace')}", raw)

    return built()


def _changed(sample: Mapping[str, Any], changes: Sequence[tuple[int, Any]]) -> dict[str, Any]:
    """Another value for a few of its fields, or for what is inside them."""
    found = dict(sample)
    for place, value in changes:
        name = list(sample)[place % len(sample)]
        inner = found[name]
        if isinstance(inner, dict) and inner and place % 2:
            found[name] = {**inner, next(iter(inner)): value}
        else:
            found[name] = value
    return found


def actions(door: Door) -> st.SearchStrategy[bytes]:
    """Every action of the Glue face, with members that the model knows and values that it may not."""
    named = st.sampled_from(sorted(HANDLERS))

    @st.composite
    def built(draw: st.DrawFn) -> bytes:
        action = draw(named)
        return _call(door, "glue", f"AWSGlue.{action}", draw(_shaped(input_shape(action), 0, tuple(door.names))))

    return built()


def _call(door: Door, service: str, target: str, given: Any) -> bytes:
    body = orjson.dumps(given)
    return request("POST", b"/", door.signed(service, target, body), body)


@cache
def _shaped(name: str, depth: int, names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    of = shape(name)
    right: st.SearchStrategy[Any]
    match of["type"]:
        case "structure" if depth < 4:
            required = of.get("required", ())
            members = {each: _shaped(of["members"][each]["shape"], depth + 1, names) for each in of["members"]}
            known = {each: how for each, how in members.items() if each in required}
            right = st.fixed_dictionaries(
                known, optional={each: members[each] for each in members if each not in known}
            )
        case "list" if depth < 4:
            right = st.lists(_shaped(of["member"]["shape"], depth + 1, names), max_size=3)
        case "map" if depth < 4:
            right = st.dictionaries(texts(), _shaped(of["value"]["shape"], depth + 1, names), max_size=3)
        case "string":
            right = st.one_of(st.sampled_from((*names, *of.get("enum", ()))), texts(), expressions())
        case "boolean":
            right = st.booleans()
        case "integer" | "long" | "double":
            right = st.integers(-1, 10_000)
        case _:
            right = st.just({})
    return right if depth == 0 else st.one_of(right, right, right, anything())


@cache
def _header_values() -> st.SearchStrategy[bytes]:
    return st.binary(max_size=40).map(lambda found: found.replace(b"\r", b"").replace(b"\n", b""))


def _is_writable(text: str) -> bool:
    """As UTF-8: JSON as bytes holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
