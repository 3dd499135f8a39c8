/** A peer that breaks the WebSocket protocol is treated like one that closes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleWorker } from "../../local/bundles.ts";
import { type Gateway, startWorker } from "../../local/gateway.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { RawSocket } from "./raw-socket.ts";

type Status = { bridge: { online: boolean; last_seen: number | null } };
type Agents = { agents: Array<{ id: string; online: boolean; last_seen: number | null }> };

const dir = mkdtempSync(join(tmpdir(), "edgecall-frames-"));
const log: string[] = [];
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startWorker({
    port: 0,
    dir,
    vars: testVars,
    bundle: await bundleWorker({ entry: "test/raw-sockets-worker.ts" }),
    onLog: (line) => log.push(line),
  });
});

afterAll(async () => {
  await gateway.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function read<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${TOKENS.owner}` };
  return (await (await fetch(gateway.url + path, { headers })).json()) as T;
}

/** Connects a bridge with one agent, which is online. */
async function bridge(): Promise<RawSocket> {
  const socket = await RawSocket.open(`${gateway.url}/bridge`, { authorization: `Bearer ${TOKENS.bridge}` });
  const hello = {
    t: "hello",
    protocol: BRIDGE_PROTOCOL,
    bridge: "raw",
    version: VERSION,
    features: ["keepalive"],
  };
  socket.text(JSON.stringify(hello));
  await until(() => socket.received.includes(`"t":"welcome"`), { what: "the welcome" });
  const capabilities = JSON.stringify({
    agent_id: "pi",
    capabilities: "Pi",
    version: VERSION,
    features: ["tool"],
  });
  const pi = { id: "pi", online: true, last_seen: Date.now() - 60_000, foreign: false, capabilities };
  socket.text(JSON.stringify({ t: "snapshot", agents: [pi], last: true }));
  await until(async () => (await agent()).online, { what: "pi is online" });
  return socket;
}

async function agent() {
  const { agents } = await read<Agents>("/v1/agents");
  return agents.find(({ id }) => id === "pi") ?? { online: false, last_seen: null };
}

test.each([
  ["a protocol error", (socket: RawSocket) => socket.breakProtocol(), 1],
  ["a connection that is cut", (socket: RawSocket) => socket.end(), 0],
])(
  "G11 the bridge's socket ends in %s: it and its agents were last seen at that moment",
  async (_, end, errors) => {
    log.length = 0;
    const socket = await bridge();
    const endedAt = Date.now();
    end(socket);
    await until(async () => !(await read<Status>("/v1/status")).bridge.online, {
      what: "the bridge is gone",
    });
    const gone = Date.now();
    const { last_seen } = (await read<Status>("/v1/status")).bridge;
    expect(last_seen).toBeGreaterThanOrEqual(endedAt - 1_000);
    expect(last_seen).toBeLessThanOrEqual(gone);
    expect(await agent()).toMatchObject({ online: false, last_seen });
    const logged = () => log.filter((line) => line === "home: socket error").length;
    await until(() => logged() >= errors, { what: "the log's line" });
    expect(logged()).toBe(errors);
    socket.end();
  },
);

test("G11 a waiting room's socket that ends in a protocol error is removed, as after a close", async () => {
  const name = "a/api/broken-frames";
  // A conversation that does not exist has no waiting clients.
  const answer = await fetch(`${gateway.url}/v1/conversations/broken-frames/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKENS.owner}` },
    body: JSON.stringify({ text: "hello" }),
  });
  await answer.text();
  const listening = () => read<number>(`/listening?name=${encodeURIComponent(name)}`);
  await until(async () => (await listening()) === 0, { what: "an empty room" });
  const room = `${gateway.url}/room?name=${encodeURIComponent(name)}&path=${encodeURIComponent("/follow")}`;
  const [broken, whole] = [await RawSocket.open(room), await RawSocket.open(room)];
  await until(async () => (await listening()) === 2, { what: "both are in the room" });
  broken.breakProtocol();
  await until(async () => (await listening()) === 1, { what: "the broken one is out" });
  await until(() => log.includes("conversation: socket error"), { what: "the log's line" });
  whole.end();
  await until(async () => (await listening()) === 0, { what: "the other is out" });
  broken.end();
});
