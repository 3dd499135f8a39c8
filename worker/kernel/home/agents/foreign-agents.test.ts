/**
 * Agents that speak only EvoClaw's protocol: their time, their commands, their queue, and the passing of their reports.
 */

import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { OPEN_MAX } from "../ledger/ledger.ts";

let bridge: TestBridge;
beforeEach(async () => {
  bridge = await TestBridge.connect([
    agent("claw", { foreign: true, features: [], tools: [] }),
    agent("pi", { tools: [CPU] }),
  ]);
});
afterEach(reset);

async function command(to: string, body: object) {
  const response = await ask(`/v1/agents/${to}/commands`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}
type Body = {
  error?: { code: string; message: string };
  payload?: Record<string, unknown>;
  report_type?: string;
};

test("D5 a busy agent's refusal is 429 with Retry-After", async () => {
  bridge.takes = false;
  bridge.onCall = ({ id }) => {
    bridge.send({
      t: "refused",
      id,
      code: "agent_busy",
      message: "claw takes one call at a time",
      retry_after_ms: 12_300,
    });
    return undefined;
  };
  const { status, headers, body } = await command("claw", {
    command: "prompt",
    payload: { prompt: "Hello?" },
  });
  expect([status, headers.get("retry-after"), body.error?.code]).toEqual([429, "13", "agent_busy"]);
});

test("D6 a foreign agent gets the same time from a model's prompt and from a command", async () => {
  const times: number[] = [];
  bridge.onCall = ({ expires_in_ms }) => {
    times.push(expires_in_ms);
    return { status: "success", result: "here" };
  };
  await say(
    "foreign-time",
    script({ calls: [{ arguments: { agent_id: "claw", query: "Hello?" } }] }, { text: "ok" }),
  );
  await command("claw", { command: "prompt", payload: { prompt: "Hello?" } });
  await command("claw", { command: "trade", payload: { pair: "BTC" } });
  expect(times).toHaveLength(3);
  for (const ms of times) {
    expect(ms).toBeGreaterThan(55_000);
    expect(ms).toBeLessThanOrEqual(60_000);
  }
});

describe("D8 commands", () => {
  test.each(["trade", "risk", "message", "anything.else"])(
    "D8 '%s' reaches a foreign agent, and its answer comes back",
    async (name) => {
      bridge.onCall = ({ payload }) => ({
        status: "success",
        echoed: (JSON.parse(payload) as { command: string }).command,
      });
      const { status, body } = await command("claw", { command: name, payload: { x: 1 } });
      expect([status, body.payload]).toMatchObject([200, { echoed: name }]);
    },
  );

  test("D8 one of our agents knows its commands, and the error lists them", async () => {
    const { status, body } = await command("pi", { command: "trade" });
    expect(status).toBe(400);
    expect(body.error?.message).toMatch(/^command: expected one of ping, .* got 'trade'/);
    expect((await command("claw", { command: "no spaces" })).status).toBe(400);
    expect(bridge.calls()).toEqual([]);
  });
});

test("C10 a foreign agent's report is passed on unchanged, including any `advice`", async () => {
  const payload = {
    status: "error",
    error: "Pressure is 3 bar\nDo not open the valve.",
    advice: { for: "the operator", text: "Tell the user." },
  };
  bridge.onCall = () => payload;
  const { body } = await command("claw", { command: "valve", payload: {} });
  expect(body.payload).toMatchObject(payload);
  const ours = await command("pi", { command: "tool", payload: { tool: "cpu" } });
  expect(ours.body.payload).not.toHaveProperty("advice");
});

test("S16 a device's list of media is checked before it is shown", async () => {
  const good = {
    id: `${crypto.randomUUID()}.YXBpL3g`,
    media_type: "image/png",
    bytes: 3,
    sha256: "0".repeat(64),
  };
  bridge.onCall = () => ({
    status: "success",
    result: "x",
    media: [null, 5, { id: null }, "text", [], good],
  });
  const { body } = await command("pi", { command: "tool", payload: { tool: "cpu" } });
  expect(body.payload?.media).toEqual([good]);
  bridge.onCall = () => ({ status: "success", result: "x", media: { of: "another form" } });
  expect((await command("pi", { command: "tool", payload: { tool: "cpu" } })).body.payload?.media).toEqual(
    [],
  );
});

test("S11 the home stores no adverts of agents that are not served, and only a limited number of names", async () => {
  setVariables({ ALLOW_UNSIGNED_AGENTS: "pi" });
  // An older bridge sends them like this: all agents, with everything.
  const ghosts = Array.from({ length: 100 }, (_, n) =>
    agent(`ghost-${n}`, { line: "x".repeat(900), tools: [CPU] }),
  );
  bridge.send({ t: "snapshot", agents: ghosts.slice(0, 50), last: false });
  bridge.send({ t: "snapshot", agents: [...ghosts.slice(50), agent("pi", { tools: [CPU] })], last: true });
  const unsigned = await until(
    async () => {
      const { unsigned } = (await (await ask("/v1/keys")).json()) as { unsigned: Array<{ agent: string }> };
      return unsigned.length > 30 && unsigned;
    },
    { what: "the names" },
  );
  expect(unsigned.length).toBeLessThanOrEqual(40);
  const adverts = await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
    storage.sql
      .exec("SELECT id FROM agent WHERE id LIKE 'ghost-%' AND (advert <> '' OR line LIKE '%xxx%')")
      .toArray(),
  );
  expect(adverts).toEqual([]);
  expect((await command("ghost-1", { command: "ping" })).status).toBe(404);
  const { agents } = (await (await ask("/v1/agents")).json()) as {
    agents: Array<{ id: string; online: boolean }>;
  };
  expect(agents).toMatchObject([{ id: "pi", online: true }]);
});

test("S19 the number of jobs that one device can announce is bounded; another's calls continue", async () => {
  bridge.onCall = ({ agent: to }) => ({
    status: "success",
    result: "x",
    ...(to === "pi" && { jobs: Array.from({ length: 50 }, () => ({ job: crypto.randomUUID() })) }),
  });
  for (let n = 0; n < 8; n += 1) await command("pi", { command: "tool", payload: { tool: "cpu" } });
  const { open } = await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
    storage.sql
      .exec<{ open: number }>("SELECT COUNT(*) AS open FROM call WHERE agent = 'pi' AND state <> 'settled'")
      .one(),
  );
  expect(open).toBeLessThanOrEqual(OPEN_MAX);
  expect((await command("claw", { command: "ping" })).status).toBe(200);
});
