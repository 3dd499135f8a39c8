/** A device's own tool loop is killed in the middle: nobody claims more than is known, and nothing runs twice. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-killed-"));
const marksFile = join(dir, "marks");
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const stack = useStack({}, async (stack) => {
  await stack.startAgent({
    id: "pi",
    model: true,
    top: { state_dir: dir, policy: { append: "allow" } },
    env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marksFile },
  });
  await stack.gateway.online("pi");
});

const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
/** Each is the id of a call that took effect. */
const marks = () => linesOf(marksFile);
/** Calls of the device's own loop that are in its ledger as begun. */
const begun = () => linesOf(join(dir, "ledger.jsonl")).filter((line) => line.includes('"t":"inner"')).length;

const asksOf = (question: string) =>
  stack.model.requests.filter(
    ({ messages }) => messages.findLast(({ role }) => role === "user")?.content === question,
  );

test("killed in mid-prompt, it ends as unknown, with the call that was done and the one that was under way", async () => {
  const waits = { text: "two", wait_ms: 600_000 };
  const device = script(
    { calls: [{ name: "append", arguments: { text: "one" } }] },
    { calls: [{ name: "append", arguments: waits }] },
    { text: "both are done" },
  );
  const gateway = script(
    { calls: [{ arguments: { agent_id: "pi", query: device } }] },
    { text: "I was told: $results" },
  );
  const conversation = crypto.randomUUID();
  const id = await stack.gateway.begin(gateway, conversation);
  await until(() => begun() === 2, { within: 10_000, what: "the second call is under way" });
  await stack.agent("pi").kill();
  await stack.restartAgent("pi");
  const turn = await stack.gateway.settled(conversation, id, 20_000);

  const [done] = marks();
  expect(turn.status).toBe("done");
  expect(turn.calls).toHaveLength(1);
  expect(turn.calls[0]).toMatchObject({
    agent: "pi",
    query: device,
    status: "error",
    error_type: "outcome_unknown",
    calls: [
      { id: done, name: "append", args: { text: "one" }, status: "success", result: `appended ${done}` },
      { name: "append", args: waits, status: "error", error_type: "outcome_unknown" },
    ],
  });
  // The person reads what the model made of it, and the model was told what the record says.
  // The record is for people: without what tells the model how to go on.
  expect(turn.answer).toContain(`I was told: Error: ${turn.calls[0]?.error?.split("\n")[0]}`);
  expect(turn.answer).toMatch(
    /outcome of 'prompt' is unknown[\s\S]*The calls in its record: append \(done\), append \(under way\)/,
  );
  // Neither the prompt nor a call of it was begun again.
  expect(asksOf(gateway)).toHaveLength(2);
  expect(asksOf(device)).toHaveLength(2);
  expect(begun()).toBe(2);

  const next = { tool: "append", parameters: { text: "three" } };
  const { body } = await stack.gateway.command("pi", "tool", next);
  expect(marks()).toEqual([done, body.request_id]);
  expect(stack.model.breaches).toEqual([]);
});
