"""`waterclock worker`: over a database or for a server, as it is told last and nearest."""

import pytest
from click.testing import CliRunner

from waterclock.app import launch
from waterclock.faces.cli.root import main
from waterclock.settings import Settings

SERVER, DATABASE = "http://127.0.0.1:9", "postgresql://host/db"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    found: list[Settings] = []

    def start(settings: Settings) -> int:
        found.append(settings)
        return 0

    monkeypatch.setattr(launch, "worker", start)
    return found


@pytest.mark.parametrize(
    ("arguments", "environment", "is_remote"),
    [
        (["--server", SERVER, "--token", "t"], {}, True),
        (["--server", SERVER, "--token-file", "f"], {}, True),
        (["--server", SERVER], {"WATERCLOCK_TOKEN": "t"}, True),
        (["--server", SERVER, "--token", "t"], {"WATERCLOCK_DB": DATABASE}, True),
        ([], {"WATERCLOCK_SERVER": SERVER, "WATERCLOCK_TOKEN": "t"}, True),
        ([], {"WATERCLOCK_SERVER": SERVER, "WATERCLOCK_TOKEN": "t", "WATERCLOCK_DB": DATABASE}, False),
        (["--db", DATABASE], {"WATERCLOCK_SERVER": SERVER, "WATERCLOCK_TOKEN": "t"}, False),
        ([], {"WATERCLOCK_SERVER": SERVER}, False),
    ],
)
def test_a_flag_goes_before_the_environment_and_a_database_before_a_server(
    started: list[Settings], arguments: list[str], environment: dict[str, str], is_remote: bool
) -> None:
    done = CliRunner().invoke(main, ["worker", *arguments], env=environment)
    assert done.exit_code == 0, done.output
    assert [settings.is_remote for settings in started] == [is_remote]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--server", SERVER, "--db", DATABASE], "exclude each other"), (["--server", SERVER], "--token-file FILE")],
)
def test_what_cannot_be_meant_is_refused(started: list[Settings], arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(main, ["worker", *arguments])
    assert done.exit_code == 2
    assert words in done.output
    assert not started
