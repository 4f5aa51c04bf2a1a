"""Repositories as jobs name them: which are cloned, with what, and that nothing else is asked, run, shown or left."""

import os
import re
import shlex
import socket
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.runners.lake.git_server import HOST, GitServer, git_server
from tests.runners.lake.repositories import Repository
from waterclock.runners.lake import git
from waterclock.runners.lake.git import Checkout, clone
from waterclock.runners.lake.git_address import Scheme, address_of
from waterclock.runners.lake.task import TaskFailed

PASSWORD = "hunter2hunter2"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nbm90IGEga2V5\n-----END OPENSSH PRIVATE KEY-----\n"


class Desk:
    """A worker's cache and root, and a fresh folder for each clone."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache, self._work = folder / "root", folder / "cache", folder / "work"
        self._work.mkdir()
        self.count = 0

    @cached_property
    def repository(self) -> Repository:
        return Repository(self.root / "app")

    def clone(self, url: str | None = None, *, branch: str | None = None, **more: Any) -> Checkout:
        self.count += 1
        into = self._work / str(self.count) / "source"
        into.parent.mkdir()
        given = {"roots": [str(self.root)], "allows_private": True, "credentials": None, **more}
        try:
            url = str(self.repository.path) if url is None else url
            return clone(url, branch=branch, into=into, cache=self.cache, **given)
        finally:
            assert {each.name for each in into.parent.iterdir()} <= {"source"}  # no settings, no credentials

    def mirrors(self) -> list[Path]:
        return [path for path in (self.cache / git.KIND).iterdir() if path.is_dir()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def server(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    with git_server(desk.root, tmp_path) as server:
        monkeypatch.setenv("GIT_SSL_CAINFO", str(server.certificate))
        yield server


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What hosts stand for, for us alone: the system knows none of them."""
    known: dict[str, str] = {}

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """A program that comes first in PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name: str, body: str) -> Path:
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
        return folder

    return put


# Which addresses


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("abcd", "git_url 'abcd' is no address that may be cloned; use https://host/path, ssh://host/path"),
        ("", "has no git_url"),
        ("  ", "has no git_url"),
        ("ext::sh -c touch% /tmp/x", "ext:: runs commands; use https"),
        ("http://example.com/a.git", "http:// is not encrypted"),
        ("git://example.com/a.git", "neither encrypted nor proves who answers"),
        ("ftp://example.com/a.git", "no address"),
        ("HTTPS://example.com/a.git", "no address"),
        ("--upload-pack=touch /tmp/x", "begins with '-'"),
        ("-u", "begins with '-'"),
        ("https://exa\0mple.com/a", "control character"),
        ("https://example.com/a\n.git", "control character"),
        ("https://example.com/\ud800", "control character"),
        ("ssh://-oProxyCommand=touch/x", "no address"),
        ("ssh://%2doProxyCommand=touch/x", "no address"),
        ("ssh://-l@example.com/x", "no address"),
        ("git@-oProxyCommand=touch:x", "no address"),
        ("git@example.com:-x", "no address"),
        ("ssh://example.com:99999/x", "there is no port 99999"),
        ("https://example.com:0/x", "there is no port 0"),
        ("https://good.com\\@evil.com/x", "no address"),
        ("https://example.com", "no address"),
        ("../app", "no address"),
        ("file://elsewhere/app", "file:// names a folder of this worker"),
        ("file:///etc", "not inside a folder that may be cloned from"),
        ("/etc/passwd", "not inside a folder that may be cloned from"),
        ("/root%00/app", "not inside"),
        ("file:///root%00/app", "not inside"),
    ],
)
def test_what_is_no_address_is_refused_with_what_is_allowed(desk: Desk, url: str, reason: str) -> None:
    with pytest.raises(TaskFailed) as refused:
        desk.clone(url)
    assert reason in str(refused.value)
    assert not desk.cache.exists()


@pytest.mark.parametrize("url", ["https://bob:hunter2@exa mple.com/x", "ssh://bob:hunter2@h/x", "bob:hunter2@h"])
def test_a_password_in_an_address_is_not_repeated(url: str) -> None:
    with pytest.raises(TaskFailed, match=r"\*\*\*@") as refused:
        address_of(url, ())
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com/a/b.git", (Scheme.HTTPS, "example.com", 443, "", "")),
        ("https://bob:p%40ss@example.com:8443/a", (Scheme.HTTPS, "example.com", 8443, "bob", "p@ss")),
        ("https://[2001:db8::1]/a", (Scheme.HTTPS, "[2001:db8::1]", 443, "", "")),
        ("ssh://git@example.com:2222/a.git", (Scheme.SSH, "example.com", 2222, "git", "")),
        ("git@example.com:a/b.git", (Scheme.SSH, "example.com", 22, "git", "")),
    ],
)
def test_an_address_is_read(url: str, expected: tuple[object, ...]) -> None:
    found = address_of(url, ())
    assert (found.scheme, found.host, found.port, found.user, found.password) == expected
    assert "p%40ss" not in found.url


def test_a_folder_is_cloned_only_where_it_really_is_inside_a_root(desk: Desk, tmp_path: Path) -> None:
    commit = desk.repository.commit(a="1")
    outside = Repository(tmp_path / "outside")
    outside.commit(secret="x")
    (desk.root / "link").symlink_to(outside.path)
    (desk.root / "inner").symlink_to(desk.repository.path)
    for url in (desk.root / "link", desk.root / "../outside", f"file://{desk.root}/%2e%2e/outside"):
        with pytest.raises(TaskFailed, match=r"not inside a folder.*lake.roots: "):
            desk.clone(str(url))
    for url in (f"file://{desk.repository.path}", f"file://localhost{desk.repository.path}", f"{desk.root}/inner"):
        assert desk.clone(url).commit == commit
    with pytest.raises(TaskFailed, match="there is no such folder"):
        desk.clone(f"{desk.root}/nothing")
    with pytest.raises(TaskFailed, match="none is set"):
        desk.clone(roots=[""])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "169.254.169.254"])
@pytest.mark.parametrize("url", ["https://{}/a", "ssh://{}/a", "git@{}:a"])
def test_a_private_address_is_refused_unless_an_admin_allows_it(desk: Desk, url: str, host: str) -> None:
    with pytest.raises(TaskFailed, match=r"not a public address; an admin may allow it with the setting lake.private"):
        desk.clone(url.format(host), allows_private=False)


def test_a_host_that_nobody_knows_is_said(desk: Desk, names: dict[str, str]) -> None:
    with pytest.raises(TaskFailed, match=r"the host 'git.example' is not known to this worker"):
        desk.clone("https://git.example/a")


# What is fetched


def test_the_newest_commit_of_a_branch_or_tag_is_checked_out(desk: Desk) -> None:
    first = desk.repository.commit(a="1")
    desk.repository.git("tag", "--annotate", "--message", "x", "v1")
    desk.repository.git("checkout", "--quiet", "-b", "topic/x")
    second = desk.repository.commit(a="2")
    desk.repository.git("checkout", "--quiet", "main")
    assert [desk.clone(branch=name).commit for name in (None, "main", "topic/x", "v1")] == [first, first, second, first]
    found = desk.clone(branch="topic/x")
    assert (found.path / "a").read_text() == "2"
    repository = Repository(found.path, is_new=False)
    assert repository.git("log", "--format=%H").split() == [second, first]
    assert repository.git("remote", "get-url", "origin") == str(desk.repository.path)


def test_the_next_time_only_what_is_new_is_fetched(desk: Desk) -> None:
    desk.repository.commit(a="1" * 10_000)
    desk.clone()
    (mirror,) = desk.mirrors()
    before = mirror.stat().st_ino
    old = set(mirror.glob("objects/??/*"))
    new = desk.repository.commit(b="2")
    assert desk.clone().commit == new
    assert desk.mirrors() == [mirror]
    assert mirror.stat().st_ino == before
    assert old < set(mirror.glob("objects/??/*"))


def test_a_branch_that_was_rewritten_is_followed(desk: Desk) -> None:
    desk.repository.commit(a="1")
    desk.clone(branch="main")
    desk.repository.git("commit", "--quiet", "--amend", "--message", "another")
    assert desk.clone(branch="main").commit == desk.repository.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("branch", "reason"),
    [
        ("nowhere", "has no branch 'nowhere'"),
        ("a..b", "no name that a branch can have"),
        ("a b", "no name that a branch can have"),
        ("a:refs/heads/b", "no name that a branch can have"),
        ("a\n", "no name that a branch can have"),
        ("--upload-pack=x", "has no branch"),
    ],
)
def test_a_branch_that_is_not_there_is_said(desk: Desk, branch: str, reason: str) -> None:
    desk.repository.commit(a="1")
    with pytest.raises(TaskFailed, match=reason):
        desk.clone(branch=branch)


def test_an_empty_repository_and_a_folder_that_is_none_are_said(desk: Desk) -> None:
    with pytest.raises(TaskFailed, match="has no commit yet"):
        desk.clone()
    (desk.root / "plain").mkdir()
    with pytest.raises(TaskFailed, match=r"^'.*/plain' does not appear to be a git repository"):
        desk.clone(str(desk.root / "plain"))


def test_what_one_that_was_killed_left_in_a_mirror_is_made_anew(desk: Desk) -> None:
    commit = desk.repository.commit(a="1")
    desk.clone()
    (mirror,) = desk.mirrors()
    for left in (git._MARK, "shallow.lock", "HEAD.lock"):
        (mirror / left).touch()
    (mirror / "config").unlink()
    assert desk.clone().commit == commit
    assert not list(mirror.glob("*.lock"))
    (mirror / git._MARK).touch()
    (mirror / "HEAD").unlink()
    assert desk.clone().commit == commit


def test_a_stop_in_mid_fetch_leaves_no_mirror(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.repository.commit(a="1")

    def stopped(*_: Any) -> None:
        raise SystemExit(143)

    monkeypatch.setattr(git.Git, "_fetched", stopped)
    with pytest.raises(SystemExit):
        desk.clone()
    assert desk.mirrors() == []


def test_submodules_are_left_alone_and_nothing_of_the_repository_is_run(desk: Desk, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    module = f'[submodule "evil"]\n\tpath = evil\n\turl = ext::touch% {ran}\n\tupdate = !touch {ran}\n'
    attributes = "* filter=evil\n"
    desk.repository.commit(__gitmodules=module, __gitattributes=attributes, a="1")
    link = desk.repository.git("rev-parse", "HEAD")
    desk.repository.git("update-index", "--add", "--cacheinfo", f"160000,{link},evil")
    desk.repository.git("commit", "--quiet", "--message", "a submodule")
    hook = desk.repository.path / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    checkout = desk.clone()
    assert list((checkout.path / "evil").iterdir()) == []
    assert not ran.exists()


def test_settings_of_the_host_are_not_read(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = desk.repository.commit(a="1")
    (tmp_path / ".gitconfig").write_text('[url "ext::false "]\n\tinsteadOf = /\n[core]\n\tbroken\n\t= =\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "nonsense")
    assert desk.clone().commit == commit


@pytest.mark.usefixtures("root_only")
def test_a_repository_of_another_user_is_cloned_where_its_root_is_allowed(desk: Desk) -> None:
    commit = desk.repository.commit(a="1")
    for path in (desk.repository.path, *desk.repository.path.rglob("*")):
        os.chown(path, 65534, 65534)
    assert desk.clone().commit == commit


def test_without_git_it_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.repository.commit(a="1")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TaskFailed, match="git is not installed on this worker"):
        desk.clone()


# Over https


@pytest.mark.parametrize(
    ("credentials", "login"),
    [(f"bob:{PASSWORD}", f"bob:{PASSWORD}"), (PASSWORD, f"x-access-token:{PASSWORD}"), ("a@b:c:/%?#", "a@b:c:/%?#")],
)
def test_a_login_or_a_token_opens_a_repository(
    desk: Desk, server: GitServer, put: Callable[[str, str], Path], credentials: str, login: str
) -> None:
    """And stands in the words of no command."""
    commit = desk.repository.commit(a="1")
    told = desk.root / "told"
    put("git", f'printf "%s\\n" "$@" >>{told}\nPATH=${{PATH#*:}} exec git "$@"')
    server.password = login
    assert desk.clone(server.url("app"), credentials=credentials).commit == commit
    assert server.logins[0] is None
    assert set(server.logins) == {None, login}
    assert "fetch" in told.read_text()
    assert credentials not in told.read_text()


def test_a_login_in_the_address_serves_and_is_kept_nowhere(desk: Desk, server: GitServer) -> None:
    desk.repository.commit(a="1")
    server.password = f"bob:{PASSWORD}"
    found = desk.clone(server.url("app").replace("https://", f"https://bob:{PASSWORD}@"))
    assert found.url == server.url("app")
    kept = [path for folder in (desk.cache, found.path) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in kept if PASSWORD.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("secret", ["pass:word", "bob:pass:word"])
def test_a_user_in_the_address_has_the_secret_for_a_password(desk: Desk, server: GitServer, secret: str) -> None:
    desk.repository.commit(a="1")
    server.password = "bob:pass:word"
    desk.clone(server.url("app").replace("https://", "https://bob@"), credentials=secret)


def test_a_wrong_login_is_said_without_it(desk: Desk, server: GitServer) -> None:
    server.password = "bob:another"
    with pytest.raises(TaskFailed, match=r"^Authentication failed for 'https://127.0.0.1") as refused:
        desk.clone(server.url("app"), credentials=f"bob:{PASSWORD}")
    assert PASSWORD not in str(refused.value)
    with pytest.raises(TaskFailed, match=r"^could not read Username for 'https://127.0.0.1.*terminal prompts disabled"):
        desk.clone(server.url("app"))
    with pytest.raises(TaskFailed, match="a private key is for ssh"):
        desk.clone(server.url("app"), credentials=KEY)


def test_a_repository_that_is_not_there_and_a_wrong_certificate_are_said(
    desk: Desk, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TaskFailed, match=r"^repository 'https://127.0.0.1:.*/nothing/' not found"):
        desk.clone(server.url("nothing"))
    monkeypatch.delenv("GIT_SSL_CAINFO")
    with pytest.raises(TaskFailed, match=r"(?i)^unable to access .*certificate"):
        desk.clone(server.url("app"))


def test_a_redirect_is_not_followed(desk: Desk, server: GitServer) -> None:
    desk.repository.commit(a="1")
    server.redirects_to = "https://127.0.0.1:1"
    with pytest.raises(TaskFailed, match="returned error: 301: write the address that it redirects to"):
        desk.clone(server.url("app"))


def test_git_goes_to_the_address_that_was_looked_up_and_nowhere_else(
    desk: Desk, server: GitServer, names: dict[str, str]
) -> None:
    """Only we know what the name stands for: had git looked it up again, it would have found nothing."""
    commit = desk.repository.commit(a="1")
    names[HOST] = "127.0.0.1"
    assert desk.clone(server.url("app", HOST)).commit == commit


def test_a_git_that_cannot_be_held_to_addresses_is_refused(
    desk: Desk, names: dict[str, str], put: Callable[[str, str], Path]
) -> None:
    names["git.example"] = "8.8.8.8"
    put("git", "echo git version 2.34.1")
    with pytest.raises(TaskFailed, match=r"git version 2.34.1 is too old .* install git 2.37 or newer"):
        desk.clone("https://git.example/a", allows_private=False)


# Over ssh: a stand-in that runs what it is asked to run there, here


SSH = """
printf '%s\\n' "$@" >words
echo "$WATERCLOCK_RUN_ID" >run
while test $# -gt 1; do
    test "$1" != -i || { stat -c %a "$2" >mode; cat "$2" >key; }
    shift
done
exec sh -c "$1"
"""


@pytest.mark.parametrize("form", ["ssh://git@git.example:2222{}", "git@git.example:{}"])
def test_a_key_opens_a_repository_over_ssh(
    desk: Desk,
    names: dict[str, str],
    put: Callable[[str, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    commit = desk.repository.commit(a="1")
    names["git.example"] = "8.8.8.8"
    told = desk.root / "told"
    told.mkdir()
    put("ssh", re.sub(r">(\w+)", rf">{told}/\1", SSH))
    monkeypatch.setenv("WATERCLOCK_RUN_ID", "jr_1")
    found = desk.clone(form.format(desk.repository.path), credentials=KEY, allows_private=False)
    assert found.commit == commit
    words, run_id, mode, key = ((told / each).read_text() for each in ("words", "run", "mode", "key"))
    assert (run_id, mode, key) == ("jr_1\n", "600\n", KEY)
    argv = words.splitlines()
    options = {argv[at + 1] for at, word in enumerate(argv) if word == "-o"}
    alias = "[git.example]:2222" if "2222" in form else "git.example"
    assert {"BatchMode=yes", "StrictHostKeyChecking=accept-new", "HostName=8.8.8.8", f"HostKeyAlias={alias}"} <= options
    assert f'UserKnownHostsFile="{desk.cache}/known_hosts"' in options
    assert argv[:2] == ["-F", "/dev/null"]
    assert "git@git.example" in argv
    assert shlex.split(argv[-1]) == ["git-upload-pack", str(desk.repository.path)]


def test_what_ssh_says_is_the_reason(desk: Desk, names: dict[str, str], put: Callable[[str, str], Path]) -> None:
    names["git.example"] = "8.8.8.8"
    put("ssh", "echo 'git@git.example: Permission denied (publickey).' >&2; exit 255")
    with pytest.raises(TaskFailed, match=r"^git@git.example: Permission denied \(publickey\)\. \(git, git@git.ex"):
        desk.clone("git@git.example:app")
    with pytest.raises(TaskFailed, match="for ssh the secret must be a private key"):
        desk.clone("git@git.example:app", credentials="bob:secret")
