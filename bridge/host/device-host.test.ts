/** The host over days, by a played clock: what is gone is dropped, and its files are written seldom. */
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@edgecall/node/clock.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ReportBuffer } from "../broker/report-buffer.ts";
import { CatalogFile } from "../devices/catalog-file.ts";
import { HostedAgents } from "../devices/hosted-agents.ts";
import { DeviceHost } from "./device-host.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance", "Date"] });
});
afterEach(() => void vi.useRealTimers());

const log = () => {};

function host() {
  const subscribed = new Set<string>();
  const roster = { isServed: () => false };
  const agents = new HostedAgents({
    modes: { mqtt: "allow", "home-assistant": "allow" },
    roster,
    clock: systemClock,
    log,
  });
  agents.welcomed(true);
  const outbox = { accepted: log, refuse: log, report: log, event: log };
  const broker = {
    up: true,
    publish: async () => ({ kind: "delivered" as const, listening: true }),
    subscribe: async (topics: ReadonlyMap<string, unknown>) => {
      for (const topic of topics.keys()) subscribed.add(topic);
      return [];
    },
    unsubscribe: async (topics: readonly string[]) => {
      for (const topic of topics) subscribed.delete(topic);
      return true;
    },
  };
  const devices = new DeviceHost({
    settings: {
      mode: "allow",
      prefix: "homeassistant",
      birth: false,
      dangerText: [],
      signIn: "off",
      folder: undefined,
      historyDays: undefined,
    },
    prefix: "evoclaw",
    log,
    clock: systemClock,
    stall: { arrival: () => systemClock.now() },
    reports: new ReportBuffer(log),
    broker,
    outbox,
    agents,
    agentSays: () => undefined,
    paired: undefined,
    modes: { mqtt: "allow", "home-assistant": "allow" },
    gateway: { time: Date.now(), timeAgrees: true, send: () => true },
    onChange: log,
  });
  const config = (name: string, text?: string) => {
    const of = { unique_id: name, state_topic: `s/${name}`, device: { identifiers: [name], name } };
    const payload = Buffer.from(text ?? JSON.stringify(of));
    devices.message({ topic: `homeassistant/sensor/${name}/config`, payload, retained: true });
  };
  return { devices, agents, subscribed, config };
}

/** Lets time go by as in the bridge, which ticks each second. */
async function passes(devices: DeviceHost, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    devices.tick();
  }
}

test("a config that does not come again within five minutes of a reconnect is gone, with its subscription", async () => {
  const { devices, agents, subscribed, config } = host();
  devices.brokerUp();
  config("a");
  config("b");
  await passes(devices, 3);
  expect(agents.ids()).toEqual(["a", "b"]);
  await passes(devices, 400);
  expect(agents.ids()).toEqual(["a", "b"]);
  devices.brokerLost();
  await passes(devices, 30);
  devices.brokerUp();
  config("b");
  await passes(devices, 290);
  expect(agents.ids()).toEqual(["a", "b"]);
  expect(subscribed).toContain("s/a");
  await passes(devices, 20);
  expect(agents.ids()).toEqual(["b"]);
  expect([...subscribed].filter((topic) => topic.startsWith("s/"))).toEqual(["s/b"]);
});

test("configs that change all the time keep nothing back for longer than a quarter of a minute", async () => {
  const { devices, agents, config } = host();
  devices.brokerUp();
  config("a");
  await passes(devices, 3);
  expect(agents.snapshot().map(({ id }) => id)).toEqual(["a"]);
  config("b");
  let told: string[] = [];
  for (let tenth = 0; tenth < 200 && told.length === 0; tenth += 1) {
    config("flapping", tenth % 2 ? "" : undefined);
    await vi.advanceTimersByTimeAsync(100);
    told = agents.changes().flatMap((change) => (change.kind === "agent" ? [change.agent.id] : []));
  }
  expect(told).toContain("b");
});

test("states that are too large for the file take no device its id", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "devices-")), "devices.json");
  const logged: string[] = [];
  const ids = [{ key: "k", id: "lamp", identities: ["id lamp"] }];
  const state = { topic: "s", payload: "x".repeat(16_000), at: 1 };
  const dump = { version: 1 as const, ids, states: Array(600).fill(state), seen: {}, forgotten: {} };
  const catalog = { dump: () => dump, restore: () => true };
  const file = new CatalogFile(path, catalog, (_, event) => logged.push(event));
  file.changed("ids");
  await file.flush();
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ ...dump, states: [] });
  expect(logged).toEqual(["devices.states_unwritten"]);
});

test("nothing is remembered of topics that no config can have, nor of messages that nobody reads", () => {
  const { devices } = host();
  const message = (topic: string, payload: string) =>
    devices.message({ topic, payload: Buffer.from(payload), retained: true });
  devices.brokerUp();
  for (let n = 0; n < 10; n += 1) {
    message(`homeassistant/sensor/${"x".repeat(60_000)}${n}/config`, "{}");
    message(`homeassistant/sensor/a b${n}/config`, "y".repeat(100_000));
  }
  message("homeassistant/sensor/wrong/config", "{");
  expect(devices.counts().ignored.map(({ count }) => count)).toEqual([1]);
});

test("a state is written after five minutes, a device after two seconds, and nothing without a change", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "devices-")), "devices.json");
  let dumps = 0;
  const catalog = { dump: () => ({ n: ++dumps }) as never, restore: () => true };
  const file = new CatalogFile(path, catalog, log);
  await file.flush();
  expect(dumps).toBe(0);
  for (let n = 0; n < 1_000; n += 1) file.changed("states");
  await vi.advanceTimersByTimeAsync(299_000);
  expect(dumps).toBe(0);
  await vi.advanceTimersByTimeAsync(2_000);
  await file.flush();
  expect(dumps).toBe(1);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ n: 1 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.changed("states");
  file.changed("ids");
  await vi.advanceTimersByTimeAsync(2_500);
  await file.flush();
  expect(dumps).toBe(2);
  // At the end, what waits is written at once.
  file.changed("states");
  await file.flush();
  expect(dumps).toBe(3);
});
