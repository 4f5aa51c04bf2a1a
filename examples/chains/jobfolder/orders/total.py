"""A step: what all orders amount to."""

import csv
from decimal import Decimal
from pathlib import Path

total = Decimal(0)
for path in sorted(Path().glob("*.csv")):
    with path.open(newline="") as file:
        total += sum(Decimal(order["amount"]) for order in csv.DictReader(file))
print(f"total: {total}")
