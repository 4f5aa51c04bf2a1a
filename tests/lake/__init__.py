"""Lake jobs on real engines and real places for their rows; heavy: run by `make test-heavy`."""
