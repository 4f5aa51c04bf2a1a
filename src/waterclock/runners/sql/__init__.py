"""SQL jobs: a host that keeps engines warm, the engines, the tables, and the places that results are written to."""
