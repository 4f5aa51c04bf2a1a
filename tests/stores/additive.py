"""What a step of a migration must not do while nodes of the version before work on: anything but add."""

import re
from typing import Final

# Each with the reason for which the older version could not go on.
FORBIDDEN: Final = {
    r"\bDROP\b": "the older version still uses it",
    r"\bRENAME\b": "the older version knows the old name",
    r"\b(MODIFY|CHANGE)\b|\bALTER COLUMN\b|\bALTER (?!TABLE)": "the older version writes what it always wrote",
    r"\bADD (CONSTRAINT|UNIQUE|PRIMARY|CHECK|FOREIGN)|\bCREATE UNIQUE INDEX": "the older version does not keep to it",
    r"\bADD COLUMN\b(?=[^,;]*\bNOT NULL\b)(?![^,;]*\bDEFAULT\b)": "the older version inserts without it",
    r"\bADD (?!COLUMN|INDEX|KEY)": "say ADD COLUMN, so that this check can read it",
    r"^(UPDATE|DELETE|TRUNCATE)\b": "rows are the older version's, too",
}


def objections(statement: str) -> list[str]:
    text = " ".join(statement.upper().split())
    return [f"{statement}: {reason}" for pattern, reason in FORBIDDEN.items() if re.search(pattern, text)]
