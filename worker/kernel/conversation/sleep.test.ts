import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { rowsOf as readRows } from "../../../test/stopping.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, TestBridge } from "../../../test/workerd.ts";

/** Longer than the 10 s after which an idle object hibernates, and than the conversation's lease. */
const TOOL_MS = 45_000;

/** Marks the instance in memory; a rebuilt one lacks the mark. */
async function mark(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (instance) => Object.assign(instance, { marked: true }));
}

async function isRebuilt(stub: DurableObjectStub): Promise<boolean> {
  return await runInDurableObject(stub, (instance) => !("marked" in instance));
}

/** Counts all rows except those of calls, turns and the list of conversations, which are written at their ends. */
async function rowsOf(stub: DurableObjectStub): Promise<number> {
  return await runInDurableObject(stub, (_, { storage }) => {
    const tables = storage.sql
      .exec<{ name: string }>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'
         AND name NOT IN ('tally', 'agent_calls', 'usage_report', 'conversation')`,
      )
      .toArray();
    return tables.reduce(
      (sum, { name }) => sum + storage.sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`).one().n,
      0,
    );
  });
}

test("while a device works for 45 s both objects sleep, nothing is written, and the waiting client gets its answer", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [{ ...CPU, timeout_ms: 60_000 }] })]);
  bridge.onCall = () => undefined;
  const home = env.HOME.getByName("a");
  const conversation = env.CONVERSATION.getByName("a/api/sleep");
  const text = script(
    { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] },
    { text: "It is $results" },
  );
  const waiting = await ask("/v1/conversations/sleep/messages", {
    method: "POST",
    headers: { accept: "text/event-stream" },
    body: JSON.stringify({ text }),
  });
  const stream = waiting.text();
  const call = await until(() => bridge.calls()[0]);
  // A call that is not answered at once gets its row, and the objects may sleep from there on.
  await until(async () => (await readRows(home, "SELECT id FROM call")).length === 1, {
    what: "the call has a row",
  });
  await Promise.all([mark(home), mark(conversation)]);
  const before = await Promise.all([rowsOf(home), rowsOf(conversation)]);
  // The tool's own time, because there is no other condition to wait for.
  await new Promise((done) => setTimeout(done, TOOL_MS));
  bridge.report(call.id, "pi", { status: "success", result: "load 0.5" });
  expect(await stream).toContain('"answer":"It is load 0.5"');
  expect(await Promise.all([isRebuilt(home), isRebuilt(conversation)])).toEqual([true, true]);
  const settled = await Promise.all([rowsOf(home), rowsOf(conversation)]);
  // The wait adds no row: only the result is new, and the end with its answer. Rows are appended, not changed.
  expect(settled).toEqual([before[0], before[1] + 2]);
}, 70_000);
