/** A device is killed in its own tool loop: only what is known is reported, and nothing runs twice. */
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
/** The ids of the calls that took effect. */
const marks = () => linesOf(marksFile);
/** Calls of the device's own loop that its ledger records as begun. */
const begun = () => linesOf(join(dir, "ledger.jsonl")).filter((line) => line.includes('"t":"inner"')).length;

const asksOf = (question: string) =>
  stack.model.requests.filter(
    ({ messages }) => messages.findLast(({ role }) => role === "user")?.content === question,
  );

test("a prompt whose device is killed ends as unknown, and names the finished call and the running one", async () => {
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
  // The person reads the model's answer, and the model was told what the audit log says. The audit log is for people,
  // so it lacks the model's instructions.
  expect(turn.answer).toContain(`I was told: Error: ${turn.calls[0]?.error?.split("\n")[0]}`);
  expect(turn.answer).toMatch(
    /outcome of 'prompt' is unknown[\s\S]*The calls in its record: append \(done\), append \(under way\)/,
  );
  // Neither the prompt nor one of its calls was begun again.
  expect(asksOf(gateway)).toHaveLength(2);
  expect(asksOf(device)).toHaveLength(2);
  expect(begun()).toBe(2);

  const next = { tool: "append", parameters: { text: "three" } };
  const { body } = await stack.gateway.command("pi", "tool", next);
  expect(marks()).toEqual([done, body.request_id]);
  expect(stack.model.breaches).toEqual([]);
});
