/** Costs of rules: nothing while nothing happens, and a few rows when something does. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { passed } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { alarmOf, rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { say, TestBridge } from "../../../../test/workerd.ts";
import type { Conversation } from "../../../conversation.ts";
import type { Home } from "../../../home.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

async function rowsWritten(stub: DurableObjectStub<Home | Conversation> = ruleHome()): Promise<number> {
  return await runInDurableObject(
    stub,
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n,
  );
}

const chat = () => env.CONVERSATION.getByName("a/api/kitchen");

async function hosting(): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  bridge.onStates = () => [
    reported("freezer", reading("temperature", -18.2, { unit: "°C", at: Date.now() })),
  ];
  await bridge.hello(["devices", "kept", "rules"]);
  await bridge.snapshot([device("freezer", { line: "temperature" })]);
  return bridge;
}

const WATCH = {
  name: "Freezer too warm",
  agent_id: "freezer",
  reading: "temperature",
  is: "above",
  value: -15,
} as const;

/** Copies of the home's rule, as its table holds them. */
async function copyRule(count: number): Promise<void> {
  await runInDurableObject(ruleHome(), (_, { storage }) => {
    const [row] = storage.sql.exec<{ id: string; rule: string }>("SELECT id, rule FROM rule").toArray();
    for (let n = 1; row && n <= count; n += 1) {
      // A digit longer than the ids that Home draws.
      const id = `w-${(0xa0000 + n).toString(16)}`;
      const rule = JSON.stringify({ ...(JSON.parse(row.rule) as object), id });
      storage.sql.exec(
        `INSERT INTO rule SELECT ?, ?, maker, to_whom, status, why, record, state, said, due, handled, made_at FROM rule WHERE id = ?`,
        id,
        rule,
        row.id,
      );
    }
  });
}

test("100 rules in an hour in which nothing changes: no frame, no row, no alarm", async () => {
  const bridge = await hosting();
  await say("kitchen", script(make("watch", WATCH), { text: "ok" }));
  await say(
    "kitchen",
    script(make("watch", { ...WATCH, reading: "presence", is: "offline", value: undefined }), { text: "ok" }),
  );
  await copyRule(98);
  expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toHaveLength(100);
  await passed(bridge);
  // The alarm that the bridge's hello had set.
  await passUntil(T0 + MINUTE / 4);
  const alarmBefore = await alarmOf(ruleHome());
  const [frames, rows] = [bridge.received.length, await rowsWritten()];
  const alarms = await passUntil(T0 + 60 * MINUTE);
  expect({
    frames: bridge.received.length - frames,
    rows: (await rowsWritten()) - rows,
    alarms,
    isAlarmSame: (await alarmOf(ruleHome())) === alarmBefore,
  }).toEqual({ frames: 0, rows: 0, alarms: 0, isAlarmSame: true });
  expect(await told("kitchen")).toEqual([]);
});

test("a firing and its end: eight rows of Home and four of the conversation at most, and two messages", async () => {
  const bridge = await hosting();
  await say("kitchen", script(make("watch", WATCH), { text: "ok" }));
  const id = (await rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule"))[0]?.id ?? "";
  await passed(bridge);
  const [before, chatBefore] = [await rowsWritten(), await rowsWritten(chat())];
  const change = { rule: id, version: 1, occurrence: 1, at: T0, value: -11.4, unit: "°C" };
  bridge.send({ t: "changes", changes: [{ ...change, seq: 1, state: "firing", since: T0 - MINUTE }] });
  await until(async () => (await told("kitchen")).length === 1, { what: "the message" });
  at(T0 + MINUTE);
  bridge.send({
    t: "changes",
    changes: [{ ...change, seq: 2, state: "idle", since: T0 - MINUTE, until: T0 + 30_000 }],
  });
  await until(async () => (await told("kitchen")).length === 2, { what: "the end" });
  const [notice] = await rowsOf<{ count: number }>(ruleHome(), "SELECT COUNT(*) AS count FROM notice");
  expect(notice?.count).toBe(0);
  expect((await rowsWritten()) - before).toBeLessThanOrEqual(8);
  expect((await rowsWritten(chat())) - chatBefore).toBeLessThanOrEqual(4);
});

test("a reminder at its time: one alarm, eight rows of Home and two of the conversation at most", async () => {
  await say("kitchen", script(make("remind", { text: "Bins", every: "day", at: "10:00" }), { text: "ok" }));
  await passUntil(T0 + 59 * MINUTE);
  const [before, chatBefore] = [await rowsWritten(), await rowsWritten(chat())];
  const alarms = await passUntil(T0 + 61 * MINUTE);
  expect(await told("kitchen")).toHaveLength(1);
  expect(alarms).toBe(1);
  expect((await rowsWritten()) - before).toBeLessThanOrEqual(8);
  expect((await rowsWritten(chat())) - chatBefore).toBeLessThanOrEqual(2);
});
