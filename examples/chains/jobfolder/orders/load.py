"""A step: counts the orders of a file that lies beside it. On the backup it is told so by the first argument."""

import csv
import sys

with open(sys.argv[-1], newline="") as file:
    orders = list(csv.DictReader(file))
where = "on the backup" if sys.argv[1] == "bkp" else "here"
print(f"{len(orders)} orders from {sys.argv[-1]}, {where}")
