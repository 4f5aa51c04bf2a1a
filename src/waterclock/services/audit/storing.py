"""Storing: a duty that moves the lines of journals to the table, each once."""

import logging
import os
from pathlib import Path
from typing import Final

from waterclock.services.audit.codec import entry_of
from waterclock.services.audit.journal import Journal, Piece, left_behind, read_lines, taken_over
from waterclock.services.audit.recording import Recorder
from waterclock.stores.base import Database
from waterclock.stores.ops import audit as ops

REST_SECONDS: Final = 0.5
BATCH_BYTES: Final = 64 * 1024  # some 350 lines: nobody waits long while they are read
LARGE_BYTES: Final = 8 * 1024 * 1024  # a journal of this size is let go, stored to its end and removed

log: Final = logging.getLogger("waterclock.audit")


class Storing:
    name = "audit"

    def __init__(self, database: Database, journal: Journal, recorder: Recorder) -> None:
        self._database = database
        self._journal = journal
        self._recorder = recorder
        self._stored: dict[Path, int] = {}  # how far; what is not here has to be asked for

    async def tick(self) -> float:
        self._recorder.settle()
        if self._journal.size() > LARGE_BYTES:
            self._journal.let_go()
        if self._journal.path:
            await self._store(self._journal.path)
        for path in left_behind(self._journal.folder, but=self._journal.path):
            await self._finish(path)
        return REST_SECONDS

    async def close(self) -> None:
        """The last round of a process: what it wrote is stored, if the store answers; else the next one does it."""
        self._journal.let_go()
        await self.tick()

    async def _finish(self, path: Path) -> None:
        with taken_over(path) as is_ours:
            if not is_ours:
                return
            last = await self._store(path)
            if last.is_cut:
                log.warning("the last line of %s is cut short: left out", path.name)
            del self._stored[path]
            os.unlink(path)
            await self._database.write(ops.forget, journal=path.stem)

    async def _store(self, path: Path) -> Piece:
        """To its present end; the last piece of it. After an error the store is asked how far we came."""
        begin = self._stored.pop(path, None)
        if begin is None:
            begin = await self._database.read(ops.stored_of, journal=path.stem)
        piece, stored = await self._store_piece(path, begin)
        while not piece.is_last or stored != piece.end:
            piece, stored = await self._store_piece(path, stored)
        self._stored[path] = stored
        return piece

    async def _store_piece(self, path: Path, begin: int) -> tuple[Piece, int]:
        piece = read_lines(path, begin, BATCH_BYTES)
        if piece.end == begin:
            return piece, begin
        entries = [entry for entry in map(entry_of, piece.lines) if entry]
        if len(entries) < len(piece.lines):
            log.warning("%d lines of %s are no entries: left out", len(piece.lines) - len(entries), path.name)
        stored = await self._database.write(ops.store, journal=path.stem, begin=begin, end=piece.end, entries=entries)
        return piece, stored
