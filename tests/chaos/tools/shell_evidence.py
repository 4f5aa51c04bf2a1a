"""The evidence of a program that must cost next to nothing: a few lines of shell, and no process beside it."""

import time
from pathlib import Path
from typing import Final

# /proc/uptime needs no process to be read, and counts hundredths of a second.
SCRIPT: Final = """\
for word; do
    [ "$last" = --work ] && work=$word
    last=$word
done
mark() {{
    read -r up rest < /proc/uptime
    at=$(( {boot} + ${{up%.*}}${{up#*.}} ))
    when=$(( at / 100 )).$(( at % 100 / 10 ))$(( at % 10 ))
    run="\\"run_id\\": \\"$WATERCLOCK_RUN_ID\\", \\"fire_time\\": \\"$WATERCLOCK_FIRE_TIME\\""
    try="\\"attempt\\": \\"$WATERCLOCK_ATTEMPT\\", \\"fence\\": \\"$WATERCLOCK_FENCE\\""
    said="\\"event\\": \\"$1\\", \\"work\\": \\"$work\\", \\"role\\": \\"\\", \\"arguments\\": []"
    printf '%s\\n' "{{$said, $run, $try, \\"at\\": $when}}" >> {path}
}}
mark start
mark end
"""


def shell_program(path: Path) -> str:
    """Its `--work` argument names the work."""
    up = Path("/proc/uptime").read_text().split()[0]
    boot = round(time.time() * 100) - int(up.replace(".", ""))
    return SCRIPT.format(boot=boot, path=path)
