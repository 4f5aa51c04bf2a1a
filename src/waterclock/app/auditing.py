"""The audit of a process that serves: recorded and stored while it does."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from waterclock.domain.errors import Unavailable
from waterclock.engine.loop import Loop
from waterclock.faces.http.audited import Record
from waterclock.services.audit.journal import Journal
from waterclock.services.audit.recording import Recorder
from waterclock.services.audit.storing import Storing
from waterclock.stores.base import Database


@contextlib.asynccontextmanager
async def audited(database: Database, folder: Path) -> AsyncIterator[Record]:
    """At the end what is left is stored, if the store answers; else whoever serves next does it."""
    journal = Journal(folder)
    recorder = Recorder(journal)
    storing = Storing(database, journal, recorder)
    loop = Loop(storing)
    loop.start()
    try:
        yield recorder.record
    finally:
        await loop.stop()
        with contextlib.suppress(Unavailable):
            await storing.close()
