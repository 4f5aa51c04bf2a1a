"""How a call ended that was made in this process."""

from __future__ import annotations

from waterclock.executors.base import Call, Done, How
from waterclock.executors.calling import result_of, traceback_of


def outcome_of(call: Call) -> Done:
    """Make it. Whatever it raises is its end, SystemExit and KeyboardInterrupt too: they end no worker."""
    try:
        value = result_of(call.function, call.args, call.kwargs)
    except BaseException as error:
        return raised(call.number, error, ours=2)
    return Done(call.number, How.RETURNED, value)


def raised(number: int, error: BaseException, ours: int = 1) -> Done:
    return Done(number, How.RAISED, error=error, traceback=traceback_of(error, ours))
