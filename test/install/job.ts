/** `node job.ts TOOL`: runs a job of the agent `eye` through this machine's broker, and prints its result, also after a restart of the agent. */
import { randomUUID } from "node:crypto";
import { connectAsync } from "mqtt";

const [tool] = process.argv.slice(2);
const id = randomUUID();
const topic = (kind: string) => `evoclaw/agents/eye/${kind}`;

const client = await connectAsync("mqtt://127.0.0.1:1883", { protocolVersion: 4 });
const ended = new Promise<Record<string, unknown>>((resolve) => {
  client.on("message", (_topic, bytes) => {
    const { payload } = JSON.parse(bytes.toString("utf8"));
    const isRefusal = payload?.request_id === id && payload.status !== "accepted";
    if (isRefusal || payload?.job_of === id) resolve(payload);
  });
});
await client.subscribeAsync(topic("reports"), { qos: 1 });
const command = { command: "tool", payload: { tool, parameters: {} }, request_id: id, n: Date.now() };
await client.publishAsync(topic("commands"), JSON.stringify(command), { qos: 1 });
const { status, result, error } = await ended;
console.log(`${status} ${result ?? error}`);
await client.endAsync(true);
