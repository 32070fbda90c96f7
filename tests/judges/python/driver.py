"""One case of the official Python SDK against a host; prints one JSON object.

    driver.py CASE MUSE PROFILE WORKSPACE [HOST_ARG…]

Only the documented interface of `muse_code` is used. What was seen is reported and not judged: the
Rust test beside it knows what it should have been.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Awaitable, Callable, Mapping

from muse_code import ApprovalDecisionInput, MuseClient, ResumeSessionOptions

from host import (
    CASE,
    OLD,
    WORKSPACE,
    Host,
    Report,
    bounded,
    connect,
    exit_row,
    items_of,
    outcome_of,
    spawn_options,
    until,
    with_host,
)


async def start(host: Host, report: Report) -> None:
    session = await host.start()
    report["server"] = host.client.initialize_result["serverInfo"]
    report["durability"] = host.client.durability.kind
    report["session"] = session.opening.result["session"]


async def stream(host: Host, report: Report) -> None:
    await host.start()
    turn = await host.prompt("hello")
    deltas: dict[str, str] = {}

    async def listen() -> None:
        async for delta in turn.deltas():
            field = delta.get("field", "text")
            deltas[field] = deltas.get(field, "") + delta["delta"]

    async def follow() -> None:
        async for _ in turn.items():
            pass

    listening = asyncio.ensure_future(listen())
    following = asyncio.ensure_future(follow())
    report["outcome"] = await outcome_of(turn)
    await bounded(asyncio.gather(listening, following))
    report["deltas"] = deltas
    report["items"] = items_of(host.session)


def chooser(report: Report, choice: str) -> Callable[[Any], ApprovalDecisionInput]:
    report["asked"] = []

    def choose(request: Mapping[str, Any]) -> ApprovalDecisionInput:
        stage = request["currentRequirementId"]["sourceIndex"]
        offered = [offer["choiceId"] for offer in request["availableChoices"]]
        report["asked"].append({"stage": stage, "offered": offered, "tool": request["toolName"]})
        return ApprovalDecisionInput(choice_id=choice)

    return choose


async def decided(host: Host, report: Report, prompt: str, choice: str) -> None:
    session = await host.start()
    report["failures"] = []
    session.on_approval_error(lambda failure: report["failures"].append(repr(failure)))
    session.on_approval(chooser(report, choice))
    turn = await host.prompt(prompt)
    following = asyncio.ensure_future(follow_stages(host, report, choice) if OLD else nothing())
    report["outcome"] = await outcome_of(turn)
    following.cancel()
    report["items"] = items_of(session)
    report["pending"] = len(session.fold.pending_approvals())
    report["resolved"] = len(session.fold.resolved_approvals())


async def nothing() -> None:
    pass


async def follow_stages(host: Host, report: Report, choice: str) -> None:
    """Decides the later stages: an older SDK folds `approval/updated` and tells its handler nothing."""
    decided: list[Any] = []

    def later() -> Any:
        updates = [pending.latest_update for pending in host.session.fold.pending_approvals()]
        return [u for u in updates if u and u["currentRequirementId"] not in decided]

    while True:
        [update] = await until(later)
        decided.append(update["currentRequirementId"])
        offered = [offer["choiceId"] for offer in update["availableChoices"]]
        stage = update["currentRequirementId"]["sourceIndex"]
        report["asked"].append({"stage": stage, "offered": offered, "tool": None})
        params = {"sessionId": host.session.session_id, "approvalId": update["approvalId"]}
        params["requirementId"] = update["currentRequirementId"]
        params["choiceId"] = choice
        await bounded(host.connection.command("approval/decide", params))


async def approval(host: Host, report: Report) -> None:
    await decided(host, report, "run ls -la", "allow_once")


async def approval_refused(host: Host, report: Report) -> None:
    await decided(host, report, "run ls -la", "abort")


async def staged_approval(host: Host, report: Report) -> None:
    await decided(host, report, "run make a; pwd; make b", "allow_once")


async def user_input(host: Host, report: Report) -> None:
    session = await host.start()
    turn = await host.prompt("ask")
    [asked] = await until(session.fold.pending_user_inputs)
    question = asked["questions"][0]
    label = question["options"][1]["label"]
    answers = [{"questionId": question["id"], "selectedLabel": label}]
    if not OLD:
        ack = await bounded(session.answer_user_input(asked["userInputId"], answers))
    else:
        params = {"sessionId": session.session_id, "userInputId": asked["userInputId"]}
        params["answers"] = answers
        ack = await bounded(host.connection.command("userInput/answer", params))
    report["ack"] = ack
    report["outcome"] = await outcome_of(turn)
    report["settled"] = [prompt["outcome"] for prompt in session.fold.settled_user_inputs()]
    report["pending"] = len(session.fold.pending_user_inputs())
    report["items"] = items_of(session)


async def gap(host: Host, report: Report) -> None:
    session = await host.start()
    report["failures"] = []
    session.on_gap_error(lambda failure: report["failures"].append(repr(failure)))
    turn = await host.prompt("gap 3")
    report["outcome"] = await outcome_of(turn)
    await until(lambda: session.fold.current)
    report["items"] = items_of(session)


async def resume(host: Host, report: Report) -> None:
    session = await host.start()
    await outcome_of(await host.prompt("hello"))
    options = ResumeSessionOptions(session_id=session.session_id)
    again = await bounded(host.client.resume_session(options))
    result = again.opening.result
    report["same"] = again.session_id == session.session_id
    report["turnCount"] = result["session"]["turnCount"]
    report["mode"] = result["history"]["mode"]
    report["kinds"] = [item["kind"] for item in result["history"].get("items") or []]
    report["before"] = [item["kind"] for item in items_of(session)]
    host.session = again
    report["outcome"] = await outcome_of(await host.prompt("once more"))


async def resume_pending() -> Report:
    """A client that comes to a session with an open approval.

    The session is made through the bare connection: a client that knows it already would take the
    request that is issued again for the view that it has, and not for the one that it opens.
    """
    spawned = await connect(spawn_options(""))
    connection = spawned.connection
    asked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def hear(frame: Mapping[str, Any]) -> None:
        if frame["method"] == "approval/requested" and not asked.done():
            asked.set_result(frame["params"])

    connection.on_notification(hear)
    started = await bounded(connection.command("session/start", {"workspaceRoot": WORKSPACE}))
    session_id = started["session"]["sessionId"]
    prompt = {"sessionId": session_id, "input": [{"type": "text", "text": "run ls -la"}]}
    ack = await bounded(connection.command("turn/start", prompt))
    request = await bounded(asked)

    host = Host.compose(spawned)
    report: Report = {}
    try:
        await decide_after_resume(host, report, ack["turnId"], request)
    finally:
        report["exit"] = await host.close()
    return report


async def decide_after_resume(
    host: Host, report: Report, turn_id: str, request: Mapping[str, Any]
) -> None:
    options = ResumeSessionOptions(session_id=request["sessionId"])
    chosen: Report = {"asked": None}
    if not OLD:
        options.on_approval = chooser(chosen, "allow_once")
    session = await bounded(host.client.resume_session(options))
    result = session.opening.result
    report["pending"] = [pointer["kind"] for pointer in result["pendingRequests"]]
    report["activeTurn"] = result["session"]["activeTurnId"] == turn_id
    turn = session.turn(turn_id)
    if OLD:
        # This SDK refuses the request that is issued again and has no other way to it.
        params = {name: request[name] for name in ("sessionId", "approvalId")}
        params["requirementId"] = request["currentRequirementId"]
        params["choiceId"] = "allow_once"
        await bounded(host.connection.command("approval/decide", params))
    report["outcome"] = await outcome_of(turn)
    report["asked"] = chosen["asked"]


async def death(method: str, code: str) -> Report:
    """The host ends with an exit code when a method arrives."""
    report: Report = {"error": None}
    try:
        host = await Host.spawn(f"exit:{method}:{code},stderr:last words")
    except Exception as error:  # noqa: BLE001 - what it is, is the report
        return {"spawn": type(error).__name__, "text": str(error)}
    try:
        await host.start()
        await host.prompt("hello")
    except Exception as error:  # noqa: BLE001
        report["error"] = type(error).__name__
    report["exit"] = exit_row(await bounded(host.client.exit))
    await bounded(host.client.close())
    return report


async def death_at_start(code: str) -> Report:
    """The host ends before it answers `initialize`, seen through `MuseClient.spawn`."""
    options = spawn_options(f"exit:initialize:{code},stderr:last words")
    try:
        await bounded(MuseClient.spawn(options))
    except Exception as error:  # noqa: BLE001
        row = getattr(error, "exit", None)
        report = {"error": type(error).__name__, "stderr": getattr(error, "stderr_tail", None)}
        report["exit"] = row and exit_row(row)
        return report
    return {"error": None}


async def eof(host: Host, report: Report) -> None:
    """stdout ends while the host lives."""
    await host.start()
    try:
        turn = await host.prompt("hello")
        await outcome_of(turn)
    except Exception as error:  # noqa: BLE001
        report["error"] = type(error).__name__
        report["died"] = getattr(getattr(error, "exit", None), "kind", None)


async def hang(host: Host, report: Report) -> None:
    """The host does not end at the end of its stdin: the SDK ends it after its timeout."""
    await host.start()
    report["outcome"] = await outcome_of(await host.prompt("hello"))


PLAYS: dict[str, tuple[Callable[[Host, Report], Awaitable[None]], str]] = {
    "start": (start, ""),
    "stream": (stream, ""),
    "approval": (approval, ""),
    "approval_refused": (approval_refused, ""),
    "staged_approval": (staged_approval, ""),
    "user_input": (user_input, ""),
    "gap": (gap, ""),
    "resume": (resume, ""),
    "eof": (eof, "eof:turn/start"),
    "hang": (hang, "hang-on-eof"),
}


def run(case: str) -> Awaitable[Report]:
    if case.startswith("death_at_start_"):
        return death_at_start(case.rpartition("_")[2])
    if case.startswith("death_"):
        return death("turn/start", case.rpartition("_")[2])
    if case == "resume_pending":
        return resume_pending()
    play, fault = PLAYS[case]
    return with_host(play, fault)


print(json.dumps(asyncio.run(run(CASE)), sort_keys=True))
