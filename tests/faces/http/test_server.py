"""The server itself: its port, and how it stops."""

import asyncio
import socket

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from waterclock.domain.errors import NotAllowed
from waterclock.faces.http.listening import bind
from waterclock.faces.http.server import serve

DEADLINE = 20


async def test_port_0_takes_a_free_one_and_a_stop_lets_go_of_it() -> None:
    loop = asyncio.get_running_loop()
    port: asyncio.Future[int] = loop.create_future()
    stop = asyncio.Event()
    serving = asyncio.create_task(serve(PlainTextResponse("hello"), port=0, ready=port.set_result, stop=stop))
    async with asyncio.timeout(DEADLINE), httpx.AsyncClient() as client:
        url = f"http://127.0.0.1:{await port}/"
        assert (await client.get(url)).text == "hello"
        stop.set()
        await serving
        with pytest.raises(httpx.ConnectError):
            await client.get(url)


async def test_a_stop_lets_what_is_being_answered_finish() -> None:
    loop = asyncio.get_running_loop()
    port: asyncio.Future[int] = loop.create_future()
    asked, stop = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await stop.wait()
        await PlainTextResponse("whole")(scope, receive, send)

    serving = asyncio.create_task(serve(slow, port=0, ready=port.set_result, stop=stop))
    async with asyncio.timeout(DEADLINE), httpx.AsyncClient() as client:
        answer = asyncio.create_task(client.get(f"http://127.0.0.1:{await port}/"))
        await asked.wait()
        stop.set()
        assert (await answer).text == "whole"
        await serving


def test_a_port_that_is_taken_is_said_with_the_way_out() -> None:
    with bind("127.0.0.1", 0) as taken, pytest.raises(NotAllowed, match="in use; choose another with --port"):
        bind("127.0.0.1", taken.getsockname()[1])


def test_a_given_host_may_be_of_either_family() -> None:
    with bind("::1", 0) as listening:
        assert listening.family is socket.AF_INET6
