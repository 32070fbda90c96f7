"""A spawned host, bounded calls of the SDK, and what is reported of a session.

Every call of the SDK is bounded, because the SDK has no deadlines of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Awaitable, Callable, Mapping

import muse_code
from muse_code import (
    MuseClient,
    MuseClientOptions,
    MuseClientSpawnOptions,
    SendUserTurnOptions,
    StartSessionOptions,
    read_session_durability,
)
from muse_code.connection import spawn_msp_connection

CASE, MUSE, PROFILE, WORKSPACE, *HOST_ARGS = sys.argv[1:]

BOUND_S = 20.0
# What a host is given to end by itself. One that will not do so is not given long.
SHUTDOWN_MS = 500 if CASE == "hang" else 15_000

# Before 1.4: no call for an answer, no ear for `approval/request` and `approval/updated`.
OLD = not hasattr(muse_code.Session, "answer_user_input")

Report = dict[str, Any]


def bounded(call: Awaitable[Any]) -> Awaitable[Any]:
    return asyncio.wait_for(call, BOUND_S)


class Host:
    """A client and, where the SDK has no call for something, the connection that it runs on."""

    def __init__(self, client: MuseClient, connection: Any = None) -> None:
        self.client = client
        self.connection = connection
        self.session: Any = None

    @staticmethod
    async def spawn(fault: str = "") -> "Host":
        options = spawn_options(fault)
        if not OLD:
            return Host(await bounded(MuseClient.spawn(options)))
        # An older SDK: composed by hand, as it offers to embedders.
        return Host.compose(await connect(options))

    @staticmethod
    def compose(spawned: Any) -> "Host":
        durability = read_session_durability(spawned.initialize_result)
        client = MuseClient(spawned.connection, MuseClientOptions(durability, host=spawned))
        return Host(client, spawned.connection)

    async def start(self, **options: Any) -> Any:
        options.setdefault("workspace_root", WORKSPACE)
        self.session = await bounded(self.client.start_session(StartSessionOptions(**options)))
        return self.session

    async def prompt(self, text: str) -> Any:
        part = {"type": "text", "text": text}
        options = SendUserTurnOptions(input=[part], composer_input=text)
        return await bounded(self.session.send_user_turn(options))

    async def close(self) -> Report:
        await bounded(self.client.close())
        row = await bounded(self.client.exit)
        return exit_row(row)


def spawn_options(fault: str) -> MuseClientSpawnOptions:
    env = {**os.environ, "FAKE_MSP_FAULT": fault} if fault else None
    return MuseClientSpawnOptions(
        muse_bin=MUSE,
        client_info={"name": "judge", "version": muse_code.__version__},
        args=["serve", "--strict", "--profile", PROFILE, *HOST_ARGS],
        env=env,
        shutdown_timeout_ms=SHUTDOWN_MS,
    )


async def connect(options: MuseClientSpawnOptions) -> Any:
    """A connection after the handshake, without a client."""
    handshake = await bounded(
        spawn_msp_connection(
            options.muse_bin,
            args=options.args,
            env=options.env,
            shutdown_timeout_ms=options.shutdown_timeout_ms,
        )
    )
    return await bounded(handshake.initialize({"clientInfo": options.client_info}))


def exit_row(row: Any) -> Report:
    names = ("kind", "exit_code", "exit_signal", "retry", "stderr_tail")
    return {name: getattr(row, name, None) for name in names}


async def until(what: Callable[[], Any]) -> Any:
    """The first true value. For facts of the fold that the SDK tells by no event."""

    async def look() -> Any:
        while not (found := what()):
            await asyncio.sleep(0)
        return found

    return await bounded(look())


def items_of(session: Any) -> list[Report]:
    names = ("kind", "status", "revision", "text", "visibleOutput", "summary", "tool")
    return [
        {name: item[name] for name in names if name in item}
        for item in session.fold.items.list()
    ]


async def outcome_of(turn: Any) -> Report:
    outcome = await bounded(turn.completed)
    params: Mapping[str, Any] = getattr(outcome, "params", {})
    return {"kind": outcome.kind, "terminal": params.get("terminal"), "error": params.get("error")}


async def with_host(play: Callable[[Host, Report], Awaitable[None]], fault: str = "") -> Report:
    host = await Host.spawn(fault)
    report: Report = {}
    try:
        await play(host, report)
    finally:
        report["exit"] = await host.close()
    return report
