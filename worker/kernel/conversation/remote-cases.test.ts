/** The gateway's cases of calls to remote devices (test/cases/remote.json); ssh.test.ts has the rest. */
import { expect, test } from "vitest";
import cases from "../../../test/cases/remote.json";
import { script } from "../../../test/scripted-model.ts";
import { until } from "../../../test/wait.ts";
import { agent, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

/** These concern a process on another machine. */
const OVER_SSH = ["remote/cancel-confirmed"];
/** A loaded machine is sometimes slow; one fast attempt is enough. */
const ATTEMPTS = 10;

type Case = {
  id: string;
  input: { timeoutMs?: number };
  expect: { error?: string; retry?: string; maxMs?: number; cancelSent?: boolean; ok?: boolean };
};

function caseOf(id: string): Case {
  return (cases as Case[]).find((one) => one.id === id) ?? expect.fail(`no case ${id}`);
}

test("every case is tested somewhere", () => {
  const here = ["offline", "timeout-after-ack", "late-answer", "transport-shorter-than-command"];
  expect(cases.map(({ id }) => id).toSorted()).toEqual(
    [...here.map((name) => `remote/${name}`), ...OVER_SSH].toSorted(),
  );
});

test("remote/offline", async () => {
  const { expect: wanted } = caseOf("remote/offline");
  const bridge = await TestBridge.connect([agent("pi"), agent("attic", { online: false })]);
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && best > (wanted.maxMs ?? 0); attempt += 1) {
    const startedAt = performance.now();
    const { body } = await call("attic", "cpu");
    best = Math.min(best, performance.now() - startedAt);
    expect(body.calls[0]?.error_type).toBe(wanted.error);
    // The model is told that a retry is safe, which is true.
    expect(body.calls[0]?.error?.includes("Nothing was run.")).toBe(wanted.retry === "safe");
  }
  expect(best).toBeLessThan(wanted.maxMs ?? 0);
  expect(bridge.calls()).toEqual([]);
});

test("remote/timeout-after-ack, remote/late-answer", async () => {
  const silent = caseOf("remote/timeout-after-ack");
  const late = caseOf("remote/late-answer");
  const bridge = await TestBridge.connect([
    agent("silent", { tools: [{ ...SIREN, timeout_ms: silent.input.timeoutMs }] }),
    agent("slow", { tools: [{ ...SIREN, timeout_ms: late.input.timeoutMs }, CPU] }),
  ]);
  bridge.onCall = ({ payload }) =>
    JSON.parse(payload).payload.tool === "cpu" ? { status: "success", result: "load 0.5" } : undefined;
  const [first, second] = await Promise.all([call("silent", "siren"), call("slow", "siren")]);
  expect(first.body.calls[0]?.error_type).toBe(silent.expect.error);
  const id = first.body.calls[0]?.id;
  const isCancel = (text: string) => {
    const { command, payload } = JSON.parse(text);
    return command === "cancel" && payload.request_id === id;
  };
  expect(silent.expect.cancelSent).toBe(true);
  await until(() => bridge.received.some((frame) => frame.t === "publish" && isCancel(frame.payload)), {
    what: "the cancel",
  });

  expect(second.body.calls[0]?.error_type).toBe("outcome_unknown");
  const other = call("slow", "cpu");
  bridge.report(second.body.calls[0]?.id ?? "", "slow", { status: "success", result: "it sounded" });
  expect((await other).body.calls[0]).toMatchObject({ status: "success", result: "load 0.5" });
}, 40_000);

test("remote/transport-shorter-than-command", async () => {
  const { input, expect: wanted } = caseOf("remote/transport-shorter-than-command");
  const bridge = await TestBridge.connect([
    agent("pi", { tools: [{ ...CPU, timeout_ms: input.timeoutMs }] }),
  ]);
  bridge.onCall = ({ id }) => {
    setTimeout(() => bridge.report(id, "pi", { status: "success", result: "load 0.5" }), 2_000);
    return undefined;
  };
  const { body } = await call("pi", "cpu");
  expect(body.calls[0]?.status === "success").toBe(wanted.ok);
  // The transport waits longer than the tool may take.
  const { expires_in_ms, payload } = bridge.calls()[0] ?? expect.fail("it was not sent");
  const device = JSON.parse(payload).expires_in_ms;
  expect(device).toBeGreaterThan(input.timeoutMs ?? 0);
  expect(expires_in_ms).toBeGreaterThan(device);
}, 20_000);

function call(id: string, action: string) {
  const calls = [{ arguments: { agent_id: id, action } }];
  return say(crypto.randomUUID(), script({ calls }, { text: "$results" }));
}
