/** A device without a key for a model answers in words all the same: through the gateway, with its own key's token. */
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (made) => {
  const llm = { base_url: `${made.gateway.url}/v1/relay/a`, model: "edgecall", relay: true };
  await made.startAgent({ id: "eye", top: { llm } });
});

test("the device's own loop asks the gateway's model, tools and all", async () => {
  const query = script({ calls: [{ name: "system_info", arguments: {} }] }, { text: "I looked: $results" });
  const turn = await stack.gateway.ask(
    script({ calls: [{ name: "edge_call", arguments: { agent_id: "eye", query } }] }, { text: "$results" }),
  );
  expect(turn).toMatchObject({ status: "done", answer: expect.stringContaining("I looked: ") });
  const asked = stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes("I looked"));
  expect(asked.length).toBeGreaterThanOrEqual(2);
  // Of the gateway's model, whatever the device calls it.
  expect(new Set(asked.map(({ model }) => model))).toEqual(new Set(["scripted"]));
});
