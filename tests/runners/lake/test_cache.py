"""What is left for the next run: whole or not there, whoever is killed, and never more than its bound."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from waterclock.runners.lake.cache import Cache, made

HOLDS = """
import sys
from pathlib import Path
from waterclock.runners.lake.cache import Cache, made
with Cache(Path(sys.argv[1])).held('builds', 'x') as path, made(path) as aside:
    (aside / 'half').touch()
    print('holding', flush=True)
    sys.stdin.read()
"""


def put(cache: Cache, digest: str, size: int, used: int) -> Path:
    with cache.held("builds", digest) as path, made(path) as aside:
        (aside / "jar").write_bytes(b"x" * size)
    os.utime(path, (used, used))
    return path


def names(root: Path) -> set[str]:
    return {path.name for path in root.glob("builds/*")}


def test_an_entry_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with suppress(ZeroDivisionError), cache.held("builds", "x") as path, made(path) as aside:
        (aside / "half").touch()
        raise ZeroDivisionError
    assert names(tmp_path) == {"x.lock"}
    assert put(cache, "x", 1, 1).is_dir()
    assert names(tmp_path) == {"x", "x.lock"}


def test_what_a_killed_one_had_half_made_goes_and_nobody_waits_for_it(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "holding\n"
    cache = Cache(tmp_path)
    cache.prune()
    assert names(tmp_path) == {".new-x", "x.lock"}  # in use
    holder.kill()
    holder.communicate()
    cache.prune()
    assert names(tmp_path) == set()


def test_those_used_least_lately_are_dropped_until_the_rest_is_small_enough(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most_bytes=250)
    for digest, used in (("c", 3), ("a", 1), ("b", 2), ("d", 4)):
        put(cache, digest, 100, used)
    with cache.held("builds", "a"):
        cache.prune()
    assert names(tmp_path) == {"a", "a.lock", "d", "d.lock"}
    cache.prune()
    assert names(tmp_path) == {"a", "a.lock", "d", "d.lock"}


def test_who_waits_for_an_entry_that_is_dropped_meanwhile_makes_it_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most_bytes=0)
    put(cache, "x", 1, 1)
    with cache.held("builds", "x"):
        waiting = subprocess.Popen(
            [sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert waiting.stdout
        assert "waiting" in waiting.stdout.readline()
        os.rename(tmp_path / "builds/x", tmp_path / "builds/.new-x")
        os.unlink(tmp_path / "builds/x.lock")
    assert waiting.stdout.readline() == "holding\n"
    waiting.communicate("")
    assert names(tmp_path) == {"x", "x.lock"}
