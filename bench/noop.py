"""What callable jobs of the benchmarks run."""


async def noop() -> None:
    return None
