"""A keeper serves program after program, and never collects cycles: a vigil must be gone with its last reference."""

import gc
import os
import weakref

from tests.runners.host import Host
from waterclock.runners import wire
from waterclock.runners.base import End
from waterclock.runners.codec import Order
from waterclock.runners.vigil import Vigil


def test_a_vigil_leaves_nothing_for_the_collector(host: Host) -> None:
    read, write = os.pipe()
    program = host.program(1, host.script("pass"))
    vigil = Vigil(Order(program=program, lease_until=program.lease_until), wire.Line(read), lambda ended: None, [])
    gc.disable()
    try:
        assert vigil.watch().end is End.EXITED  # nothing was begun
        seen = weakref.ref(vigil)
        del vigil
        assert seen() is None
    finally:
        gc.enable()
        os.close(read)
        os.close(write)
