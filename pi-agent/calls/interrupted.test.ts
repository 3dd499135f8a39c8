import { expect, test } from "vitest";
import { replyOfInterrupted } from "./interrupted.ts";

const entry = { command: "tool", tool: "toggle", asking: 0, inner: undefined, jobOf: undefined };
const inner = (call: string, read: boolean, done?: { ok: boolean; text: string; ms: number }) => ({
  call,
  tool: read ? "cpu" : "toggle",
  read,
  args: { value: call },
  ...(done && { done }),
});
const payloadOf = (more: Partial<Parameters<typeof replyOfInterrupted>[0]>) =>
  replyOfInterrupted({ ...entry, ...more }).payload;

test("a call that ran may have taken effect", () => {
  expect(payloadOf({})).toEqual({
    status: "error",
    tool: "toggle",
    error: expect.stringMatching(/outcome of 'toggle' is unknown[\s\S]*may or may not have taken effect/),
    advice: expect.stringContaining("Do not repeat it blindly"),
    error_type: "outcome_unknown",
    elapsed_ms: 0,
  });
});

test("a call that waited for an approval has not run", () => {
  expect(payloadOf({ asking: 1 })).toMatchObject({
    error: expect.stringContaining(
      "cancelled: the device restarted while it waited for an answer; nothing was run.",
    ),
    error_type: "permission_denied",
  });
});

test("a job is reported as a job", () => {
  expect(payloadOf({ command: "job", jobOf: "first" })).toMatchObject({
    error: expect.stringContaining("The device restarted while this job ran"),
    error_type: "outcome_unknown",
    job_of: "first",
  });
});

test("a prompt reports the calls that it made", () => {
  const calls = [
    inner("1", true, { ok: true, text: "7%", ms: 3 }),
    inner("2", false, { ok: false, text: "Error: no", ms: 4 }),
    inner("3", true),
    inner("4", false),
  ];
  const payload = payloadOf({ command: "prompt", tool: undefined, inner: calls });
  expect(payload).toMatchObject({
    error: expect.stringMatching(
      /\nThe calls in its record: cpu \(done\), toggle \(failed\), cpu \(under way\), toggle \(under way\)\.\nDo not repeat/,
    ),
    error_type: "outcome_unknown",
    calls: [
      { id: "1", name: "cpu", args: { value: "1" }, status: "success", result: "7%", elapsed_ms: 3 },
      { id: "2", name: "toggle", status: "error", error: "Error: no" },
      { id: "3", name: "cpu", status: "error", error_type: "execution_failed" },
      { id: "4", name: "toggle", status: "error", error_type: "outcome_unknown" },
    ],
  });
});

test("of many calls the last ones are reported in words", () => {
  const done = { ok: true, text: "7%", ms: 3 };
  const calls = [...Array.from({ length: 10 }, (_, n) => inner(`${n}`, true, done)), inner("last", false)];
  const { error } = payloadOf({ command: "prompt", tool: undefined, inner: calls });
  expect(error).toMatch(/in its record: …, (cpu \(done\), ){9}toggle \(under way\)\.\nDo not repeat/);
  expect(payloadOf({ command: "prompt", tool: undefined, inner: [] }).error).not.toContain("record");
});

test("a prompt that waited for its first approval has only read", () => {
  const reads = [inner("1", true, { ok: true, text: "7%", ms: 3 })];
  const prompt = { command: "prompt", tool: undefined, asking: 1 };
  expect(payloadOf({ ...prompt, inner: reads })).toMatchObject({
    error: expect.stringContaining("waited for an answer; nothing but reads was run."),
    error_type: "execution_failed",
    calls: [{ name: "cpu" }],
  });
  expect(payloadOf(prompt).error).toContain("waited for an answer; nothing was run.");
  expect(payloadOf({ ...prompt, inner: [...reads, inner("2", false)] }).error_type).toBe("outcome_unknown");
});

test("S6 an interrupted call announces the jobs that it began", () => {
  const jobs = [{ job: "job-token-0001", tool: "update_self" }];
  expect(replyOfInterrupted({ ...entry, command: "prompt" }, jobs).payload).toMatchObject({ jobs });
  expect(replyOfInterrupted(entry).payload).not.toHaveProperty("jobs");
});
