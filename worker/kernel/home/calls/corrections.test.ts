/** A hosted device takes back what it had confirmed, after that was told as done. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { at, passUntil, T0, told } from "../../../../test/rule-clock.ts";
import { modelRequests } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say } from "../../../../test/workerd.ts";

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

const callsOf = async (conversation: string) => {
  const { turns } = (await (await ask(`/v1/conversations/${conversation}/turns`)).json()) as {
    turns: { calls?: { id: string; status: string; error?: string }[] }[];
  };
  return turns.flatMap(({ calls = [] }) => calls);
};

test("the person is told once, the call is no success any more, and the model learns of it", async () => {
  const { bridge, id } = await switchedOn("kitchen", DONE);
  for (let n = 0; n < 2; n += 1) bridge.report(id, "kitchen-lamp", TAKEN_BACK);
  await until(() => bridge.received.filter((frame) => frame.t === "ack" && frame.id === id).length === 3, {
    what: "both are stored",
  });
  await passUntil(T0 + 1_000);
  expect(await told("kitchen")).toEqual([
    "kitchen-lamp: it reported that it was done, and a moment later that it is not. Please check.",
  ]);
  expect(await callsOf("kitchen")).toMatchObject([{ id, status: "error", error: TAKEN_BACK.error }]);
  const question = script({ text: "It did not stay on." });
  await say("kitchen", question);
  const [request] = await modelRequests({ question });
  expect(JSON.stringify(request?.messages)).toContain("was told as done, and is not");
});

test("nothing is corrected that was not confirmed, and nothing by a report that does not say so", async () => {
  const sent = await switchedOn("sent", { ...DONE, confirmed: false });
  sent.bridge.report(sent.id, "kitchen-lamp", TAKEN_BACK);
  const { corrects: _, ...late } = TAKEN_BACK;
  const confirmed = await switchedOn("confirmed", DONE);
  confirmed.bridge.report(confirmed.id, "kitchen-lamp", late);
  const isStored = () => confirmed.bridge.received.filter(({ t }) => t === "ack").length === 2;
  await until(isStored, { what: "it is stored" });
  await passUntil(T0 + 1_000);
  for (const conversation of ["sent", "confirmed"]) {
    expect(await told(conversation)).toEqual([]);
    expect(await callsOf(conversation)).toMatchObject([{ status: "success" }]);
  }
});
