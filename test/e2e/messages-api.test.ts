/**
 * The whole stack with models that are asked in Anthropic's form: the gateway's, a device's own, and the gateway's for a device. The
 * scripted model checks each request as the real API does.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cachedPrefix } from "../scripted-messages.ts";
import { script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const state_dir = mkdtempSync(join(tmpdir(), "edgecall-messages-"));
const stack = useStack({ vars: { LLM_API: "anthropic" } }, async (made) => {
  const llm = { base_url: `${made.gateway.url}/v1/relay/a`, model: "edgecall", relay: true };
  await made.startAgent({ id: "own", model: true, env: { LLM_API: "anthropic" } });
  await made.startAgent({ id: "relayed", top: { llm, state_dir } });
  await Promise.all([made.gateway.online("own"), made.gateway.online("relayed")]);
});

test.each(["own", "relayed"])(
  "the loop of the device '%s' asks, thinks, calls its tools and answers",
  async (id) => {
    const look = { calls: [{ name: "system_info", arguments: {} }] };
    const query = script(
      { ...look, text: "First.", thinks: "Hm." },
      { ...look, thinks: "Once more." },
      { text: "I looked: $results" },
    );
    const call = {
      calls: [{ name: "edge_call", arguments: { agent_id: id, query } }],
      thinks: "The device knows.",
    };
    const turn = await stack.gateway.ask(script(call, { text: "$results" }));
    expect(turn).toMatchObject({ status: "done", answer: expect.stringMatching(/I looked: [\s\S]* \| /) });

    const bodies = stack.model.requests
      .filter(({ question }) => question === query)
      .flatMap(({ body }) => body ?? []);
    expect(bodies).toHaveLength(3);
    let before = "";
    for (const body of bodies) {
      expect(cachedPrefix(body).startsWith(before)).toBe(true);
      before = cachedPrefix(body);
    }
    expect(JSON.stringify(bodies[2])).toMatch(/Hm\.[\s\S]*Once more\./);
  },
);

test("no request was refused", () => {
  expect(stack.model.breaches).toEqual([]);
});
