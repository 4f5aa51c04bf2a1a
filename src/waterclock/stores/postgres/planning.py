"""How PostgreSQL plans what goes by key: once for each connection, and always by an index.

To plan a short statement costs more than to run it. A plan that is kept was perhaps made when the table was empty and
reading all of it was the quickest way; forbidden that way, it holds for a table of any size.
"""

from collections.abc import Mapping
from typing import Final

KEPT_PLANS: Final[Mapping[str, str]] = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
