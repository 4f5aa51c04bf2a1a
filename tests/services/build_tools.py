"""Maven and Gradle from Debian's packages, unpacked under .cache: what they need of others comes from there alone."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final
from xml.sax.saxutils import escape

from tests.services.components import ComponentUnavailable, component

SETTINGS: Final = """\
<settings>
  <localRepository>{local}</localRepository>
  <mirrors>
    <mirror><id>debian</id><mirrorOf>*</mirrorOf><url>{repository}</url></mirror>
  </mirrors>
</settings>
"""
MAVEN: Final = """\
#!/bin/sh
export JAVA_HOME={java}
exec {share}/maven/bin/mvn "$@"
"""
# Debian's Gradle looks for itself in /usr/share, whatever it is told: there it finds the tree, which nobody else sees.
GRADLE: Final = """\
#!/bin/sh
export JAVA_HOME={java}
test "$(id -u)" = 0 || root=--map-root-user
exec unshare --mount $root sh -c 'mount --bind {share} /usr/share && exec "$@"' sh {share}/gradle/bin/gradle "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTools:
    """`bin` holds mvn, gradle and what a JDK has: put it first in PATH. `repository` is where Maven's plugins are."""

    bin: Path
    maven_settings: Path
    repository: str


def build_tools(folder: Path) -> BuildTools:
    """In `folder`, which is theirs; the account that builds must be able to reach it."""
    java, share = component("java"), component("build") / "usr/share"
    bin = folder / "bin"
    bin.mkdir()
    for program in (java / "bin").iterdir():
        (bin / program.name).symlink_to(program)
    for name, script in {"mvn": MAVEN, "gradle": GRADLE}.items():
        (bin / name).write_text(script.format(java=quote(str(java)), share=quote(str(share))))
        (bin / name).chmod(0o755)
    if subprocess.run([bin / "gradle", "--version"], capture_output=True, check=False, timeout=60).returncode:
        raise ComponentUnavailable("Gradle: this system lets nobody have a file system of his own (unshare --mount)")
    repository = (share / "maven-repo").as_uri()
    settings = folder / "settings.xml"
    settings.write_text(SETTINGS.format(local=escape(str(folder / "maven")), repository=escape(repository)))
    return BuildTools(bin=bin, maven_settings=settings, repository=repository)
