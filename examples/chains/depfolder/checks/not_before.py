"""A gate: is it this time of day, in UTC, or later? Prints 0 if it is, else 1."""

import sys
import time

print(0 if time.strftime("%H:%M", time.gmtime()) >= sys.argv[-1] else 1)
