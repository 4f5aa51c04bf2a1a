"""Where chance comes from: a seed that is told with the result, and may be given again as CHAOS_SEED."""

import os

from waterclock import clock


def chosen_seed() -> int:
    given = os.environ.get("CHAOS_SEED")
    return int(given) if given else clock.wall_us() % 1_000_000_007
