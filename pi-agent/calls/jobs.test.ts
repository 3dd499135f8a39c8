import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { casesOf } from "../testing/cases.ts";
import { type House, house, rules } from "../testing/house.ts";

let home: House;
afterEach(async () => await home.stop());

const ALLOWED = { policy: rules({ job: "allow", device: "allow" }) };

/** A job that ends when the test says so, or reports that it was stopped. */
function brew(more: Partial<Tool> = {}) {
  let release = () => {};
  const stopped: string[] = [];
  let begun = 0;
  const tool = defineTool({
    name: "brew",
    description: "Brew.",
    input: z.strictObject({ maxMs: z.optional(z.int()) }),
    effect: "device",
    permission: "device",
    idempotent: false,
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    execute: async ({ maxMs = 60_000 }, { job }) =>
      job(
        async (signal, update) => {
          begun += 1;
          update("grinding\n");
          await new Promise<void>((resolve) => {
            release = resolve;
            signal.addEventListener("abort", () => {
              stopped.push(String(signal.reason));
              resolve();
            });
          });
          return textResult("coffee");
        },
        { maxMs },
      ),
  });
  return { tool: { ...tool, ...more }, release: () => release(), stopped, begun: () => begun };
}

test("accepted at once; the result comes later under the token, and is repeated until it is acknowledged", async () => {
  home = await house();
  const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  const { tool, release } = brew({ taints: true });
  const first = await home.start({ ...ALLOWED, folder, tools: [tool] });
  const id = await home.tool("brew");
  const accepted = await home.result(id);
  expect(accepted).toEqual({
    status: "accepted",
    tool: "brew",
    job: expect.stringMatching(/^[0-9a-f-]{36}$/),
    result: expect.stringContaining("comes later"),
    for_user: expect.any(String),
    stderr: "",
    exit_code: 0,
    elapsed_ms: expect.any(Number),
    request_id: id,
  });
  const token = accepted.job as string;
  expect(readFileSync(join(folder, "eye.state/ledger.jsonl"), "utf8")).toContain(`"job_of":"${id}"`);
  expect(home.peer.reports(token)).toEqual([]);
  release();
  expect(await home.result(token)).toEqual({
    status: "success",
    tool: "brew",
    result: "coffee",
    stderr: "",
    exit_code: 0,
    elapsed_ms: expect.any(Number),
    tainted: true,
    job_of: id,
    request_id: token,
  });
  await first.stop();
  const second = await home.start({ ...ALLOWED, folder, tools: [tool] });
  await until(() => home.peer.reports(token).length === 2, { what: "the result is sent again" });
  await home.send("ack", { request_id: token });
  await home.result(await home.send("ping"));
  await second.stop();
  await home.start({ ...ALLOWED, folder, tools: [tool] });
  await home.result(await home.send("ping"));
  expect(home.peer.reports(token)).toHaveLength(2);
});

test("loop/async: the call is answered at once in the tool's own words, and completed later", async () => {
  const one = casesOf("loop").find(({ id }) => id === "loop/async") ?? expect.fail("no such case");
  const { a } = (one.given?.tools ?? {}) as {
    a: { acceptedText: string; completes: { afterMs: number; text: string } };
  };
  const tool = defineTool({
    ...brew().tool,
    name: "a",
    input: z.strictObject({}),
    async execute(_input, { job }) {
      const { afterMs, text } = a.completes;
      const accepted = job(async () => pause(afterMs, textResult(text)), { maxMs: 60_000 });
      return { ...accepted, content: textResult(a.acceptedText).content };
    },
  });
  home = await house((request, count) =>
    count === 1
      ? { calls: [{ name: "a", args: {} }] }
      : { text: String(request.messages.findLast(({ role }) => role === "tool")?.content) },
  );
  await home.start({ ...ALLOWED, tools: [tool] });
  const payload = await home.result(await home.prompt("begin"));
  expect({ 1: payload.content }).toEqual(one.expect.first);
  const [begun] = payload.jobs as Array<{ job: string }>;
  const calls = payload.calls as Array<{ name: string }>;
  const later = await home.result(begun?.job ?? "");
  expect(later).toMatchObject({ tool: calls[0]?.name, request_id: begun?.job });
  expect({ from: "1", text: later.result }).toEqual(one.expect.later);
});

test("it outlives its call's time limit, but not its own", async () => {
  home = await house();
  const { tool, stopped } = brew();
  await home.start({ ...ALLOWED, tools: [tool] });
  const { job } = await home.result(await home.tool("brew", { maxMs: 1_500 }, { expires_in_ms: 1_000 }));
  expect(await home.result(job as string)).toMatchObject({
    status: "error",
    error_type: "timeout",
    error: expect.stringContaining("timed out after 1.5s"),
  });
  expect(stopped).toHaveLength(1);
});

test.each(["its call", "its token"])("cancel by %s ends it", async (which) => {
  home = await house();
  const { tool, stopped, begun } = brew();
  await home.start({ ...ALLOWED, tools: [tool] });
  const id = await home.tool("brew");
  const { job } = await home.result(id);
  await until(() => begun() === 1);
  const cancel = await home.send("cancel", { request_id: which === "its call" ? id : job });
  expect((await home.result(cancel)).status).toBe("cancelled");
  expect(await home.result(job as string)).toMatchObject({
    status: "error",
    job_of: id,
    error: expect.stringContaining("cancelled"),
  });
  expect(stopped).toEqual(["CallEnded: it was cancelled"]);
});

test("its output is sent while a person watches it", async () => {
  home = await house();
  const { tool, release } = brew();
  await home.start({ ...ALLOWED, tools: [tool] });
  const { job } = await home.result(await home.tool("brew", {}, { watch: true }));
  const token = job as string;
  await until(() => home.peer.events(token, "progress").length);
  expect(home.peer.events(token, "progress")[0]?.payload).toMatchObject({ tool: "brew", text: "grinding\n" });
  release();
  await home.result(token);
});

test("a job holds the lock of its tool", async () => {
  home = await house();
  const { tool, release, begun } = brew({ lock: () => "the machine" });
  await home.start({ ...ALLOWED, tools: [tool] });
  const first = await home.result(await home.tool("brew"));
  await until(() => begun() === 1);
  const second = await home.tool("brew");
  await until(() => home.peer.events(second, "accepted").length);
  release();
  await home.result(first.job as string);
  const { job } = await home.result(second);
  await until(() => begun() === 2);
  release();
  expect((await home.result(job as string)).result).toBe("coffee");
});

test("a prompt whose loop began a job names it", async () => {
  home = await house((_request, count) =>
    count === 1 ? { calls: [{ name: "job", args: { ms: 1 } }] } : { text: "on its way" },
  );
  await home.start(ALLOWED);
  const id = await home.prompt("brew");
  const payload = await home.result(id);
  expect(payload).toMatchObject({
    content: "on its way",
    jobs: [{ tool: "job", job: expect.any(String) }],
    calls: [{ name: "job", status: "success", result: expect.stringContaining("Accepted") }],
  });
  const [begun] = payload.jobs as Array<{ job: string }>;
  expect(await home.result(begun?.job ?? "")).toMatchObject({ status: "success", job_of: id });
});

test("too many jobs at once are refused", async () => {
  home = await house();
  await home.start(ALLOWED);
  const ids = await Promise.all(Array.from({ length: 17 }, () => home.tool("job", { ms: 60_000 })));
  const results = await Promise.all(ids.map((id) => home.result(id)));
  expect(results.filter(({ status }) => status === "accepted")).toHaveLength(16);
  expect(results.find(({ status }) => status === "error")?.error).toContain("16 jobs are under way");
});
