import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AgentEvent,
  AnswerCommand,
  ApprovalRequest,
  Capabilities,
  Command,
  Presence,
  PromptCommand,
  type ReadReport,
  readReport,
  ToolCommand,
  ToolsAdvert,
} from "./mqtt.ts";
import { check, checkJson, type z } from "./parse.ts";

/** Reads one report; fails the test when it is refused. */
function reading(report: unknown): ReadReport {
  const parsed = readReport(JSON.stringify(report));
  return parsed.ok ? parsed.value : expect.fail(parsed.error);
}

const evoclaw = (report_type: string, payload: object) => ({
  agent_id: "pi-1",
  agent_type: "sensor",
  report_type,
  payload,
  timestamp: 1_763_760_000,
});

describe("readReport: EvoClaw's AgentReport", () => {
  test("the result of a tool", () => {
    const payload = {
      status: "success",
      tool: "read_temperature",
      result: { celsius: 45.6 },
      elapsed_ms: 3,
      request_id: "r1",
    };
    expect(reading(evoclaw("result", payload))).toEqual({ type: "result", requestId: "r1", payload });
  });

  test("a failed tool is still a result, with status error in its payload", () => {
    const payload = { status: "error", tool: "ping", error: "no route", request_id: "r1" };
    expect(reading(evoclaw("result", payload))).toMatchObject({
      type: "result",
      payload: { status: "error" },
    });
  });

  test("an error", () => {
    const payload = { error: "unknown command: x", request_id: "r1" };
    expect(reading(evoclaw("error", payload))).toEqual({ type: "error", requestId: "r1", payload });
  });

  test("a heartbeat, and the pong that names no request", () => {
    expect(reading(evoclaw("heartbeat", { uptime_sec: 30 }))).toMatchObject({
      type: "heartbeat",
      requestId: undefined,
    });
    expect(reading(evoclaw("result", { pong: true }))).toMatchObject({
      type: "result",
      requestId: undefined,
    });
  });

  test("a type that is none of the three", () => {
    expect(reading(evoclaw("skill_report", { skill: "x" })).type).toBe("other");
  });

  test.each<[string, object]>([
    ["a time as text", { timestamp: "2026-11-21T10:00:00Z" }],
    ["no time, no agent", { timestamp: undefined, agent_id: undefined, agent_type: undefined }],
    ["null for what nobody reads", { timestamp: null, agent_id: null, agent_type: null }],
    ["fields of a newer peer", { trace: [1] }],
  ])("%s does not invalidate the result", (_, more) => {
    expect(reading({ ...evoclaw("result", { request_id: "r1" }), ...more })).toMatchObject({
      requestId: "r1",
    });
  });
});

describe("readReport: the bare forms", () => {
  test("an answer to a prompt", () => {
    const report = { request_id: "r1", agent_id: "pi-1", content: "21 °C", model: "m", status: "success" };
    expect(reading(report)).toEqual({ type: "result", requestId: "r1", payload: report });
  });

  test("a tool's result, with and without its request", () => {
    const report = {
      status: "success",
      tool: "bash",
      result: "temp=45.6",
      stderr: "",
      exit_code: 0,
      elapsed_ms: 123,
    };
    expect(reading(report)).toEqual({ type: "result", requestId: undefined, payload: report });
    expect(reading({ ...report, request_id: "r1" })).toMatchObject({ type: "result", requestId: "r1" });
  });

  test("a device's own message and its status are no result", () => {
    const message = { agent_id: "pi-1", content: "the door is open", reply_to: "", metadata: {}, sent_at: 1 };
    expect(reading(message)).toEqual({ type: "other", requestId: undefined, payload: message });
    expect(reading({ agent_id: "pi-1", status: "idle", timestamp: 1 }).type).toBe("other");
  });
});

test.each([7, "", "x".repeat(129), {}, null])("an invalid request id: %j", (request_id) => {
  expect(reading(evoclaw("result", { request_id })).requestId).toBeUndefined();
  expect(reading({ tool: "bash", request_id }).requestId).toBeUndefined();
});

test.each(["accepted", "progress", "question", "upload", "audit"])(
  "an event %s with an empty call id is refused, since no frame could carry it",
  (type) => {
    const event = check(AgentEvent, { type, request_id: "" });
    expect(event).toMatchObject({ ok: false, error: expect.stringContaining("request_id") });
  },
);

test.each<[string, string, RegExp]>([
  ["nothing", "", /^not JSON: /],
  ["half a report", '{"report_type":"res', /^not JSON: /],
  ["null", "null", /expected record/],
  ["a list", "[]", /expected record/],
  ["an empty object", "{}", /^report_type: missing, and neither content, tool nor status is there$/],
  ["a type that is not a text", '{"report_type":7,"payload":{}}', /^report_type: /],
  ["no payload", '{"report_type":"result"}', /^payload: /],
  ["a payload that is not an object", '{"report_type":"result","payload":"x"}', /^payload: /],
])("not a report: %s", (_, text, error) => {
  expect(readReport(text)).toEqual({ ok: false, error: expect.stringMatching(error) });
});

test("any text and any JSON is read or refused, and nothing throws", () => {
  const key = fc.constantFrom(
    "report_type",
    "payload",
    "request_id",
    "content",
    "tool",
    "status",
    "__proto__",
  );
  const almost = fc.dictionary(
    key,
    fc.oneof(fc.jsonValue(), fc.constantFrom("result", "error", "heartbeat")),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        almost.map((it) => JSON.stringify(it)),
      ),
      (text) => {
        const report = readReport(text);
        if (report.ok) expect(typeof report.value.payload).toBe("object");
        else expect(report.error).not.toBe("");
        const schemas = [Capabilities, ToolsAdvert, Presence, Command, AgentEvent] as z.ZodMiniType[];
        for (const schema of schemas) checkJson(schema, text);
      },
    ),
  );
});

describe("the form of agents and commands", () => {
  test("EvoClaw's capabilities, and ours", () => {
    expect(check(Capabilities, { agent_id: "pi-1", capabilities: "reads sensors" }).ok).toBe(true);
    const ours = { capabilities: "", agent_type: "desktop", version: "0.1.0", features: ["tools"], later: 1 };
    expect(check(Capabilities, ours)).toEqual({ ok: true, value: ours });
    expect(check(Capabilities, { agent_id: "pi-1", capabilities: ["a"] }).ok).toBe(false);
    expect(check(Capabilities, { capabilities: "x".repeat(4_001) }).ok).toBe(false);
  });

  test("an advert of tools is bounded", () => {
    const tool = { name: "bash", timeout_ms: 30_000, effect: "exec", idempotent: false };
    expect(check(ToolsAdvert, { hash: "h", tools: [tool] })).toEqual({
      ok: true,
      value: { hash: "h", tools: [{ ...tool, description: "", parameters: {} }] },
    });
    for (const bad of [
      { name: "a b" },
      { name: "" },
      { timeout_ms: 0 },
      { effect: "magic" },
      { description: "x".repeat(2_001) },
    ])
      expect(check(ToolsAdvert, { hash: "h", tools: [{ ...tool, ...bad }] }).ok).toBe(false);
    expect(check(ToolsAdvert, { hash: "h", tools: Array(257).fill(tool) }).ok).toBe(false);
  });

  test("a command needs EvoClaw's three fields", () => {
    const command = { command: "tool", payload: {}, request_id: "r1" };
    expect(check(Command, command)).toEqual({ ok: true, value: command });
    for (const field of Object.keys(command)) {
      const rest: Record<string, unknown> = { ...command };
      delete rest[field];
      expect(check(Command, rest)).toEqual({ ok: false, error: expect.stringMatching(`^${field}: `) });
    }
    expect(check(Command, { ...command, expires_in_ms: -1 }).ok).toBe(false);
  });

  test("defaults of the payloads", () => {
    expect(check(ToolCommand, { tool: "bash", parameters: {} })).toMatchObject({
      value: { timeout_ms: 30_000 },
    });
    expect(check(PromptCommand, { prompt: "hi" })).toMatchObject({
      value: { enable_tools: true, max_tokens: 4_096 },
    });
  });

  test("presence and events", () => {
    expect(check(Presence, { state: "offline", boot_id: "b", reason: "last will" }).ok).toBe(true);
    expect(check(Presence, { state: "asleep" }).ok).toBe(false);
    expect(check(AgentEvent, { type: "progress", request_id: "r1", text: "half" }).ok).toBe(true);
    expect(check(AgentEvent, { type: "result" }).ok).toBe(false);
  });
});

describe("watching, taint and waiting", () => {
  const command = { command: "tool", payload: {}, request_id: "r" };

  test("a command says if a person watches and if a stranger's text is in the conversation", () => {
    expect(check(Command, { ...command, watch: true, tainted: true })).toMatchObject({
      ok: true,
      value: { watch: true, tainted: true },
    });
    for (const wrong of [{ watch: "yes" }, { tainted: 1 }])
      expect(check(Command, { ...command, ...wrong }).ok).toBe(false);
  });

  test("an action says if its result taints and how long it may wait for its agent", () => {
    const advert = (more: object) => check(ToolsAdvert, { hash: "h", tools: [{ name: "t", ...more }] });
    expect(advert({ taints: true, queue_ms: 604_800_000 })).toMatchObject({
      value: { tools: [{ taints: true, queue_ms: 604_800_000 }] },
    });
    for (const queue_ms of [0, 604_800_001, 1.5, "1"])
      expect(advert({ queue_ms })).toMatchObject({ ok: false, error: expect.stringContaining("queue_ms") });
  });
});

describe("questions and approvals", () => {
  const question = {
    type: "question",
    request_id: "r",
    question_id: "q",
    text: "Which?",
    expires_in_ms: 1_000,
  };
  const approval = { tool: "bash", parameters: { command: "ls" }, reason: "it runs a command", hash: "ab" };

  test("a question, with options or without", () => {
    expect(check(AgentEvent, question).ok).toBe(true);
    expect(check(AgentEvent, { ...question, options: ["a", "b"] })).toMatchObject({
      value: { options: ["a", "b"] },
    });
  });

  test.each<[string, object]>([
    ["expires_in_ms", { expires_in_ms: 0 }],
    ["expires_in_ms", { expires_in_ms: 604_800_001 }],
    ["expires_in_ms", { expires_in_ms: undefined }],
    ["options", { options: Array.from({ length: 21 }, () => "x") }],
    ["text", { text: "x".repeat(4_001) }],
    ["question_id", { question_id: "x".repeat(65) }],
    ["approval", { approval: { tool: "bash" } }],
  ])("a wrong %s is named", (field, wrong) => {
    expect(check(AgentEvent, { ...question, ...wrong })).toMatchObject({
      ok: false,
      error: expect.stringContaining(field),
    });
  });

  test("an approval contains its request", () => {
    expect(check(AgentEvent, { ...question, approval })).toMatchObject({ value: { approval } });
    expect(check(ApprovalRequest, { ...approval, cwd: "/home/pi", newer: 1 })).toMatchObject({
      value: { cwd: "/home/pi", newer: 1 },
    });
    for (const field of ["tool", "parameters", "reason", "hash"])
      expect(check(ApprovalRequest, { ...approval, [field]: undefined })).toMatchObject({
        ok: false,
        error: expect.stringContaining(field),
      });
  });

  test("an answer names its question; an approval's also the hash", () => {
    expect(check(AnswerCommand, { question_id: "q", answer: "approve", hash: "ab" }).ok).toBe(true);
    expect(check(AnswerCommand, { question_id: "q", answer: "a" }).ok).toBe(true);
    expect(check(AnswerCommand, { question_id: "q" })).toMatchObject({
      error: expect.stringContaining("answer"),
    });
    expect(check(AnswerCommand, { answer: "a" })).toMatchObject({
      error: expect.stringContaining("question_id"),
    });
  });

  test("progress may be empty, and is bounded", () => {
    const progress = { type: "progress", request_id: "r" };
    expect(check(AgentEvent, progress).ok).toBe(true);
    expect(check(AgentEvent, { ...progress, text: "x".repeat(16_384) }).ok).toBe(true);
    expect(check(AgentEvent, { ...progress, text: "x".repeat(16_385) }).ok).toBe(false);
  });

  test("property: any value gives an event or an error text", () => {
    const like = fc.record(
      {
        type: fc.constantFrom("accepted", "progress", "question", "event", "other"),
        request_id: fc.anything(),
        text: fc.anything(),
        approval: fc.anything(),
        expires_in_ms: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), like), (value) => {
        for (const schema of [AgentEvent, ApprovalRequest, AnswerCommand]) {
          const parsed = check<unknown>(schema, value);
          if (!parsed.ok) expect(parsed.error).not.toBe("");
        }
      }),
    );
  });
});
