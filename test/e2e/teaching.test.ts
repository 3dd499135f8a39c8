/** An agent is taught over HTTP: its next prompt contains what it learned, also after a restart. */
import { expect, test } from "vitest";
import { type ModelRequest, script } from "../scripted-model.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pupil", model: true });
  await stack.gateway.online("pupil");
});

const genome = {
  identity: { name: "Alex", persona: "a patient gardener", voice: "dry" },
  skills: { trading: { enabled: false, params: {} } },
  behavior: { risk_tolerance: 0.1, verbosity: 0.9, autonomy: 0.5 },
  constraints: { blocked_actions: ["disk"] },
  agent: { model: "scripted-small", max_tool_iterations: 3 },
};

const say = async (command: string, payload: Record<string, unknown>) => {
  const { status, body } = await stack.gateway.command("pupil", command, payload);
  expect(status).toBe(200);
  return body;
};

/** Asks the device's own model. @returns the request that the model received */
async function asked(text: string): Promise<ModelRequest> {
  const before = stack.model.requests.length;
  expect((await say("prompt", { prompt: script({ text }) })).payload).toMatchObject({ content: text });
  const request = stack.model.requests[before];
  if (!request) throw new Error("the model was not asked");
  return request;
}

const system = ({ messages }: ModelRequest): string => String(messages[0]?.content);

test("a genome is in the next prompt, an invalid one changes nothing, and a restart keeps it", async () => {
  expect(system(await asked("before"))).not.toContain("Alex");
  expect(await say("update_genome", { genome })).toMatchObject({
    report_type: "result",
    payload: { status: "genome_updated", identity: "Alex", enabled_skills: [], version: 1 },
  });
  const isTaught = async (word: string) => {
    const request = await asked(word);
    expect(system(request)).toContain(
      "Your name is Alex. Your character: a patient gardener. Your voice: dry.",
    );
    expect(request.model).toBe("scripted-small");
    expect((await say("tool", { tool: "disk", parameters: {} })).payload).toMatchObject({
      status: "error",
      error_type: "permission_denied",
    });
  };
  await isTaught("at once");

  const bad = {
    ...genome,
    identity: { ...genome.identity, name: "Eve" },
    agent: { max_tool_iterations: 11 },
  };
  expect(await say("update_genome", { genome: bad })).toMatchObject({
    report_type: "error",
    payload: { error: expect.stringMatching(/agent\.max_tool_iterations: .*a whole number from 1 to 10/) },
  });
  await isTaught("as before");

  await stack.agent("pupil").stop();
  await stack.restartAgent("pupil");
  await stack.gateway.online("pupil");
  await isTaught("after the restart");
  expect((await say("get_metrics", {})).payload).toMatchObject({
    profile_version: 1,
    tools: { disk: { calls: 1, error: 1 } },
  });

  expect((await say("update_genome", { action: "rollback", version: 0 })).payload).toMatchObject({
    status: "rolled_back",
    version: 2,
  });
  const back = await asked("back again");
  expect([system(back).includes("Alex"), back.model]).toEqual([false, "scripted"]);
  expect((await say("tool", { tool: "disk", parameters: {} })).payload).toMatchObject({ status: "success" });
});
