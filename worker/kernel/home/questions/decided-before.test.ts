/** The same call twice in one turn asks once. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { device, hosting, READ, SET, UNLOCK } from "../../../../test/hosted-device.ts";
import { type Step, script } from "../../../../test/scripted-model.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../../test/workerd.ts";

const LOCK = device("front-door", { line: "lock", tools: [READ, UNLOCK] });
const LAMP = device("kitchen-lamp", { tools: [READ, { ...SET, idempotent: true }] });

let bridge: TestBridge;
beforeEach(async () => {
  bridge = await hosting([LAMP, LOCK]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "confirmed", tainted: false });
});
afterEach(reset);

const step = (agent_id: string, action: string, params: object): Step => ({
  calls: [{ arguments: { agent_id, action, params } }],
});
const on = step("kitchen-lamp", "set", { on: true });
const off = step("kitchen-lamp", "set", { on: false });
const unlock = step("front-door", "unlock", {});
const results = { text: "$results" };
const sent = () => bridge.calls().map(({ agent }) => agent);

/** A turn, of which each question gets its answer. @returns what was asked */
async function answered(conversation: string, steps: Step[], ...answers: string[]): Promise<string[]> {
  let isOver = false;
  const turn = say(conversation, script(...steps, results)).finally(() => {
    isOver = true;
  });
  const sentences: string[] = [];
  const known = new Set<string>();
  for (;;) {
    const next = await until(
      async () =>
        isOver ||
        ((await openQuestions()) as Array<{ id: string; text: string }>).find(({ id }) => !known.has(id)),
      { what: "a question or the end" },
    );
    if (next === true) break;
    known.add(next.id);
    sentences.push(next.text);
    const answer = answers[sentences.length - 1] ?? "deny";
    await ask(`/v1/questions/${next.id}`, { method: "POST", body: JSON.stringify({ answer }) });
  }
  await turn;
  return sentences;
}

describe("the same call in one turn", () => {
  test("that was denied is refused without a question, also a dangerous one", async () => {
    const steps = [unlock, unlock, unlock];
    expect(await answered(crypto.randomUUID(), steps, "deny")).toEqual(["Unlock Front door?"]);
    expect(sent()).toEqual([]);
  });

  test("that may run again without harm runs after one yes", async () => {
    expect(await answered(crypto.randomUUID(), [on, on], "approve")).toEqual(["Switch Kitchen lamp on?"]);
    expect(sent()).toEqual(["kitchen-lamp", "kitchen-lamp"]);
  });

  test("that is dangerous is asked for again after a yes", async () => {
    const asked = await answered(crypto.randomUUID(), [unlock, unlock], "approve", "deny");
    expect(asked).toEqual(["Unlock Front door?", "Unlock Front door?"]);
    expect(sent()).toEqual(["front-door"]);
  });

  test("with another value is another call, and a new turn asks again", async () => {
    const conversation = crypto.randomUUID();
    expect(await answered(conversation, [on, off], "deny", "deny")).toEqual([
      "Switch Kitchen lamp on?",
      "Switch Kitchen lamp off?",
    ]);
    expect(await answered(conversation, [on], "deny")).toEqual(["Switch Kitchen lamp on?"]);
    expect(sent()).toEqual([]);
  });
});
