/** `node call.ts TOOL JSON`: calls an action of the agent `eye` through this machine's broker, and prints the result. */
import { randomUUID } from "node:crypto";
import { connectAsync } from "mqtt";

const [tool, parameters = "{}"] = process.argv.slice(2);
const requestId = randomUUID();
const topic = (kind: string) => `evoclaw/agents/eye/${kind}`;

const client = await connectAsync("mqtt://127.0.0.1:1883", { protocolVersion: 4 });
const answer = new Promise<unknown>((resolve) => {
  client.on("message", (_topic, bytes) => {
    const { payload } = JSON.parse(bytes.toString("utf8"));
    if (payload?.request_id === requestId) resolve(payload);
  });
});
await client.subscribeAsync(topic("reports"), { qos: 1 });
const payload = { tool, parameters: JSON.parse(parameters), timeout_ms: 20_000 };
await client.publishAsync(
  topic("commands"),
  JSON.stringify({ command: "tool", payload, request_id: requestId }),
  {
    qos: 1,
  },
);
console.log(JSON.stringify(await answer));
await client.endAsync(true);
