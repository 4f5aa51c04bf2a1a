"""The engine's duties, ticked by hand, on every store."""
