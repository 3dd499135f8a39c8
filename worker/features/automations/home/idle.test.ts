/** A hundred rules that act cost the gateway nothing while nothing is told of them. */
import { reset, runInDurableObject } from "cloudflare:test";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, expect, test, vi } from "vitest";
import { acting, allows, DEVICES } from "../../../../test/acting-home.ts";
import { at, MINUTE, passUntil, ruleHome, T0 } from "../../../../test/rule-clock.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { leave } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import type { Home } from "../../../home.ts";
import { automationsOf } from "./automation-store.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

test("a day with values, reconnects and alarms: no frame of rules, and no row of theirs is written", async () => {
  setVariables({ GATEWAY_TOOLS: "rules", CHANNELS: "" });
  at(T0);
  let bridge = await acting();
  const { id } = await allows();
  const rules: { id: string; version: number }[] = [];
  await runInDurableObject(ruleHome(), (instance: Home) => {
    const store = automationsOf(instance.access.home);
    const row = store.get(id);
    for (let n = 1; row && n < 100; n += 1)
      store.put({ ...row, automation: { ...row.automation, id: `a-${1_000 + n}`, name: `Rule ${n}` } });
    rules.push(...store.active().map(({ automation }) => automation));
  });
  await passUntil(T0 + MINUTE);
  expect(rules).toHaveLength(100);
  const hash = await rulesHash(rules);
  const written = async () =>
    JSON.stringify(
      await Promise.all(
        ["automation", "said_presence", "automation_news", "notice"].map((table) =>
          rowsOf(ruleHome(), `SELECT * FROM ${table}`),
        ),
      ),
    );
  const before = await written();
  for (let hour = 1; hour <= 24; hour += 1) {
    at(T0 + hour * 60 * MINUTE);
    if (hour % 8 === 0) {
      await leave(bridge);
      bridge = await acting({ hash });
    }
    for (const agent of DEVICES) bridge.send({ t: "agent", agent });
    bridge.send({ t: "agents", agents: [], n: hour });
    await until(() => bridge.received.some((frame) => frame.t === "stored" && frame.n === hour));
    await passUntil(Date.now());
  }
  const OF_RULES = ["automations", "draft", "order", "acted", "news_stored", "presence_said"];
  expect(bridge.received.filter(({ t }) => OF_RULES.includes(t))).toEqual([]);
  expect(await written()).toBe(before);
});
