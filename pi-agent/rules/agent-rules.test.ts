/** An agent that watches by its own readings, at a real broker. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { RuleChange, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Agent } from "../agent.ts";
import { type House, house, rules } from "../testing/house.ts";

let home: House;
let folder: string;
/** What the tool `fridge` finds; undefined: the sensor is away. */
let celsius: number | undefined;
let reads: number;

beforeEach(async () => {
  home = await house();
  folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  celsius = -18.2;
  reads = 0;
});
afterEach(() => home.stop());

const limits = { timeoutMs: 5_000, maxTimeoutMs: 5_000, idempotent: true };

function fridge(): Tool {
  return defineTool({
    ...limits,
    name: "fridge",
    description: "Read the freezer",
    input: z.strictObject({}),
    effect: "read",
    async execute() {
      reads += 1;
      if (celsius === undefined) return faultResult("unavailable", "Error: the sensor is away");
      return textResult(`${celsius} °C`, { celsius, sensors: [{ name: "door", open: false }] });
    },
  });
}

/** Tools that no rule may run. */
function others(): Tool[] {
  const refuse = async () => {
    throw new Error("it was run");
  };
  const tool = { ...limits, description: "No reading", execute: refuse };
  const none = z.strictObject({});
  return [
    defineTool({ ...tool, name: "opener", input: none, effect: "device" }),
    defineTool({ ...tool, name: "finder", input: z.strictObject({ path: z.string() }), effect: "read" }),
    defineTool({ ...tool, name: "asked", input: none, effect: "read" }),
    defineTool({ ...tool, name: "denied", input: none, effect: "read" }),
  ];
}

function start(): Promise<Agent> {
  const policy = rules({ asked: "ask", denied: "deny", opener: "allow" });
  return home.start({ folder, policy, tools: [fridge(), ...others()] });
}

function condition(id: string, more: Partial<WatchCondition> = {}): WatchCondition {
  return {
    id,
    version: 1,
    reading: "fridge",
    field: "celsius",
    type: "number",
    is: "above",
    value: -15,
    unit: "°C",
    hysteresis: 0.3,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
    ...more,
  };
}

async function set(...conditions: readonly WatchCondition[]): Promise<Record<string, unknown>> {
  const payload = { set: conditions.map((one) => ({ condition: one, check_s: 10 })) };
  return await home.result(await home.send("watch_set", payload));
}

type Event = { request_id: string; change: RuleChange; text?: string };
const events = (): Event[] =>
  home.peer.received.flatMap(({ kind, payload }) =>
    kind === "events" && payload.type === "event" ? [payload as unknown as Event] : [],
  );

async function event(id: string): Promise<Event> {
  return await until(() => events().find(({ request_id }) => request_id === id), { what: `event ${id}` });
}

test("lists what can be watched, with the values of now", async () => {
  await start();
  const { readings } = await home.result(await home.send("readings", { reading: "fridge" }));
  expect(readings).toEqual([
    {
      name: "fridge",
      field: "celsius",
      type: "number",
      unit: "°C",
      now: { value: -18.2, at: expect.any(Number) },
      every_ms: 60_000,
    },
    expect.objectContaining({
      field: "door.open",
      type: "boolean",
      now: { value: false, at: expect.any(Number) },
    }),
  ]);
  const all = await home.result(await home.send("readings"));
  const names = (all.readings as { name: string }[]).map(({ name }) => name);
  expect(new Set(names)).toEqual(
    new Set([...new Set(names)].filter((name) => !["opener", "finder", "asked", "denied"].includes(name))),
  );
  expect(names).toEqual(expect.arrayContaining(["fridge", "memory", "disk", "cpu"]));
  const wrong = await home.send("readings", { reading: 7 });
  expect(await home.result(wrong)).toEqual({
    request_id: wrong,
    error: expect.stringMatching(/^payload\.reading: right would be/),
  });
});

test("a rule fires once, is over once, and what the gateway has does not come again", async () => {
  const agent = await start();
  expect(await set(condition("w-0001"))).toMatchObject({
    status: "success",
    rules: { "w-0001": 1 },
    refused: [],
  });
  expect(events()).toEqual([]);
  celsius = -11.4;
  // The gateway sends it again: what is read for it counts.
  await set(condition("w-0001"));
  expect((await event("w-0001:1")).change).toMatchObject({
    state: "firing",
    occurrence: 1,
    value: -11.4,
    unit: "°C",
  });
  await set(condition("w-0001"));
  celsius = -20;
  await set(condition("w-0001"));
  // The end waits until the gateway has the beginning.
  expect(events().some(({ request_id }) => request_id === "w-0001:2")).toBe(false);
  await home.send("ack", { request_id: "w-0001:1" });
  expect((await event("w-0001:2")).change).toMatchObject({ state: "idle", occurrence: 1, value: -20 });
  await home.result(await home.send("ping", {}, { acks: ["w-0001:2"] }));
  // Its file is written without it at the latest when it stops.
  await agent.stop();
  home.peer.received.length = 0;
  await (await start()).stop();
  expect(events()).toEqual([]);
});

test("no line in the record of calls, none in the log, and no count", async () => {
  await start();
  await set(condition("w-0001"));
  expect(reads).toBe(1);
  const id = await home.send(
    "get_metrics",
    { recent: 10 },
    { caller: { principal: "o", role: "owner", channel: "api" } },
  );
  const { recent_calls, tools } = (await home.result(id)) as {
    recent_calls: unknown[];
    tools: Record<string, unknown>;
  };
  expect([recent_calls, tools.fridge]).toEqual([[], undefined]);
  expect(home.lines.filter(({ event: name }) => name.startsWith("tool."))).toEqual([]);
});

test("what it cannot watch is refused with the reason, and the rest is taken", async () => {
  await start();
  const readings = ["opener", "finder", "asked", "denied", "nothing"];
  const answer = await set(
    ...readings.map((reading, n) => condition(`w-000${n}`, { reading })),
    condition("w-0005", { field: "kelvin" }),
    condition("w-0006", { is: "happens", reading: "leak", type: "text" }),
    condition("w-0007"),
  );
  expect(answer.rules).toEqual({ "w-0007": 1 });
  const why = Object.fromEntries(
    (answer.refused as { id: string; why: string }[]).map((one) => [one.id, one.why]),
  );
  expect(why).toEqual({
    "w-0000": "'opener' does more than read",
    "w-0001": "'finder' needs arguments, so it is no reading",
    "w-0002": "this device's policy does not let 'asked' run unasked",
    "w-0003": "this device's policy does not let 'denied' run unasked",
    "w-0004": "this device has no action 'nothing' now",
    "w-0005": "'fridge' has no value 'kelvin' now. It has: celsius, door.open",
    "w-0006": "no program on this device says the event 'leak'",
  });
  const id = await home.send("watch_set", { set: [{ condition: { id: "x" } }] });
  expect(await home.result(id)).toMatchObject({
    error: expect.stringMatching(/^payload\.set\.0\.condition\.id/),
  });
  const guest = await home.send(
    "watch_set",
    { drop: ["w-0007"] },
    { caller: { principal: "g", role: "guest", channel: "api" } },
  );
  expect(await home.result(guest)).toMatchObject({ error: expect.stringMatching(/not allowed for 'g'/) });
});

test("the presence tells which rules there are, and so does the next run's", async () => {
  const agent = await start();
  const told = () => home.peer.received.filter(({ kind }) => kind === "presence").at(-1)?.payload.rules;
  expect(told()).toBe(await rulesHash([]));
  const both = await rulesHash([
    { id: "w-0001", version: 1 },
    { id: "w-0002", version: 3 },
  ]);
  await set(condition("w-0001"), condition("w-0002", { version: 3 }));
  await until(() => told() === both);
  await agent.stop();
  home.peer.received.length = 0;
  await start();
  expect(told()).toBe(both);
});

test("a sensor that is away fires nothing and ends nothing", async () => {
  const agent = await start();
  celsius = -11;
  await set(condition("w-0001"));
  await event("w-0001:1");
  await home.send("ack", { request_id: "w-0001:1" });
  celsius = undefined;
  await set(condition("w-0001"));
  await until(() => home.lines.some((line) => line.event === "rules.no_reading"));
  await agent.stop();
  home.peer.received.length = 0;
  await start();
  celsius = -12;
  await set(condition("w-0001"));
  celsius = -30;
  await set(condition("w-0001"));
  expect((await event("w-0001:2")).change).toMatchObject({ state: "idle", occurrence: 1 });
  expect(events().every(({ request_id }) => request_id === "w-0001:2")).toBe(true);
});

test("a change is published again after each connection until it is acknowledged", async () => {
  const agent = await start();
  celsius = 0;
  await set(condition("w-0001"));
  const { change } = await event("w-0001:1");
  await agent.stop();
  home.peer.received.length = 0;
  celsius = undefined;
  await start();
  expect((await event("w-0001:1")).change).toEqual(change);
});

test("50 rules, and no more", async () => {
  await start();
  for (let from = 0; from < 48; from += 16)
    await set(...Array.from({ length: 16 }, (_, n) => condition(`w-${1_000 + from + n}`)));
  const last = await set(...["a", "b", "c"].map((n) => condition(`w-000${n}`)));
  expect(last.refused).toEqual([{ id: "w-000c", why: expect.stringMatching(/^at most 50 rules/) }]);
  expect(Object.keys(last.rules as object)).toHaveLength(50);
});

test("of a rule that acts the presence says whether it is so, also after a restart, and no change leaves", async () => {
  type Said = { rules?: string; truths?: Record<string, object> };
  const said = () =>
    home.peer.received.filter(({ kind, payload }) => kind === "presence" && payload.state === "online").at(-1)
      ?.payload as Said | undefined;
  const put = async (...acting: readonly WatchCondition[]) =>
    await home.result(
      await home.send("watch_set", {
        set: acting.map((one) => ({ condition: one, check_s: 10, acts: true })),
      }),
    );
  const truth = (so: boolean, value: number) => ({ "w-0001": { version: 1, so, value } });
  const agent = await start();
  await put(condition("w-0001"));
  await until(() => said()?.truths, { what: "the first word" });
  expect(said()?.truths).toEqual(truth(false, -18.2));
  celsius = -11;
  await put(condition("w-0001"));
  await until(() => JSON.stringify(said()?.truths).includes("true"), { what: "it is so" });
  expect(said()?.truths).toEqual(truth(true, -11));
  const hash = await rulesHash([{ id: "w-0001", version: 1 }]);
  await until(() => said()?.rules === hash, {
    within: 10_000,
    what: "the presence says which rules there are",
  });
  celsius = undefined;
  await put(condition("w-0001"));
  await until(() => said()?.truths === undefined, { what: "nothing is known" });
  await agent.stop();
  home.peer.received.length = 0;
  celsius = -11;
  await start();
  await until(() => said()?.truths, { what: "the first word of the new run" });
  expect(said()?.truths).toEqual(truth(true, -11));
  await home.result(await home.send("watch_set", { drop: ["w-0001"] }));
  await until(() => said()?.truths === undefined, { within: 10_000, what: "it is taken away" });
  expect(events()).toEqual([]);
});
