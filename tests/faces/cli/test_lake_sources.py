"""`waterclock lake source`: sources made, changed, shown and asked; no secret is given as an argument, or printed."""

import asyncio
import json
from typing import Any

from tests.faces.api.serving import Served
from tests.faces.cli.conftest import CommandLine
from waterclock import __version__
from waterclock.domain.run import RunState
from waterclock.stores.ops.nodes import WORKER, Node, beat

SHOP = ("shop", "--kind", "postgresql", "--host", "db", "--database", "shop", "--user", "reader")


async def made(wc: CommandLine, *more: str, given: str = "") -> str:
    said = await wc.here("lake", "source", "create", *(more or SHOP), given=given)
    assert said.code == 0, said.err
    return said.out.strip()


async def shown(wc: CommandLine, source: str) -> Any:
    return json.loads(await wc.ok("lake", "source", "show", source, "--json"))


async def test_a_source_is_made_shown_changed_listed_and_deleted(wc: CommandLine, server: Served) -> None:
    (wc.folder / "pw").write_text("hunter22\n")
    number = await made(wc, *SHOP, "--password-file", "pw", "--set", "options.sslmode=require")
    source = await shown(wc, "shop")
    assert source["source_id"] == int(number)
    assert source["config"] == {
        "host": "db",
        "port": 5432,
        "user": "reader",
        "database": "shop",
        "password": "******",
        "options": {"sslmode": "require"},
    }
    name = f"source-{number}-password"
    assert (await server.context.secrets.values(1, [name]))[name] == "hunter22"
    assert "hunter22" not in await wc.ok("lake", "source", "show", number)
    changes = ("--host", "db2", "--port", "6543", "--name", "shop 2", "--unset", "options")
    assert await wc.ok("lake", "source", "update", "shop", *changes) == "updated source shop\n"
    again = await shown(wc, number)
    assert (again["name"], again["config"]["host"], again["config"]["port"]) == ("shop 2", "db2", 6543)
    assert "options" not in again["config"]
    assert (await server.context.secrets.values(1, [name]))[name] == "hunter22"
    assert "postgresql" in await wc.ok("lake", "source", "list")
    assert [each["name"] for each in json.loads(await wc.ok("lake", "source", "list", "--json"))] == ["shop 2"]
    assert await wc.ok("lake", "source", "delete", "shop 2") == "deleted source shop 2\n"
    gone = await wc.here("lake", "source", "show", "shop 2")
    assert (gone.code, "there is no source 'shop 2'" in gone.err) == (2, True)


async def test_secrets_come_from_files_and_standard_input(wc: CommandLine, server: Served) -> None:
    (wc.folder / "key").write_text("-----BEGIN\nabc\n-----END\n")
    sftp = ("files", "--kind", "sftp", "--host", "h", "--user", "u")
    number = await made(wc, *sftp, "--secret-file", "private_key=key")
    name = f"source-{number}-private_key"
    assert (await server.context.secrets.values(1, [name]))[name] == "-----BEGIN\nabc\n-----END\n"
    crm = ("crm", "--kind", "rest", "--base-url", "https://crm/api", "--set", "auth.type=bearer", "--set", "retries=3")
    number = await made(wc, *crm, "--secret-file", "auth.token=-", given="hunter22\n")
    name = f"source-{number}-auth-token"
    assert (await server.context.secrets.values(1, [name]))[name] == "hunter22"
    referred = ("other", *SHOP[1:], "--set", "password={{secret:warehouse}}")
    assert (await shown(wc, await made(wc, *referred)))["config"]["password"] == "{{secret:warehouse}}"
    for field, value in (("password", "hunter22"), ("password", "12345"), ("headers.X-Api-Key", "hunter22")):
        said = await wc.here("lake", "source", "create", "x", *SHOP[1:], "--set", f"{field}={value}")
        assert (said.code, f"give --secret-file {field}=FILE" in said.err) == (2, True)
        assert value not in said.err
    twice = await wc.here("lake", "source", "create", *SHOP, "--password-file", "-", "--secret-file", "options.key=-")
    assert (twice.code, "standard input can hold one secret" in twice.err) == (2, True)
    lost = await wc.here("lake", "source", "create", *SHOP, "--password-file", "nowhere")
    assert (lost.code, "password: nowhere: No such file" in lost.err) == (2, True)


async def test_a_source_is_asked_by_a_worker(wc: CommandLine, server: Served) -> None:
    await made(wc)
    alone = await wc.here("lake", "source", "test", "shop")
    assert (alone.code, "no worker is alive" in alone.err) == (2, True)
    node = Node(id="n", host="n", name="n", duties=(WORKER,), slots=4, queues=("default",), version=__version__, pid=1)
    await server.database.write(beat, node=node, wall_us=0)

    async def asked(*command: str, **answer: object) -> str:
        said = asyncio.ensure_future(wc.here("lake", "source", *command))
        held = await server.hand.begin_soon()
        await held.say(**answer)
        await held.end(RunState.SUCCEEDED)
        return (await said).out

    assert await asked("test", "shop", message="PostgreSQL 18.4") == "PostgreSQL 18.4\n"
    assert await asked("tables", "shop", tables=["public.a", "public.b"]) == "public.a\npublic.b\n"
    columns = [{"name": "id", "type": "int64"}, {"name": "city", "type": "string"}]
    rows = [[1, "Huế"], [2, None]]
    people = await asked("preview", "shop", "--table", "a", "-n", "2", columns=columns, rows=rows)
    assert people.splitlines() == ["id (int64)  city (string)", "1           Huế", "2           -"]
    told = await asked("preview", "shop", "--set", "options.header=true", "--json", columns=columns, rows=rows)
    assert json.loads(told) == {"columns": columns, "rows": rows}
