"""A repository's commit in a folder: fetched into a mirror that is kept, so that the next time only what is new comes.

The mirror is a bare repository for each address, used by one program at a time. Who is killed while it fetches leaves
a mark in it, and the next one makes it anew.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.runners.lake import tool
from waterclock.runners.lake.cache import Cache, digest_of, discard
from waterclock.runners.lake.git_address import Address, Scheme, address_of, reached
from waterclock.runners.lake.git_setup import Setup
from waterclock.runners.lake.task import TaskFailed

KIND: Final = "clones"
HOLDS_ADDRESSES: Final = (2, 37)  # the first git that has http.curloptResolve
HOSTS: Final = "known_hosts"
LOCAL: Final = {"GIT_ALLOW_PROTOCOL": Scheme.FILE.value}

_MARK: Final = "waterclock-fetching"
_NOT_FOUND: Final = "couldn't find remote ref"
_REDIRECTED: Final = "returned error: 30"
_SAYS_NOTHING: Final = ("please make sure", "and the repository exists", "fatal: could not read from remote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    path: Path
    commit: str
    url: str  # where it came from, without a password


def clone(
    url: str,
    *,
    branch: str | None,
    into: Path,
    cache: Path,
    roots: Sequence[str],
    allows_private: bool,
    credentials: str | None,
) -> Checkout:
    """The newest commit of the branch (or tag; None: of the remote's own) in `into`, which must not be there yet."""
    address = address_of(url, roots)
    found = reached(address, allows_private=allows_private)
    with tempfile.TemporaryDirectory(prefix=".git-", dir=into.parent) as folder:
        setup = Setup(folder=Path(folder), address=address, found=found, credentials=credentials, hosts=cache / HOSTS)
        git = Git(folder=Path(folder), env=setup.environment(), masks=_masks(address, credentials))
        if address.scheme is Scheme.HTTPS and not allows_private:
            git.check_version()
        with Cache(cache).held(KIND, digest_of(address.url)) as mirror:
            is_new = not mirror.exists()
            commit = git.fetch(mirror, address.url, branch)
            git.check_out(mirror, address.url, commit, into)
    if is_new:
        Cache(cache).prune()
    return Checkout(path=into, commit=commit, url=address.url)


def pristine(checkout: Checkout) -> None:
    """As it was cloned, whatever has been done in it since."""
    address = Address(scheme=Scheme.FILE, url=str(checkout.path))
    with tempfile.TemporaryDirectory(prefix=".git-", dir=checkout.path.parent) as folder:
        setup = Setup(folder=Path(folder), address=address)
        git = Git(folder=Path(folder), env=setup.environment(), masks=NOTHING_TO_MASK)
        git.undo(checkout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    folder: Path
    env: dict[str, str]
    masks: Masks

    def check_version(self) -> None:
        """One that cannot be held to an address could be sent to a private one, by a name that changes."""
        said = self._said("--version")
        found = re.search(r"(\d+)\.(\d+)", said)
        if found is None or (int(found[1]), int(found[2])) < HOLDS_ADDRESSES:
            raise TaskFailed(
                f"{said} is too old to clone over https from public addresses only: install git "
                f"{'.'.join(map(str, HOLDS_ADDRESSES))} or newer, or allow private addresses (setting lake.private)"
            )

    def fetch(self, mirror: Path, url: str, branch: str | None) -> str:
        """The commit that the branch has now."""
        first, *others = self._names(branch)
        kept = f"refs/runs/{digest_of(first)}"
        with self._marked(mirror):
            ended = self._fetched(mirror, url, f"+{first}:{kept}")
            for name in others:
                if ended.exit_code and _NOT_FOUND in " ".join(ended.lines):
                    ended = self._fetched(mirror, url, f"+{name}:{kept}")
        if ended.exit_code and _NOT_FOUND in " ".join(ended.lines):
            raise TaskFailed(f"the repository {url} has no branch {branch!r}" if branch else f"{url} has no commit yet")
        self._check(ended, url)
        return self._said("-C", str(mirror), "rev-parse", "--verify", "--quiet", f"{kept}^{{commit}}")

    def check_out(self, mirror: Path, url: str, commit: str, into: Path) -> None:
        """With the repository's history; its `origin` is where it came from, not the mirror."""
        self._said("clone", "--quiet", "--local", "--no-checkout", "--", str(mirror), str(into), **LOCAL)
        self._said("-C", str(into), "remote", "set-url", "origin", url)
        self._said("-C", str(into), "checkout", "--quiet", "--detach", commit)

    def undo(self, checkout: Checkout) -> None:
        self._said("-C", str(checkout.path), "clean", "-ffdxq")
        self._said("-C", str(checkout.path), "checkout", "--quiet", "--force", "--detach", checkout.commit)

    @contextmanager
    def _marked(self, mirror: Path) -> Iterator[None]:
        """Git puts its own files in order when it ends by itself, and may not when it is killed."""
        mark = mirror / _MARK
        if mark.exists():
            discard(mirror)
        mirror.mkdir(mode=0o700, exist_ok=True)
        mark.touch()
        try:
            if not (mirror / "HEAD").exists():
                self._said("init", "--quiet", "--bare", "--", str(mirror))
            yield
            mark.unlink()
        except BaseException:
            discard(mirror)
            raise

    def _fetched(self, mirror: Path, url: str, what: str) -> tool.Ended:
        return self._run("-C", str(mirror), "fetch", "--quiet", "--no-tags", "--", url, what)

    def _names(self, branch: str | None) -> tuple[str, ...]:
        """As the remote may have it."""
        if not branch:
            return ("HEAD",)
        names = (f"refs/heads/{branch}", f"refs/tags/{branch}")
        if not branch.isprintable() or self._run("check-ref-format", names[0]).exit_code:
            raise TaskFailed(f"branch {branch!r} is no name that a branch can have")
        return names

    def _said(self, *words: str, **env: str) -> str:
        ended = self._run(*words, **env)
        self._check(ended, words[-1])
        return ended.lines[-1] if ended.lines else ""

    def _run(self, *words: str, **env: str) -> tool.Ended:
        try:
            return tool.run(("git", *words), cwd=self.folder, env={**self.env, **env}, quiet=True)
        except FileNotFoundError:
            raise TaskFailed("git is not installed on this worker") from None

    def _check(self, ended: tool.Ended, what: str) -> None:
        if ended.exit_code == 0:
            return
        reason = _reason(ended)
        hint = ": write the address that it redirects to" if _REDIRECTED in reason else ""
        raise TaskFailed(self.masks.text(f"{reason}{hint} (git, {what})"))


def _reason(ended: tool.Ended) -> str:
    """Git's last line that says why; over ssh that is what ssh said before git complained of it."""
    telling = [line for line in ended.lines if not line.lower().startswith(_SAYS_NOTHING)]
    fatal = [line for line in telling if line.startswith("fatal: ")]
    last = next(reversed(fatal or telling), f"exit code {ended.exit_code}")
    return last.removeprefix("fatal: ").removeprefix("error: ").strip()


def _masks(address: Address, credentials: str | None) -> Masks:
    parts = [credentials or "", (credentials or "").partition(":")[2], address.password]
    return Masks.of(part.strip() for part in parts if part.strip())
