// Drives an ACP agent with the TypeScript SDK and prints one JSON line per step, for
// tests/typescript_sdk.rs to assert. It judges as little as it can: what the SDK refuses to parse
// rejects the request, and that ends the run with exit code 1.
//
//   node ts-sdk.mjs AGENT WORKSPACE

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [agentPath, workspace] = process.argv.slice(2);
const child = spawn(agentPath, [], { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));

const report = (step, facts) => process.stdout.write(`${JSON.stringify({ step, ...facts })}\n`);

let updates = [];
let onUpdate = () => {};
let permission = "allow_once";
const asked = [];

// Resolves with the first update, past or future, that fits.
const updateWhere = (fits) =>
  new Promise((resolve) => {
    const look = () => {
      const found = updates.find(fits);
      if (found) resolve(found);
    };
    onUpdate = look;
    look();
  });

const text = (kind) =>
  updates.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join("");

const app = acp
  .client({ name: "muse-code-acp-outside-client" })
  .onNotification("session/update", ({ params }) => {
    updates.push(params.update);
    onUpdate();
  })
  .onRequest("session/request_permission", ({ params }) => {
    const option = params.options.find((o) => o.kind === permission);
    asked.push({ title: params.toolCall.title, kinds: params.options.map((o) => o.kind) });
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  });

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

await app.connectWith(stream, async (agent) => {
  const initialized = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  report("initialize", { result: initialized });

  const session = await agent.request("session/new", { cwd: workspace, mcpServers: [] });
  report("new", { hasId: typeof session.sessionId === "string" && session.sessionId !== "" });

  const prompt = async (words) => {
    updates = [];
    const answer = await agent.request("session/prompt", {
      sessionId: session.sessionId,
      prompt: [{ type: "text", text: words }],
    });
    return answer.stopReason;
  };

  const stopReason = await prompt("hello from the TypeScript SDK");
  report("prompt", {
    stopReason,
    message: text("agent_message_chunk"),
    thought: text("agent_thought_chunk"),
    chunks: updates.filter((u) => u.sessionUpdate === "agent_message_chunk").length,
  });

  for (const kind of ["allow_once", "reject_once"]) {
    permission = kind;
    asked.length = 0;
    const reason = await prompt("run ls");
    const statuses = updates.filter((u) => u.status).map((u) => u.status);
    report("permission", { answered: kind, asked, stopReason: reason, lastStatus: statuses.at(-1) });
  }

  // A card that grows for two minutes: cancelled as soon as it is seen.
  const pending = prompt("tool 10000");
  await updateWhere((u) => u.sessionUpdate === "tool_call");
  await agent.notify("session/cancel", { sessionId: session.sessionId });
  report("cancel", { stopReason: await pending, next: await prompt("hello again") });

  const refusal = await prompt("fail modelError").then(
    (reason) => ({ unexpected: reason }),
    (error) => ({ code: error.code, failure: error.data?.failure }),
  );
  report("error", refusal);

  report("close", { result: await agent.request("session/close", { sessionId: session.sessionId }) });
  const gone = await prompt("anyone there?").then(
    (reason) => ({ unexpected: reason }),
    (error) => ({ code: error.code }),
  );
  report("closed", gone);
});

child.stdin.end();
report("exit", await exited);
