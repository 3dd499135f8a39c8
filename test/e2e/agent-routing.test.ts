/**
 * Calls that name a group, on real processes: one agent is frozen, one busy, one gone. What may have run never runs at another
 * one. And agents of one group share the work.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, RESULTS } from "./edge-calls.ts";
import type { CallRecord } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const TRIO = ["trio-1", "trio-2", "trio-3"];
const PAIR = ["pair-1", "pair-2"];
const FOUR = ["four-1", "four-2", "four-3", "four-4"];
const CALLS = 200;

const dir = mkdtempSync(join(tmpdir(), "edgecall-agent-routing-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const stack = useStack({}, async (stack) => {
  for (const id of [...TRIO, ...PAIR, ...FOUR])
    await stack.startAgent({
      id,
      top: { group: id.slice(0, id.indexOf("-")), policy: { append: "allow", bash: "allow" } },
      env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: join(dir, id) },
    });
  for (const id of [...TRIO, ...PAIR, ...FOUR]) await stack.gateway.online(id);
});

/** The ids of the calls whose effect an agent had. */
const effectsOf = (id: string): string[] =>
  existsSync(join(dir, id)) ? readFileSync(join(dir, id), "utf8").trim().split("\n") : [];

const openOf = async (id: string) => (await stack.gateway.agent(id))?.counts.open ?? 0;

/** A turn with one call to one of the group. */
async function callOf(group: string, name: string, params = {}): Promise<CallRecord & { answer: string }> {
  const turn = await stack.gateway.ask(script(action(group, name, params), RESULTS));
  const [call] = turn.calls as [CallRecord];
  return { ...call, answer: turn.answer ?? "" };
}

test("one of three is frozen, one gone, and one busy: the busy one gets the call, and it is said why", async () => {
  const [frozen, busy, gone] = TRIO as [string, string, string];
  await stack.agent(gone).kill();
  await stack.gateway.offline(gone);
  const long = stack.gateway.ask(script(action(busy, "slow", { ms: 4_000 }), RESULTS));
  await until(async () => (await openOf(busy)) === 1, { what: "it is busy" });
  expect((await stack.gateway.agent(busy)) as object).toMatchObject({ status: "running", group: "trio" });
  stack.agent(frozen).signal("SIGSTOP");
  try {
    // The broker has not noticed yet.
    expect(await stack.gateway.agent(frozen)).toMatchObject({ online: true, status: "idle" });
    const call = await callOf("trio", "append");
    expect(call).toMatchObject({ agent: busy, status: "success" });
    expect(call.answer).toMatch(
      new RegExp(`^\\[${busy} was chosen of 2: online, has 'append', 1 open call\\]\\nappended `),
    );
    expect(TRIO.map(effectsOf)).toEqual([[], [call.id], []]);
  } finally {
    stack.agent(frozen).signal("SIGCONT");
  }
  await long;
  expect(effectsOf(frozen)).toEqual([]);
});

test("all are frozen or gone: it is said, and nothing was run", async () => {
  const there = TRIO.slice(0, 2);
  // A message counts as a sign of life for five seconds.
  await stack.worker.kill();
  for (const id of there) stack.agent(id).signal("SIGSTOP");
  try {
    await stack.startWorker();
    for (const id of there) await stack.gateway.online(id);
    const call = await callOf("trio", "append");
    expect(call).toMatchObject({ status: "error", error_type: "offline" });
    expect(call.error).toBe("None of the 2 agents that fit answers now (trio-1, trio-2). Nothing was run.");
  } finally {
    for (const id of there) stack.agent(id).signal("SIGCONT");
  }
  expect(TRIO.flatMap(effectsOf)).toHaveLength(1);
});

test("frozen after it took the call: that is unknown, and no other agent runs it", async () => {
  const hasRun = (id: string) => existsSync(join(stack.workspaceOf(id), "ran"));
  const asked = callOf("pair", "bash", { command: "touch ran; sleep 60", timeout_ms: 4_000 });
  const taken = await until(() => PAIR.find(hasRun), { what: "one has it" });
  stack.agent(taken).signal("SIGSTOP");
  try {
    const call = await asked;
    expect(call).toMatchObject({ agent: taken, status: "error", error_type: "outcome_unknown" });
  } finally {
    stack.agent(taken).signal("SIGCONT");
  }
  const [other] = PAIR.filter((id) => id !== taken) as [string];
  expect(hasRun(other)).toBe(false);
}, 60_000);

test("the Worker is killed while the chosen agent works: it runs once, there", async () => {
  const before = FOUR.flatMap(effectsOf).length;
  const conversation = crypto.randomUUID();
  const text = script(action("four", "append", { wait_ms: 3_000 }), RESULTS);
  const id = await stack.gateway.begin(text, conversation);
  const chosen = await until(
    async () => {
      for (const one of FOUR) if ((await openOf(one)) === 1) return one;
      return undefined;
    },
    { what: "one has it" },
  );
  await stack.worker.kill();
  await stack.startWorker();
  const turn = await stack.gateway.settled(conversation, id);
  expect(turn.calls).toMatchObject([{ agent: chosen, status: "success" }]);
  expect(effectsOf(chosen).filter((call) => call === turn.calls[0]?.id)).toHaveLength(1);
  expect(FOUR.flatMap(effectsOf)).toHaveLength(before + 1);
}, 60_000);

test.each([1, 8])(
  `${CALLS} calls to a group of four, %d at once: each agent gets 40 to 60`,
  async (atOnce) => {
    const counts = new Map<string, number>();
    let left = CALLS;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        const { agent = "", status } = await callOf("four", "disk");
        expect(status).toBe("success");
        counts.set(agent, (counts.get(agent) ?? 0) + 1);
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: atOnce }, worker));
    const took = Math.round(performance.now() - began);
    console.log(`${CALLS} calls, ${atOnce} at once: ${took} ms`, Object.fromEntries(counts));
    expect([...counts.keys()].sort()).toEqual(FOUR);
    for (const count of counts.values()) {
      expect(count).toBeGreaterThanOrEqual(40);
      expect(count).toBeLessThanOrEqual(60);
    }
  },
  180_000,
);
