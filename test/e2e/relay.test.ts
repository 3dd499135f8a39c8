/** A device without a model key still answers in words: it uses the gateway's model with a token of its own key. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findKey } from "../../cli/agent/findings.ts";
import { script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const state_dir = mkdtempSync(join(tmpdir(), "edgecall-relay-"));
const stack = useStack({}, async (made) => {
  const llm = { base_url: `${made.gateway.url}/v1/relay/a`, model: "edgecall", relay: true };
  await made.startAgent({ id: "eye", top: { llm, state_dir } });
});

test("the device's own loop asks the gateway's model, tools and all", async () => {
  const query = script({ calls: [{ name: "system_info", arguments: {} }] }, { text: "I looked: $results" });
  const turn = await stack.gateway.ask(
    script({ calls: [{ name: "edge_call", arguments: { agent_id: "eye", query } }] }, { text: "$results" }),
  );
  expect(turn).toMatchObject({ status: "done", answer: expect.stringContaining("I looked: ") });
  const asked = stack.model.requests.filter(({ messages }) => JSON.stringify(messages).includes("I looked"));
  expect(asked.length).toBeGreaterThanOrEqual(2);
  // The gateway's model, whatever name the device uses.
  expect(new Set(asked.map(({ model }) => model))).toEqual(new Set(["scripted"]));
});

test("C12 a device's own doctor learns from the gateway that the device's key was revoked", async () => {
  const here = { agentId: "eye", stateDir: state_dir, gatewayKey: undefined };
  const pin = { url: stack.gateway.url, home: "a" };
  expect(await findKey(here, pin)).toMatchObject({ link: "key", is: "fine" });
  expect(await findKey(here, undefined)).toMatchObject({ is: "left" });
  // An unreachable gateway says nothing about the key.
  expect(await findKey(here, { ...pin, url: "http://127.0.0.1:9" })).toMatchObject({ is: "left" });
  expect(await findKey(here, { ...pin, home: "nobody" })).toMatchObject({ is: "wrong" });

  expect((await stack.gateway.fetch("/v1/agents/eye/key", { method: "DELETE" })).ok).toBe(true);
  const revoked = await findKey(here, pin);
  expect(revoked).toMatchObject({ is: "wrong", todo: expect.stringContaining("pairs it again") });
  expect(revoked.says).toContain("it was revoked");
});
