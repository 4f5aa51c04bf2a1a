"""A Java job: its repository cloned and built, and what was built run in place of this program."""

import os
import shutil
from pathlib import Path

from waterclock.domain.run import Phase
from waterclock.runners.lake import artefacts
from waterclock.runners.lake.artefacts import Artefacts
from waterclock.runners.lake.becoming import become
from waterclock.runners.lake.build import Build
from waterclock.runners.lake.build_tools import NONE
from waterclock.runners.lake.cache import Cache
from waterclock.runners.lake.git import Checkout, clone
from waterclock.runners.lake.java_command import Job, words_of
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import TaskFailed


def run(order: Order, folder: Path, reporter: Reporter) -> int:
    reporter.phase(Phase.BUILDING)
    os.environ.update(order.java)
    job, java, temporary = Job.of(order.task), _java(), folder / "tmp"
    temporary.mkdir(exist_ok=True)
    checkout = _cloned(order, job, folder / "source")
    reporter.progress(commit=checkout.commit)
    found = _built(order, job, checkout, temporary, reporter)
    words = words_of(job, found, checkout.path)
    reporter.phase(Phase.EXECUTING)
    print("== run ==", flush=True)
    # What a JVM leaves when it is killed goes with the attempt's folder.
    become((java, "-XX:-UsePerfData", f"-Djava.io.tmpdir={temporary}", *words), checkout.path, os.environ)


def _cloned(order: Order, job: Job, into: Path) -> Checkout:
    print("== clone ==", flush=True)
    checkout = clone(
        job.url,
        branch=job.branch,
        into=into,
        cache=Path(order.cache),
        roots=order.roots,
        allows_private=order.allows_private,
        credentials=job.credentials,
    )
    print(f"{checkout.url} at {checkout.commit}", flush=True)
    return checkout


def _built(order: Order, job: Job, checkout: Checkout, temporary: Path, reporter: Reporter) -> Artefacts:
    if job.tool == NONE:
        return artefacts.committed(checkout.path)
    print("== build ==", flush=True)
    build = Build(
        tool=job.tool,
        command=job.command,
        cache=Cache(Path(order.cache)),
        temporary=temporary,
        maven_settings=order.maven_settings,
    )
    built = build.done(checkout)
    if built.cached:
        print("this commit was built before", flush=True)
    reporter.progress(build="cached" if built.cached else "built")
    return built.artefacts


def _java() -> str:
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise TaskFailed(f"JAVA_HOME of this worker is {home}, which has no bin/java")
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise TaskFailed("java is not installed on this worker")
    return found
