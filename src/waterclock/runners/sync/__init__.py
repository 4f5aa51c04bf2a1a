"""Sync jobs: rows read from a source in Arrow batches, and written to the outputs of the lake."""
