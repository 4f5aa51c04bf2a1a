"""Benchmarks: one file per workload, each prints one JSON line with us and the peer from the same run."""
