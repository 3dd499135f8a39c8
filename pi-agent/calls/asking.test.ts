import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Rule } from "../config/policy-rules.ts";
import { type House, house, rules } from "../testing/house.ts";
import type { ModelAnswer, ModelRequest } from "../testing/model.ts";
import { probe } from "../testing/tools.ts";

let home: House;
let script: (request: ModelRequest, count: number) => ModelAnswer;
beforeEach(async () => {
  script = () => ({ text: "done" });
  home = await house((request, count) => script(request, count));
});
afterEach(async () => await home.stop());

const marks = () => (existsSync(home.marks) ? readFileSync(home.marks, "utf8").trim().split("\n") : []);
/** @returns the lines of the audit log, which begins a file each day */
const audited = (folder: string) => {
  const days = join(folder, "eye.state/audit");
  const files = readdirSync(days).filter((name) => name.endsWith(".jsonl"));
  const text = files
    .sort()
    .map((name) => readFileSync(join(days, name), "utf8"))
    .join("");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
};
const denied = { status: "error", error_type: "permission_denied" };

describe("a question of a tool", () => {
  test("is sent and answered, and the tool continues; its time stopped meanwhile", async () => {
    await home.start();
    const id = await home.tool("ask_me", { text: "Blue?", options: ["yes", "no"] }, { expires_in_ms: 1_500 });
    const question = await home.question(id);
    expect(question).toEqual({
      type: "question",
      request_id: id,
      question_id: expect.any(String),
      text: "Blue?",
      options: ["yes", "no"],
      expires_in_ms: expect.any(Number),
    });
    // Longer than the rest of the call's time, because that is tested.
    await new Promise((resolve) => setTimeout(resolve, 1_700));
    expect(await home.answer(question.question_id, "yes")).toEqual({
      status: "answered",
      request_id: expect.any(String),
    });
    expect(await home.result(id)).toMatchObject({ status: "success", result: "the answer was: yes" });
    expect((await home.answer(question.question_id, "no")).error).toBe(
      `question ${question.question_id} was answered already`,
    );
    expect((await home.answer("nosuch", "no")).error).toBe("no open question nosuch");
  });

  test("without an answer the tool fails with a text", async () => {
    await home.start();
    const id = await home.tool("ask_me", { text: "Anyone?", expires_ms: 30 });
    expect(await home.result(id)).toMatchObject({
      status: "error",
      error:
        "Error: Tool 'ask_me' asked the user a question, and nobody answered it in time.\nExplain to the user.",
      error_type: "timeout",
      code: "unanswered",
    });
  });

  test("its call can be cancelled meanwhile", async () => {
    await home.start();
    const id = await home.tool("ask_me", { text: "Anyone?" });
    const { question_id } = await home.question(id);
    await home.result(await home.send("cancel", { request_id: id }));
    expect(await home.result(id)).toMatchObject({
      status: "error",
      error: expect.stringContaining("cancelled"),
    });
    expect((await home.answer(question_id, "yes")).error).toContain("its call has ended");
  });

  test("keeps its call in the ledger for as long as an answer may come", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    await home.start({ folder });
    const id = await home.tool("ask_me", { text: "Blue?", expires_ms: 1_800_000 });
    const { question_id } = await home.question(id);
    const lines = readFileSync(join(folder, "eye.state/ledger.jsonl"), "utf8").trim().split("\n");
    const waits = lines.map((line) => JSON.parse(line)).find(({ t }) => t === "waits");
    expect(waits).toMatchObject({ id });
    expect(waits.until - waits.at).toBe(1_800_000);
    await home.answer(question_id, "yes");
    expect((await home.result(id)).result).toBe("the answer was: yes");
  });

  test("is repeated under its own id after a copy of the command, and after a new connection", async () => {
    await home.start();
    const id = await home.tool("ask_me", { text: "Twice?" });
    const first = await home.question(id);
    const payload = { tool: "ask_me", parameters: { text: "Twice?" } };
    await home.peer.command("eye", { command: "tool", payload, request_id: id, n: 1 });
    expect((await home.question(id, 1)).question_id).toBe(first.question_id);
    await home.answer(first.question_id, "ok");
    expect((await home.result(id)).result).toBe("the answer was: ok");
  });
});

describe("an approval", () => {
  test("is requested before anything runs, and allows exactly that run", async () => {
    await home.start();
    const id = await home.tool("append", { text: "x" });
    const { question_id, approval, text, options, expires_in_ms } = await home.question(id);
    const hash = await approvalHash("eye", "append", { text: "x" });
    expect(approval).toEqual({
      tool: "append",
      parameters: { text: "x" },
      reason: "this device's policy asks before whatever is not a read (it writes files)",
      hash,
    });
    expect(text).toContain(`May eye run 'append' with {"text":"x"}?`);
    expect(options).toEqual(["approve", "deny"]);
    expect(expires_in_ms).toBeGreaterThan(590_000);
    expect(marks()).toEqual([]);
    expect((await home.answer(question_id, "approve", { hash })).status).toBe("answered");
    expect(await home.result(id)).toMatchObject({ status: "success", result: `appended ${id}` });
    expect(marks()).toEqual([id]);
  });

  test.each([
    ["a no", "deny", undefined],
    ["another word", "yes", "right"],
    ["no hash", "approve", undefined],
    ["another hash", "approve", "0".repeat(64)],
  ])("%s: denied, and nothing is run", async (_name, answer, hash) => {
    await home.start();
    const id = await home.tool("append");
    const { question_id, approval } = await home.question(id);
    const given = hash === "right" ? (approval?.hash as string) : hash;
    await home.answer(question_id, answer, given === undefined ? {} : { hash: given });
    expect(await home.result(id)).toMatchObject({
      ...denied,
      tool: "append",
      error: expect.stringMatching(/^Error: Permission denied for tool 'append': .* Nothing was run\./),
    });
    expect(marks()).toEqual([]);
  });

  test("without an answer in time the call is denied", async () => {
    await home.start({ approvalMs: 30 });
    const id = await home.tool("append");
    expect(await home.result(id)).toMatchObject({
      ...denied,
      error: expect.stringContaining("nobody approved it"),
    });
    expect(marks()).toEqual([]);
  });

  test("is in the audit log: who answered what, and when; other calls have no such entry", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    const agent = await home.start({ folder, approvalMs: 20_000 });
    const answers = [
      ["approve", { by: "berta" }],
      ["deny", { by: "carl" }],
      // Over the LAN, by a peer without a name.
      ["deny", {}],
    ] as const;
    for (const [answer, by] of answers) {
      const id = await home.tool("append");
      const { question_id, approval } = await home.question(id);
      await home.answer(question_id, answer, { hash: approval?.hash, ...by });
      await home.result(id);
    }
    await home.result(await home.tool("slow", { ms: 1 }));
    await agent.stop();
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(audited(folder).map(({ approval }) => approval)).toEqual([
      { approved: true, by: "berta", at },
      { approved: false, by: "carl", at },
      { approved: false, by: "lan", at },
      undefined,
    ]);
  });

  test("without a person is in the audit log without a name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    const agent = await home.start({ folder, approvalMs: 30 });
    await home.result(await home.tool("append"));
    await agent.stop();
    expect(audited(folder)[0].approval).toEqual({ approved: false, at: expect.any(String) });
  });

  test("of one call is not valid for another with other arguments, even with its hash", async () => {
    await home.start();
    const [small, large] = [
      await home.tool("append", { text: "1" }),
      await home.tool("append", { text: "1000" }),
    ];
    const [first, second] = [await home.question(small), await home.question(large)];
    await home.answer(second.question_id, "approve", { hash: first.approval?.hash });
    expect(await home.result(large)).toMatchObject(denied);
    await home.answer(first.question_id, "approve", { hash: first.approval?.hash });
    expect((await home.result(small)).status).toBe("success");
    expect(marks()).toEqual([small]);
  });

  test("no field of the command can grant it", async () => {
    await home.start();
    const approved = { approved: true, approval: { hash: await approvalHash("eye", "append", {}) } };
    const id = await home.send(
      "tool",
      { tool: "append", parameters: {}, confirm: true, ...approved },
      { ...approved, caller: { principal: "me", role: "owner", channel: "console" } },
    );
    await home.question(id);
    expect(marks()).toEqual([]);
  });

  test("arguments that the tool would refuse need no approval; those that no person could review are denied", async () => {
    await home.start();
    expect((await home.result(await home.tool("append", { txt: 1 }))).error_type).toBe("invalid_params");
    const long = await home.tool("append", { text: "x".repeat(70_000) });
    expect(await home.result(long)).toMatchObject({ ...denied, error: expect.stringContaining("too long") });
    expect(home.peer.received.filter(({ payload }) => payload.type === "question")).toEqual([]);
  });

  test("after a restart while it is open, the call is denied without a question, and never run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    await home.start({ folder });
    const id = await home.tool("append");
    const { question_id, approval } = await home.question(id);
    // The state that a SIGKILL would leave. The first agent still runs, so the second has another name.
    const after = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
    cpSync(folder, after, { recursive: true });
    const second = await home.start({ agentId: "second", folder: after, stateDir: join(after, "eye.state") });
    expect(await home.result(id)).toMatchObject({
      ...denied,
      error: expect.stringContaining("the device restarted while it waited for an answer; nothing was run"),
    });
    const answer = { question_id, answer: "approve", hash: approval?.hash };
    const reply = await home.peer.ask("second", { command: "answer", payload: answer, request_id: "late" });
    expect(reply.payload.error).toBe(`no open question ${question_id}`);
    expect(marks()).toEqual([]);
    await second.stop();
  });
});

describe("policy", () => {
  test("allow, ask and deny, for `tool`, `sensor` and the device's own loop alike", async () => {
    await home.start({ policy: rules({ append: "allow", memory: "deny", slow: "ask" }) });
    expect((await home.result(await home.tool("append"))).status).toBe("success");
    const text = "Permission denied for tool 'memory' (requires: device).";
    const advice = "This agent does not have device access. Explain to the user.";
    expect(await home.result(await home.tool("memory"))).toMatchObject({
      ...denied,
      error: `Error: ${text}\n${advice}`,
      advice,
    });
    expect(await home.result(await home.send("sensor", { type: "memory" }))).toMatchObject({
      success: false,
      error: `Error: ${text}\n${advice}`,
      advice,
    });
    script = (_request, count) =>
      count === 1 ? { calls: [{ name: "memory", args: {} }] } : { text: "sorry" };
    expect(await home.result(await home.prompt("memory?"))).toMatchObject({
      content: "sorry",
      calls: [{ name: "memory", status: "error", error_type: "permission_denied", error: text }],
    });
    const read = await home.tool("slow", { ms: 0 });
    expect((await home.question(read)).approval).toMatchObject({ tool: "slow" });
  });

  test.each<[Rule, string]>([
    ["allow", "success"],
    ["deny", "error"],
  ])("D4 tainted, and the policy says %s: no question is asked", async (all, status) => {
    await home.start({
      policy: Object.assign(rules({ append: "allow" }), { tainted: { all, named: new Map() } }),
    });
    const id = await home.tool("append", {}, { tainted: true });
    expect((await home.result(id)).status).toBe(status);
    expect(home.peer.events(id, "question")).toEqual([]);
  });

  test("tainted: allowed calls need approval, except reads", async () => {
    await home.start({ policy: rules({ append: "allow" }) });
    const id = await home.tool("append", {}, { tainted: true });
    expect((await home.question(id)).approval).toMatchObject({
      reason: expect.stringContaining("a stranger's text"),
    });
    expect((await home.result(await home.tool("slow", { ms: 0 }, { tainted: true }))).status).toBe("success");
  });

  test("an inner call asks too, the prompt's time stops, and the answer lets it run", async () => {
    await home.start();
    script = ({ messages }, count) =>
      count === 1
        ? { calls: [{ name: "append", args: { text: "hi" } }] }
        : { text: messages.at(-1)?.content ?? "" };
    const id = await home.prompt("append hi", { expires_in_ms: 2_000 });
    const { question_id, approval } = await home.question(id);
    expect(approval).toMatchObject({ tool: "append", parameters: { text: "hi" } });
    // Longer than the rest of the prompt's time, because that is tested.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    await home.answer(question_id, "approve", { hash: approval?.hash });
    const payload = await home.result(id);
    expect(payload).toMatchObject({ status: "success", calls: [{ name: "append", status: "success" }] });
    expect(marks()).toEqual([(payload.calls as Array<{ id: string }>)[0]?.id]);
  });

  test("after an inner read with a stranger's text the loop's later acts need approval, and the result mentions that", async () => {
    const page = probe("page", { taints: true });
    await home.start({ policy: rules({ append: "allow" }), tools: [page.tool] });
    script = (_request, count) =>
      count > 2 ? { text: "ok" } : { calls: [{ name: count === 1 ? "page" : "append", args: {} }] };
    const id = await home.prompt("read the page and do what it says");
    const { question_id } = await home.question(id);
    await home.answer(question_id, "deny");
    expect(await home.result(id)).toMatchObject({
      tainted: true,
      calls: [
        { name: "page", status: "success" },
        { name: "append", status: "error", error_type: "permission_denied" },
      ],
    });
    expect(marks()).toEqual([]);
    expect((await home.result(await home.tool("page"))).tainted).toBe(true);
    expect(await home.result(await home.tool("memory"))).not.toHaveProperty("tainted");
  });
});
