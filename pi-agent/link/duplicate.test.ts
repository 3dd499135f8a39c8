/** Two devices with one id and one key, because a card was copied. */
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stamp } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Agent, startAgent } from "../agent.ts";
import {
  type Broker,
  type LogLine,
  memoryLog,
  Peer,
  readyAgent,
  simpleToolbox,
  startBroker,
  testSettings,
} from "../testing/home.ts";
import { Identity, openIdentity } from "./identity.ts";

const open: Array<{ stop(): Promise<unknown> }> = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

const gatewayKey = new Identity(KeyPair.make()).publicKey;
const duplicates = (lines: LogLine[]) => lines.filter(({ event }) => event === "mqtt.duplicate_agent_id");

type Home = { broker: Broker; peer: Peer; last(): { text: string; boot: string; state: string; n: number } };

async function home(): Promise<Home> {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  const last = () => {
    const text = peer.raw.findLast(({ kind }) => kind === "presence")?.text ?? "{}";
    const { boot_id, n, state } = JSON.parse(text) as Stamp & { state: string };
    return { text, boot: boot_id, state, n };
  };
  return { broker, peer, last };
}

/** The card's content from when the first device ran, in another device. */
async function withCopy({ broker }: Home, signs: boolean) {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-card-"));
  const settings = (stateDir: string) =>
    testSettings(broker.port, { stateDir, ...(signs && { gatewayKey }) });
  if (signs) await openIdentity(join(folder, "one"));
  const one = memoryLog();
  const first = await readyAgent(settings(join(folder, "one")), { log: one.log });
  open.push(first);
  cpSync(join(folder, "one"), join(folder, "two"), { recursive: true });
  const two = memoryLog();
  const start = async (): Promise<Agent> => {
    const agent = await startAgent(settings(join(folder, "two")), {
      log: two.log,
      toolbox: simpleToolbox,
      freeAfterMs: 2_000,
    });
    open.push(agent);
    return agent;
  };
  return { first, one: one.lines, two: two.lines, start };
}

test.each([
  ["a paired agent", true],
  ["an agent without a key", false],
])(
  "D15 the copy of %s is refused by name, and the first continues",
  async (_, signs) => {
    const at = await home();
    const { first, one, two, start } = await withCopy(at, signs);
    const before = at.last();
    expect(before).toMatchObject({ boot: first.bootId, state: "online" });
    const second = await start();
    await until(() => duplicates(two).length === 1, { within: 20_000, what: "the copy gives way" });
    expect(duplicates(two)[0]?.fields).toMatchObject({
      reason: "another device with the id 'eye' was here first",
      other: first.bootId,
      hint: expect.stringContaining("pair this one again under another id"),
    });
    await until(() => at.last().boot === first.bootId && at.last().state === "online", {
      what: "the first is there again",
    });
    if (signs) {
      // The first one's messages are the last ones that the gateway accepted: all of the copy's are older.
      const said = at.peer.raw.map(({ text }) => JSON.parse(text) as Stamp);
      const ofCopy = said.filter(({ boot_id }) => boot_id === second.bootId).map(({ n }) => n);
      expect(ofCopy.length).toBeGreaterThan(0);
      expect(at.last().n).toBeGreaterThan(Math.max(...ofCopy));
    }
    // After that the first one's connection is not broken again.
    const connects = () => one.filter(({ event }) => event === "mqtt.connected").length;
    const settled = connects();
    await second.stop();
    const reply = signs ? undefined : await at.peer.ask("eye", { command: "ping", request_id: "p" });
    if (reply) expect(reply.payload).toMatchObject({ pong: true });
    expect(at.last()).toMatchObject({ boot: first.bootId, state: "online" });
    expect(connects()).toBe(settled);
    expect(duplicates(one)).toEqual([]);
  },
  40_000,
);

test("D15 the copy takes over when the first is gone", async () => {
  const at = await home();
  const { first, two, start } = await withCopy(at, true);
  const second = await start();
  await until(() => duplicates(two).length === 1, { within: 20_000, what: "the copy gives way" });
  await until(() => at.last().boot === first.bootId && at.last().state === "online");
  await first.stop();
  await until(() => at.last().boot === second.bootId && at.last().state === "online", {
    within: 30_000,
    what: "the copy is there",
  });
}, 60_000);

test("D15 a recording of an earlier run makes no device give way", async () => {
  const at = await home();
  const folder = mkdtempSync(join(tmpdir(), "edgecall-card-"));
  const settings = testSettings(at.broker.port, { stateDir: join(folder, "one"), gatewayKey });
  const earlier = await readyAgent(settings, memoryLog());
  await until(() => at.last().boot === earlier.bootId);
  const recorded = at.last().text;
  await earlier.stop();
  const { log, lines } = memoryLog();
  const agent = await readyAgent(settings, { log });
  open.push(agent);
  await until(() => at.last().boot === agent.bootId);
  const births = () => at.peer.raw.filter(({ kind, text }) => kind === "presence" && text.includes("birth"));
  for (let round = 1; round <= 3; round += 1) {
    const before = births().filter(({ text }) => text.includes(agent.bootId)).length;
    await at.peer.send("eye", recorded, { kind: "presence", retain: true });
    at.broker.cut("eye");
    await until(() => births().filter(({ text }) => text.includes(agent.bootId)).length > before, {
      within: 10_000,
      what: "it is back",
    });
  }
  expect(duplicates(lines)).toEqual([]);
  expect(at.last()).toMatchObject({ boot: agent.bootId, state: "online" });
}, 40_000);
