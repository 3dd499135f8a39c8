/** What is wrong with agents and the bridge, in `GET /v1/agents` and `GET /v1/status`; and how a device is let in again. */

import { evictDurableObject } from "cloudflare:test";
import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import { COUNTER_BLOCK } from "@edgecall/core/protocol/counter.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { importPublicKey, isSigned } from "@edgecall/core/protocol/signing.ts";
import { expect, test } from "vitest";
import { call, passed, post, useKeyedHome, view } from "../../../../test/keyed-home.ts";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { TestBridge } from "../../../../test/workerd.ts";

const home = useKeyedHome();

type Seen = {
  online: boolean;
  problem?: string;
  conditions?: Array<{ code: string; text: string; cure: string }>;
};
const seen = async () => (await view("pi")) as unknown as Seen;
const codes = async () => (await seen()).conditions?.map(({ code }) => code) ?? [];
const bridgeSeen = async () =>
  ((await call("/v1/status")).body.bridge as { conditions?: Array<{ code: string; text: string }> })
    .conditions;

async function state(conditions: AgentState["conditions"]): Promise<AgentState> {
  const fields = { agent_id: "pi", capabilities: "pi edge agent", features: ["tool", "gateway"], conditions };
  return { ...(await home.pi.state()), capabilities: await home.pi.say("capabilities", fields) };
}

test("O4: what the agent says of its disk is in the list, with the cure, over a rebuilt object, until it says otherwise", async () => {
  const bridge = await home.connect();
  expect(await seen()).not.toHaveProperty("conditions");
  bridge.send({
    t: "agent",
    agent: await state([conditionOf("disk_read_only", { path: "/s", error: "EROFS" })]),
  });
  await until(async () => (await codes()).length > 0);
  await evictDurableObject(theHome());
  expect(await seen()).toMatchObject({
    online: true,
    problem: "the disk of /s is read-only (EROFS), so it refuses everything but reads",
    conditions: [{ code: "disk_read_only", severity: "wrong", cure: expect.stringContaining("dmesg") }],
  });
  bridge.send({ t: "agent", agent: await state(undefined) });
  await until(async () => (await codes()).length === 0);
  expect(await seen()).not.toHaveProperty("problem");
});

test("O3: a device with old numbers is told, for its present run alone, with which it has to go on; no recording counts by that", async () => {
  const bridge = await home.connect();
  const recorded = await home.pi.state();
  bridge.send({ t: "agent", agent: await home.pi.state() });
  const newest = home.pi.n;
  expect((await post("/v1/agents/pi/readmit", {})).body.error?.code).toBe("not_needed");
  expect((await post("/v1/agents/nobody/readmit", {})).status).toBe(404);
  // It comes back with a lower number.
  home.pi.n = 10;
  home.pi.bootId = "the run without its file";
  const old = conditionOf("old_numbers", { run: home.pi.bootId, until: "2038-01-19T00:00Z" });
  const away = { id: "pi", online: false, last_seen: null, foreign: false };
  bridge.send({ t: "agent", agent: { ...away, reason: "no heartbeat", conditions: [old] } });
  await until(async () => (await codes())[0] === "old_numbers");
  expect(await codes()).toEqual(["old_numbers"]);
  expect((await seen()).problem).toMatch(/so none counts until 2038-01-19T00:00Z: its clock was ahead once/);
  expect((await post("/v1/agents/pi/readmit", {})).status).toBe(204);
  const told = await until(() => bridge.received.find((frame) => frame.t === "publish"), {
    what: "the notice",
  });
  const key = await importPublicKey(home.gatewayKey);
  if (told.t !== "publish" || !key) throw new Error("no notice");
  expect(await isSigned(key, { agent: "pi", kind: "commands" }, told.payload)).toBe(true);
  const { command, boot_id, payload } = JSON.parse(told.payload) as {
    command: string;
    boot_id: string;
    payload: { above: number };
  };
  expect({ command, boot_id }).toEqual({ command: "gateway", boot_id: "the run without its file" });
  expect(payload.above).toBeGreaterThanOrEqual(newest + COUNTER_BLOCK);
  // What was recorded before is as old as ever, and so is what the device says before it has gone up.
  for (const agent of [recorded, await home.pi.state()]) {
    bridge.send({ t: "agent", agent });
    await passed(bridge);
    expect(await seen()).toMatchObject({ online: false });
  }
  home.pi.n = payload.above;
  bridge.send({ t: "agent", agent: await home.pi.state() });
  await until(async () => (await seen()).online);
  expect(await codes()).toEqual([]);
});

test("O3: only an administrator lets a device in", async () => {
  const { status } = await post("/v1/agents/pi/readmit", {}, "guest-token-that-is-none");
  expect(status).toBe(401);
});

test("O1: what the bridge says of itself is shown while it is connected, and is gone with the next one", async () => {
  const bridge = await home.connect();
  expect(await bridgeSeen()).toBeUndefined();
  bridge.send({
    t: "conditions",
    all: [conditionOf("broker_unreachable", { url: "mqtt://b:1883", error: "connect ECONNREFUSED" })],
  });
  await until(async () => (await bridgeSeen())?.length);
  expect(await bridgeSeen()).toMatchObject([
    {
      code: "broker_unreachable",
      text: "the bridge does not reach the broker mqtt://b:1883: connect ECONNREFUSED",
    },
  ]);
  const next = await TestBridge.dial();
  await next.hello();
  await next.snapshot([]);
  expect(await bridgeSeen()).toBeUndefined();
  next.close();
});
