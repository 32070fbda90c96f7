// The agent that the benchmark compares with: the TypeScript ACP SDK, no host behind it, the chunks
// made right here. `burst N BYTES` emits N message chunks; anything else answers with one.

import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const app = acp
  .agent({ name: "bench-agent" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentCapabilities: {},
    agentInfo: { name: "bench-agent", version: "0.0.0" },
    authMethods: [],
  }))
  .onRequest("session/new", () => ({ sessionId: "bench" }))
  .onRequest("session/prompt", async ({ params, client }) => {
    const [word, count, bytes] = params.prompt[0].text.split(" ");
    const [chunks, size] = word === "burst" ? [Number(count), Number(bytes ?? 16)] : [1, 16];
    const text = "x".repeat(size);
    for (let sent = 0; sent < chunks; sent += 1) {
      // Awaited, as the SDK's own examples do: the promise resolves when the stream took the line.
      await client.notify("session/update", {
        sessionId: params.sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      });
    }
    return { stopReason: "end_turn" };
  })
  .onNotification("session/cancel", () => {});

app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
