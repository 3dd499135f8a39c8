/** A deploy replaces objects within five minutes: until then the gateway's code and its objects are of two versions. */
import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { openPrograms } from "../kept/programs.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

// The gateway is updated first, so what is at home is of 0.4.0 too.
const programs = openPrograms();
afterAll(() => rmSync(programs.folder, { recursive: true, force: true }));
const bridgeScript = programs.kept("bridge", "0.4.0");
const agent = programs.kept("agent", "0.4.0");

describe.each([
  ["the home", "HOME"],
  ["the conversation", "CONVERSATION"],
  ["both objects", "HOME,CONVERSATION"],
])("while %s of 0.4.0 lives on", { timeout: 120_000 }, (_, old) => {
  const stack = useStack(
    { workerScript: "test/e2e/mixed-worker.ts", vars: { OLD_OBJECTS: old }, bridgeScript },
    async () => {
      await stack.startAgent({ id: "pi", script: agent });
      await stack.gateway.online("pi");
    },
  );
  const get = async (path: string) => {
    const response = await fetch(`${stack.gateway.url}${path}`, {
      headers: { authorization: `Bearer ${TOKENS.owner}` },
    });
    return [response.status, await response.json()];
  };

  test("a question that calls a device is answered", async () => {
    const turn = await stack.gateway.ask(script(action("pi", "temperature"), RESULTS));
    expect(turn).toMatchObject({
      status: "done",
      answer: expect.stringContaining("48.3 °C"),
      calls: [{ agent: "pi", action: "temperature", status: "success" }],
    });
  });

  test("the routes of the features answer", async () => {
    for (const path of [
      "/v1/rules",
      "/v1/devices",
      "/v1/push",
      "/v1/lending",
      "/v1/senders/requests",
      "/v1/oauth/grants",
      "/v1/home/clock",
    ])
      expect([path, (await get(path))[0]]).toEqual([path, 200]);
  });
});
