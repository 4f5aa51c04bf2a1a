"""Where scripts are found, and where they are not looked for."""

from pathlib import Path

import pytest

from waterclock.domain.errors import CannotRun
from waterclock.runners.interpreters import command
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import parse_modules


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    (tmp_path / "scripts" / "ann").mkdir(parents=True)
    (tmp_path / "scripts" / "ann" / "job.py").write_text("")
    (tmp_path / "scripts" / "bob").mkdir()
    (tmp_path / "scripts" / "bob" / "secret.py").write_text("")
    (tmp_path / "elsewhere.py").write_text("")
    return Scripts(owners_root=tmp_path / "scripts", readers={"s3": lambda _: b"print()"})


def test_a_path_is_looked_for_in_its_owners_folder(scripts: Scripts, tmp_path: Path) -> None:
    assert scripts.local("job.py", "ann") == tmp_path / "scripts" / "ann" / "job.py"


@pytest.mark.parametrize("location", ["../bob/secret.py", "/etc/passwd", "a/../../bob/secret.py", "../../elsewhere.py"])
def test_a_path_never_leads_out_of_its_owners_folder(scripts: Scripts, location: str) -> None:
    with pytest.raises(CannotRun, match="outside its owner's folder"):
        scripts.local(location, "ann")


def test_a_symbolic_link_does_not_lead_out_either(scripts: Scripts, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "ann" / "link.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(CannotRun, match="outside"):
        scripts.local("link.py", "ann")


@pytest.mark.parametrize("owner", ["..", ".", "", "../bob", "bob/../bob"])
def test_a_user_name_is_not_a_way_out(scripts: Scripts, owner: str) -> None:
    with pytest.raises(CannotRun):
        scripts.local("secret.py", owner)


def test_a_file_url_names_any_file_unless_the_admin_narrows_it(scripts: Scripts, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/elsewhere.py"
    assert scripts.local(url, "ann") == tmp_path / "elsewhere.py"
    narrow = Scripts(owners_root=tmp_path, allowed_roots=(tmp_path / "scripts",))
    with pytest.raises(CannotRun, match="outside the folders that the administrator allows"):
        narrow.local(url, "ann")
    assert narrow.local(f"file://{tmp_path}/scripts/ann/job.py", "ann")


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///no/such/script.py", "does not exist"),
        ("file://otherhost/script.py", "three slashes"),
        ("file:///tmp", "is not a file"),
        ("gopher://x/y.py", "known here: file://, s3://"),
        ("a\0b.py", "NUL"),
        ("file:///etc/%00passwd", "NUL"),
    ],
)
def test_what_cannot_be_found_says_why(scripts: Scripts, location: str, reason: str) -> None:
    with pytest.raises(CannotRun, match=reason):
        scripts.local(location, "ann")


async def test_what_is_elsewhere_is_fetched_into_the_attempts_folder(scripts: Scripts, tmp_path: Path) -> None:
    assert scripts.local("s3://bucket/a/b.py", "ann") is None
    fetched = await scripts.fetch("s3://bucket/a/b.py", tmp_path)
    assert fetched == tmp_path / "b.py"
    assert fetched.read_bytes() == b"print()"


def test_python_is_warm_unless_it_has_packages_of_its_own() -> None:
    script = Path("/x/job.py")
    assert command("python", script, ["--a", "1"], {}).warm
    built = command("python", script, ["--a", "1"], {}, "/venv/bin/python")
    assert not built.warm
    assert built.argv == ("/venv/bin/python", "/x/job.py", "--a", "1")


def test_other_kinds_are_run_by_their_interpreter() -> None:
    assert command("shell", Path("/x/job.sh"), [], {}).argv == ("/bin/sh", "/x/job.sh")
    assert command("mine", Path("/x/job"), ["1"], {"mine": "cat"}).argv[1:] == ("/x/job", "1")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("cobol", "'cobol' is not known to this worker; it knows java, none, python, shell"),
        ("none", "'no-such-program', which is not installed"),
        ("spark", r"waterclock\[spark\]"),
        ("ray", r"waterclock\[ray\]"),
    ],
)
def test_a_kind_that_nothing_runs_says_what_would(kind: str, reason: str) -> None:
    with pytest.raises(CannotRun, match=reason):
        command(kind, Path("/x"), [], {"none": "no-such-program"})


def test_modules_are_packages_never_options() -> None:
    assert parse_modules("six==1.16.0, numpy") == ("six==1.16.0", "numpy")
    for refused in ("--target=/", "", " , "):
        with pytest.raises(CannotRun):
            parse_modules(refused)
