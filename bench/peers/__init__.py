"""Programs of the peers, each run by the interpreter of its own venv; they print one JSON line of figures."""
