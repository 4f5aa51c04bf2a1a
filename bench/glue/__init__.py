"""Signed Glue calls: the client, what it asks, and the servers that answer: ours, moto and the bare stub."""
