"""How PostgreSQL plans what goes by key: seldom, and by an index.

To plan a short statement costs more than to run it. A plan that is kept was perhaps made when the table was as good as
empty, and any way through it the quickest. So reading the table itself is forbidden, and no plan is kept for long: the
next one is made for the table as it is then.
"""

from collections.abc import Mapping
from typing import Final

KEPT_SECONDS: Final = 5.0
KEPT_PLANS: Final[Mapping[str, str]] = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
