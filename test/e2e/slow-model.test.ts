/** Models that are slow to the first byte: a device's own, and the gateway's. */
import { describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { MODEL_TOTAL_MS: "200000" } }, async (stack) => {
  await stack.startAgent({ id: "slow", model: true });
  await stack.startAgent({ id: "hasty", model: true, top: { llm: { first_byte_timeout_s: 1 } } });
  await stack.gateway.online("slow");
  await stack.gateway.online("hasty");
});

const asking = (agent_id: string, query: string) => ({ calls: [{ arguments: { agent_id, query } }] });

describe.concurrent("D1 slow models:", () => {
  test("D1 a device answers although its model needs 50 s to the first byte, end to end", {
    timeout: 120_000,
  }, async () => {
    const query = script({ afterMs: 50_000, step: { text: "it is 21 degrees" } });
    const turn = await stack.gateway.ask(script(asking("slow", query), { text: "$results" }));
    expect(turn).toMatchObject({ status: "done", calls: [{ status: "success" }] });
    expect(turn.answer).toContain("it is 21 degrees");
    // Once: it was neither given up nor sent again.
    expect(asked(query)).toHaveLength(1);
  });

  test("D1 so does the gateway, with its model on a private address", { timeout: 120_000 }, async () => {
    const question = script({ afterMs: 35_000, step: { text: "here I am" } });
    expect(await stack.gateway.ask(question)).toMatchObject({ status: "done", answer: "here I am" });
    expect(asked(question)).toHaveLength(1);
  });

  test("D1 a device's model that never answers is asked twice, and the error names the setting", async () => {
    const query = script({ hang: "before" }, { hang: "before" }, { hang: "before" });
    const turn = await stack.gateway.ask(script(asking("hasty", query), { text: "$results" }));
    expect(turn.calls).toMatchObject([{ status: "error" }]);
    expect(turn.answer).toContain("sent nothing for 1 s (first_byte_timeout_s in [llm] of agent.toml");
    expect(asked(query)).toHaveLength(2);
  });
});

/** Returns the model requests whose device question ends with these words. */
function asked(question: string) {
  return stack.model.requests.filter(({ messages }) => messages.at(-1)?.content === question);
}
