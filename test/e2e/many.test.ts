/** Two hundred conversations of one home at once, each with a tool that takes three seconds. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const AGENTS = ["alder", "birch", "cedar", "dogwood"];
const CONVERSATIONS = 200;
const TOOL_MS = 3_000;

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: join(tmpdir(), "edgecall-many") };
  for (const id of AGENTS) await stack.startAgent({ id, env });
  for (const id of AGENTS) await stack.gateway.online(id);
});

test("all of them are answered, side by side", async () => {
  const began = performance.now();
  const turns = await Promise.all(
    Array.from({ length: CONVERSATIONS }, (_, n) => {
      const args = { agent_id: AGENTS[n % AGENTS.length], action: "slow", params: { ms: TOOL_MS } };
      const text = script({ calls: [{ arguments: args }] }, { text: `${n}: $results` });
      return stack.gateway.ask(text, `many-${n}`);
    }),
  );
  const took = Math.round(performance.now() - began);
  console.log(`${CONVERSATIONS} conversations with a tool of ${TOOL_MS} ms each: ${took} ms`);
  expect(turns.filter(({ status }) => status !== "done")).toEqual([]);
  for (const [n, { answer }] of turns.entries()) expect(answer).toMatch(new RegExp(`^${n}: `));
  // One after the other they would take ten minutes, and in groups of five two minutes.
  expect(took).toBeLessThan(60_000);
});
