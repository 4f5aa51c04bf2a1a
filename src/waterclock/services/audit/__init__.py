"""The audit: one row for every call, append-only, that costs the call next to nothing and outlives a kill -9.

- A call's line goes to a **journal** in DATA_DIR/audit with one `write`, after its handler and before its answer is
  sent: whoever has an answer has a line. It is never synced; a host that loses power may lose the last lines.
- One journal a process, locked (`flock`) as long as it is written. A journal that nobody holds was left behind, by a
  crash or because it grew large: whoever finds it first takes it over.
- **Storing** moves lines to the table, some hundreds in a transaction that also says how many bytes of the journal are
  stored by then. After a crash or a lost answer it goes on from there: no line is stored twice, none is passed over.
- A file is removed before the store forgets it, so that what was stored is never taken for new.
- Neither a full disk nor a database that is away fails a call: lines that could not be written are counted in the
  log, lines that cannot be stored wait in their journal.
- Calls of nobody we know are recorded with organisation 0, at most `STRANGERS` a second; the others are counted, and a
  line says how many there were.
"""
