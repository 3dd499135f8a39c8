import { appendFile, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditBatch } from "@edgecall/core/protocol/audit.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { AuditLog, type AuditOptions } from "./audit.ts";

const open: AuditLog[] = [];
afterEach(async () => {
  for (const audit of open.splice(0)) await audit.close();
});

const NOON = Date.parse("2026-11-22T12:00:00Z");
const line = (tool: string, more = {}) => ({
  agent_id: "eye",
  tool,
  parameters: {},
  result: "success" as const,
  exit_code: null,
  elapsed_ms: 5,
  call_id: "c",
  request_id: "r",
  caller: { principal: "anna", role: "owner", channel: "api" },
  ...more,
});

async function folder() {
  return await mkdtemp(join(tmpdir(), "edgecall-audit-"));
}

async function opened(dir: string, more: Partial<AuditOptions> = {}) {
  const sent: AuditBatch[] = [];
  const send = (batch: AuditBatch) => void sent.push(batch);
  const audit = await AuditLog.open({ dir, secrets: [], log: () => {}, send, now: () => NOON, ...more });
  open.push(audit);
  return { audit, sent };
}

const tools = (batch: AuditBatch | undefined) => batch?.lines.map(({ tool }) => tool);

test("a line has the design's fields, on disk and among the recent ones, without secrets", async () => {
  const dir = await folder();
  const { audit } = await opened(dir, { secrets: ["s3cret-key"] });
  audit.record(line("bash", { parameters: { command: "echo s3cret-key" }, exit_code: 0, elapsed_ms: 123 }));
  await audit.offer();
  const written = JSON.parse(await readFile(join(dir, "audit-2026-11-22.jsonl"), "utf8"));
  expect(written).toEqual({
    timestamp: "2026-11-22T12:00:00.000Z",
    ...line("bash", { parameters: { command: "echo [secret]" }, exit_code: 0, elapsed_ms: 123 }),
  });
  expect(audit.recent({ tool: "bash" })).toEqual([written]);
  expect(audit.recent({ tool: "read" })).toEqual([]);
});

test("the gateway gets each line once, in batches, and a batch again until it is acknowledged", async () => {
  const dir = await folder();
  const { audit, sent } = await opened(dir);
  for (let n = 0; n < 150; n += 1) audit.record(line(`t${n}`));
  await audit.offer();
  await audit.offer();
  expect([sent.length, sent[0]?.lines.length]).toEqual([2, 100]);
  expect(sent[1]).toEqual(sent[0]);
  expect(audit.acked("another")).toBe(false);
  expect(audit.acked(sent[0]?.request_id ?? "")).toBe(true);
  await until(() => sent.length === 3);
  expect([sent[2]?.lines[0]?.tool, sent[2]?.lines.length]).toEqual(["t100", 50]);
  audit.acked(sent[2]?.request_id ?? "");
  await audit.offer();
  expect(sent).toHaveLength(3);
  await audit.close();

  // Another process continues at the gateway's place; lines of the previous day are included.
  const next = await opened(dir, { now: () => NOON + 86_400_000 });
  next.audit.record(line("tomorrow"));
  await next.audit.offer();
  expect(next.sent.map(tools)).toEqual([["tomorrow"]]);
});

test("while a person follows the record, lines are sent soon after they come, and not one by one", async () => {
  const sent: AuditBatch[] = [];
  const at: number[] = [];
  const send = (batch: AuditBatch) => {
    sent.push(batch);
    at.push(performance.now());
  };
  const { audit } = await opened(await folder(), { send, followed: { afterMs: 20, everyMs: 1_000 } });
  audit.record(line("before"));
  audit.follow(60_000);
  await until(() => sent.length === 1);
  expect(tools(sent[0])).toEqual(["before"]);
  audit.acked(sent[0]?.request_id ?? "");
  for (const tool of ["a", "b", "c"]) audit.record(line(tool));
  await until(() => sent.length === 2);
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(500);
  expect(tools(sent[1])).toEqual(["a", "b", "c"]);
});

test("a batch that an earlier process sent keeps its name, with more lines in it", async () => {
  const dir = await folder();
  const first = await opened(dir);
  first.audit.record(line("a"));
  await first.audit.offer();
  await first.audit.close();
  const second = await opened(dir);
  second.audit.record(line("b"));
  await second.audit.offer();
  expect(second.sent[0]?.request_id).toBe(first.sent[0]?.request_id);
  expect(tools(second.sent[0])).toEqual(["a", "b"]);
});

test("damaged lines and a damaged mark lose nothing else", async () => {
  const dir = await folder();
  const file = join(dir, "audit-2026-11-22.jsonl");
  await writeFile(file, '{"timestamp":"2026\n');
  const { audit, sent } = await opened(dir);
  audit.record(line("whole"));
  await audit.offer();
  await appendFile(file, '{"torn":');
  await writeFile(join(dir, "sent.json"), '{"day":');
  await audit.offer();
  expect(sent.map(tools)).toEqual([["whole"], ["whole"]]);
});

test("days are deleted after a week, and long parameters are cut", async () => {
  const dir = await folder();
  for (const day of ["2026-11-10", "2026-11-14", "2026-11-15", "2026-11-21"])
    await writeFile(join(dir, `audit-${day}.jsonl`), "");
  const { audit } = await opened(dir);
  expect(await readdir(dir)).toEqual(["audit-2026-11-15.jsonl", "audit-2026-11-21.jsonl"]);
  audit.record(line("write", { parameters: { content: "x".repeat(100_000) } }));
  const [kept] = audit.recent();
  expect(String(kept?.parameters)).toMatch(/^\{"content":"x{2030,}… \[cut: 100014 characters\]$/);
});

test("after a power cut, the line after a damaged one is complete", async () => {
  const dir = await folder();
  const file = join(dir, "audit-2026-11-22.jsonl");
  for (const torn of ['{"timestamp":"20', "\0\0\0\0"]) {
    await appendFile(file, torn);
    const { audit, sent } = await opened(dir);
    audit.record(line("after"));
    audit.record(line("and-more"));
    await audit.offer();
    expect(tools(sent[0])).toEqual(["after", "and-more"]);
    audit.acked(sent[0]?.request_id ?? "");
    await audit.close();
  }
});

test("lines that a power cut removed although the gateway had them count as not sent", async () => {
  const dir = await folder();
  const first = await opened(dir);
  for (const tool of ["a", "b", "c"]) first.audit.record(line(tool));
  await first.audit.offer();
  first.audit.acked(first.sent[0]?.request_id ?? "");
  await until(async () => (await readdir(dir)).includes("sent.json"));
  await first.audit.close();
  // The mark was synced, the lines were not.
  const file = join(dir, "audit-2026-11-22.jsonl");
  const [a = ""] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, `${a}\n`);
  const { audit, sent } = await opened(dir);
  for (const tool of ["d", "e", "f"]) audit.record(line(tool));
  await audit.offer();
  expect(tools(sent[0])).toEqual(["d", "e", "f"]);
});
