"""Every error a caller can meet, in one tree; each is raised with facts and words itself.

WaterclockError
├── InvalidInput            the request is wrong: which field, what value, why
│   └── BadSchedule         an expression that cannot be read
├── NotFound                no such job, trigger, run …
│   └── LogElsewhere        a log that lies on another host's disk
├── AlreadyExists           the name is taken
├── NotAllowed              a rule forbids it in the present state; says what to do first
│   └── WrongState          what has ended cannot be stopped, what runs cannot be resumed
├── ConcurrentRunsExceeded  the job's cap is reached
├── QuotaExceeded           the user has as many as an admin allows
├── Unauthenticated         no caller, or a wrong signature or token
├── Forbidden               the caller may not do this
├── Unavailable             the store does not answer; nothing is known to be done
│   ├── CommitUnknown       the answer to a commit was lost: it is done, or not at all
│   ├── TooLate             whoever asked has given it up: it is not done
│   └── ServerLost          no server answers a worker over HTTP
│       └── NotSent         nothing has reached one
└── CannotRun               a program that cannot be prepared or started
"""


class WaterclockError(Exception):
    """The root: its text is always fit to be shown to the caller."""


class InvalidInput(WaterclockError):
    def __init__(self, reason: str, *, field: str | None = None, value: object = None) -> None:
        self.field, self.value, self.reason = field, value, reason
        where = f"{field}: " if field else ""
        super().__init__(f"{where}{reason}")


class BadSchedule(InvalidInput):
    """Names the expression, the field in it, the value there, and why it was refused."""

    def __init__(self, expression: str, reason: str, *, part: str | None = None, value: object = None) -> None:
        self.expression, self.part = expression, part
        at = f"{part} {value!r}: " if part else ""
        super().__init__(f"cannot read schedule {expression!r}: {at}{reason}", value=value)


class NotFound(WaterclockError):
    def __init__(self, kind: str, name: object) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{kind} {name!r} not found")


class LogElsewhere(NotFound):
    def __init__(self, wire_id: str, host: object) -> None:
        self.kind, self.name, self.host = "log", wire_id, host
        WaterclockError.__init__(
            self,
            f"the log of run {wire_id} lies on the host {host!r} and cannot be read from here: give all nodes the same "
            "logs.store (a folder that they share, or s3://bucket/prefix)",
        )


class AlreadyExists(WaterclockError):
    def __init__(self, kind: str, name: object) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{kind} {name!r} already exists")


class NotAllowed(WaterclockError):
    """The words are the rule and the way out: "stop trigger 'x' first"."""


class WrongState(NotAllowed):
    pass


class ConcurrentRunsExceeded(WaterclockError):
    def __init__(self, name: str, cap: int, *, kind: str = "job") -> None:
        self.kind, self.name, self.cap = kind, name, cap
        super().__init__(f"{kind} {name!r} already has its {cap} concurrent run(s)")


class QuotaExceeded(WaterclockError):
    def __init__(self, user: str, kind: str, *, used: int, most: int) -> None:
        self.user, self.kind, self.used, self.most = user, kind, used, most
        super().__init__(
            f"{user!r} has {used} {kind.replace('_', ' ')} and may have {most}: an admin of the organisation may "
            f"raise that (waterclock quota set {kind} NUMBER --user {user})"
        )


class Unauthenticated(WaterclockError):
    pass


class Forbidden(WaterclockError):
    pass


class Unavailable(WaterclockError):
    is_told = False  # whether whoever raises it has told the log, once for many


class CommitUnknown(Unavailable):
    """Only what is idempotent may simply be tried again."""


class TooLate(Unavailable):
    pass


class ServerLost(Unavailable):
    is_told = True


class NotSent(ServerLost):
    pass


class CannotRun(WaterclockError):
    """Becomes the message of a FAILED run."""
