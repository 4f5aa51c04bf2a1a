"""Which addresses are public, and that no connection to another is made, by whomever, where that was asked for."""

import socket
import threading

import pytest

from waterclock.notices.reachable import is_public, private_address_of, public_only

PRIVATE = (
    *("127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254"),
    *("224.0.0.1", "255.255.255.255", "203.0.113.1", "::", "::1", "fe80::1%eth0", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "localhost", "", "/run/socket"),
)
PUBLIC = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8")


@pytest.mark.parametrize("address", PRIVATE)
def test_it_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_it_is_public(address: str) -> None:
    assert is_public(address)


def test_a_name_is_looked_up_however_it_is_written() -> None:
    assert private_address_of("localhost") in ("127.0.0.1", "::1")
    assert private_address_of("2130706433") == "127.0.0.1"
    assert private_address_of("0x7f.1") == "127.0.0.1"
    assert private_address_of("8.8.8.8") is None
    assert private_address_of("x" * 300) is None


def test_a_thread_that_asked_for_it_connects_to_no_private_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, public_only() as refused:
        with pytest.raises(ConnectionRefusedError, match="not a public address"):
            socket.create_connection(server.getsockname())
        with socket.socket(type=socket.SOCK_DGRAM) as datagrams, pytest.raises(ConnectionRefusedError):
            datagrams.sendto(b"x", ("127.0.0.1", 9))
        with socket.socket(socket.AF_UNIX) as local, pytest.raises(ConnectionRefusedError):
            local.connect("/run/nobody")
        others: list[socket.socket] = []
        other = threading.Thread(target=lambda: others.append(socket.create_connection(server.getsockname())))
        other.start()
        other.join(20)
        assert len(others) == 1
        others[0].close()
    assert refused == ["127.0.0.1", "127.0.0.1", "a local socket"]


def test_afterwards_it_may_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with public_only():
            pass
        socket.create_connection(server.getsockname()).close()
        with public_only(unless=True):
            socket.create_connection(server.getsockname()).close()
