"""A message as people get it, and the pauses between its tries."""

from waterclock.domain.message import Message
from waterclock.domain.moment import SECOND
from waterclock.domain.notice import MOST_TRIES, notice_of, pause_after


def message(**more: object) -> Message:
    known: dict[str, object] = dict.fromkeys(("run_id", "chain_id", "flow_run_id", "tag", "subtag", "node", "read_at"))
    known |= {"id": 7, "org_id": 1, "kind": "chain_failed", "severity": "error", "created_at": 1_700_000_000 * SECOND}
    return Message(**{**known, "subject": "nightly", "body": "why\noutput", **more})  # type: ignore[arg-type]


def test_a_notice_says_what_when_and_why() -> None:
    notice = notice_of(message(chain_id=3, flow_run_id=9, tag="important", subtag="sales", run_id=1))
    assert notice.subject == "[waterclock] error nightly"
    assert notice.body == (
        "what: chain_failed\nchain: 3\ntags: important, sales\nrun: 9\ntime: 2023-11-14T22:13:20Z\nmessage: 7\n\n"
        "why\noutput"
    )


def test_what_is_about_no_chain_names_none() -> None:
    assert notice_of(message(body="")).body == "what: chain_failed\ntime: 2023-11-14T22:13:20Z\nmessage: 7"


def test_a_subject_is_one_line() -> None:
    assert notice_of(message(subject="a\r\nBcc: eve@firm\t b")).subject == "[waterclock] error a Bcc: eve@firm b"


def test_the_pauses_grow_and_the_fifth_try_is_the_last() -> None:
    assert [pause_after(tries) for tries in range(1, MOST_TRIES + 1)] == [10, 60, 300, 1_800, None]
