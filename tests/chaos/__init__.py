"""Faults to survive (RELIABILITY.md, section 3): real processes, real stores, and the checker at the end of each."""
