"""The cluster in one process on a clock of its own: the real duties, a real store, and faults at every call."""
