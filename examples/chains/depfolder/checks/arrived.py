"""A gate: has this file arrived? Prints 0 if it has, and holds something, else 1."""

import os
import sys

path = sys.argv[-1]
print(0 if os.path.isfile(path) and os.path.getsize(path) else 1)
