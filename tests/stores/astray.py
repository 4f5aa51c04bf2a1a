"""What PostgreSQL's table of instants has that its triggers do not say, or has not though they say it."""

from typing import Final

from tests.stores.raw import Rows, rows

_SET_GOING: Final = """SELECT id, ticker, next_fire_at FROM triggers
WHERE state = 'RUNNING' AND next_fire_at IS NOT NULL"""
_NOTED: Final = "SELECT trigger_id, ticker, next_fire_at FROM trigger_instants"


async def instants_astray(url: str) -> Rows:
    return await rows(url, f"({_SET_GOING} EXCEPT {_NOTED}) UNION ALL ({_NOTED} EXCEPT {_SET_GOING})")
