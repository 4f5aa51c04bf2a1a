"""Round constants for tests of the model: figures that can be reckoned with by hand."""

from bench.scale.constants import Constants, Cost


def cost(each: float, fixed: float = 0.0, wal: float = 0.0) -> Cost:
    return Cost(
        python_us=fixed,
        database_us=fixed,
        python_us_each=each,
        database_us_each=each,
        wal_bytes=0.0,
        wal_bytes_each=wal,
    )


CONSTANTS = Constants(
    fire=cost(100, fixed=1_000, wal=1_000),
    claim=cost(50, fixed=1_000),
    begin=cost(50, fixed=1_000),
    end=cost(50, fixed=1_000),
    renew=cost(10),
    prune=cost(20),
    beat=cost(0, fixed=500),
    start_call=cost(400),
    read_call=cost(200),
    program_us=4_000,
    commit_ms=1.0,
    commit_p99_ms=5.0,
    trip_ms=0.1,
    schedule_bytes=1_000,
    run_bytes=4_000,
    connections_of_engine=3,
    connections_of_api=10,
)
