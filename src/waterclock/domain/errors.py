"""Every error a caller can meet, in one tree; each is raised with facts and words itself.

WaterclockError
├── InvalidInput            the request is wrong: which field, what value, why
│   └── BadSchedule         an expression that cannot be read
├── NotFound                no such job, trigger, run …
├── AlreadyExists           the name is taken
├── NotAllowed              a rule forbids it in the present state; says what to do first
│   └── WrongState          what has ended cannot be stopped, what runs cannot be resumed
├── ConcurrentRunsExceeded  the job's cap is reached
├── Unauthenticated         no caller, or a wrong signature or token
├── Forbidden               the caller may not do this
├── Unavailable             the store does not answer; nothing is known to be done
│   └── CommitUnknown       the answer to a commit was lost: it is done, or not at all
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


class Unauthenticated(WaterclockError):
    pass


class Forbidden(WaterclockError):
    pass


class Unavailable(WaterclockError):
    pass


class CommitUnknown(Unavailable):
    """Only what is idempotent may simply be tried again."""


class CannotRun(WaterclockError):
    """Becomes the message of a FAILED run."""
