"""The contest of the benchmarks: its decisions, and a tiny one from end to end."""
