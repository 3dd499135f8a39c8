/** A hosted device takes back what it had confirmed, after that was told as done. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { modelRequests } from "../../../../test/model-requests.ts";
import { at, passUntil, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../../test/workerd.ts";

beforeEach(() => at(T0));
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

const DONE = {
  status: "success",
  result: "Kitchen lamp: on, reported 0.1 s after the command.",
  tainted: false,
  confirmed: true,
};
const TAKEN_BACK = {
  status: "error",
  error_type: "execution_failed",
  error: "Error: Kitchen lamp reported on, and took it back. It reports: off.",
  tainted: false,
  confirmed: false,
  corrects: true,
};

/** A conversation in which the lamp was switched on. */
async function switchedOn(conversation: string, report: object) {
  const bridge = await hosting([device("kitchen-lamp")]);
  const allowed = JSON.stringify({ mode: "allowed", allow: "allow-kitchen-lamp" });
  await ask("/v1/devices/kitchen-lamp", { method: "PATCH", body: allowed });
  bridge.onCall = () => ({ ...report });
  const change = { arguments: { agent_id: "kitchen-lamp", action: "set", params: { on: true } } };
  const { body } = await say(conversation, script({ calls: [change] }, { text: "The lamp is on." }));
  const [call] = bridge.calls();
  if (!call) throw new Error("nothing was called");
  return { bridge, id: call.id, turn: body.turn };
}

type Told = { status: string; error?: string };

async function callOf(conversation: string, turn: string): Promise<Told | undefined> {
  const response = await ask(`/v1/conversations/${conversation}/turns/${turn}`);
  return ((await response.json()) as { calls: Told[] }).calls[0];
}

/** Waits until Home has stored so many reports of the call. */
const stored = (bridge: TestBridge, id: string, count: number) =>
  until(() => bridge.received.filter((frame) => frame.t === "ack" && frame.id === id).length === count, {
    what: `${count} reports are stored`,
  });

test("the person is told once, the call is no success any more, and the model learns of it", async () => {
  const { bridge, id, turn } = await switchedOn("kitchen", DONE);
  for (let n = 0; n < 2; n += 1) bridge.report(id, "kitchen-lamp", TAKEN_BACK);
  await stored(bridge, id, 3);
  await passUntil(T0 + 1_000);
  expect(await told("kitchen")).toEqual([
    "kitchen-lamp: it reported that it was done, and a moment later that it is not. Please check.",
  ]);
  expect(await callOf("kitchen", turn)).toMatchObject({
    status: "error",
    error: "Kitchen lamp reported on, and took it back. It reports: off.",
  });
  const question = script({ text: "It did not stay on." });
  await say("kitchen", question);
  const [request] = await modelRequests({ question });
  expect(JSON.stringify(request?.messages)).toContain("was told as done, and is not");
});

test.each([
  ["of what was not confirmed", { ...DONE, confirmed: false }, TAKEN_BACK],
  ["that does not say that it corrects one", DONE, { ...TAKEN_BACK, corrects: undefined }],
])("a report %s changes nothing", async (_, first, second) => {
  const { bridge, id, turn } = await switchedOn("kitchen", first);
  bridge.report(id, "kitchen-lamp", second);
  await stored(bridge, id, 2);
  await passUntil(T0 + 1_000);
  expect(await told("kitchen")).toEqual([]);
  expect(await callOf("kitchen", turn)).toMatchObject({ status: "success" });
});
