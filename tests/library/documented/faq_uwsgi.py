"""Under uWSGI without threads no job could ever run: the scheduler does not start, and says what to do.

Prints:
    refused: --enable-threads
"""

import sys
from types import SimpleNamespace

from waterclock.schedulers.background import BackgroundScheduler

if __name__ == "__main__":
    sys.modules["uwsgi"] = SimpleNamespace(has_threads=False)  # type: ignore[assignment]  # what uWSGI puts there
    try:
        BackgroundScheduler().start()
    except RuntimeError as error:
        print("refused:", *(word for word in str(error).split() if word.startswith("--")))
