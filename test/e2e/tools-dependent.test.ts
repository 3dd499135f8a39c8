/** Calls of one reply that use each other's results, and a tool that is made of tools, on real processes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { ownLoop, RESULTS } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const SKILLS = join(import.meta.dirname, "../../examples/skills");
const policy = { file_write: "allow" };

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi", model: true, top: { policy } });
  await stack.startAgent({ id: "nas", top: { policy, tools: { skills_path: SKILLS } } });
  await Promise.all([stack.gateway.online("pi"), stack.gateway.online("nas")]);
});

test("one agent's answer goes into another's file, over a kill of the Worker, once a person has seen it", async () => {
  const file = join(stack.workspaceOf("nas"), "answer.txt");
  const device = script({ hold: "answer", step: { text: "water the tomatoes" } });
  const reply = {
    calls: [
      {
        arguments: {
          agent_id: "nas",
          action: "write",
          params: { path: "answer.txt", content: { $ref: "/asked/result" } },
          after: ["asked"],
        },
      },
      { arguments: { agent_id: "pi", query: device, id: "asked" } },
    ],
  };
  const conversation = crypto.randomUUID();
  const turn = await stack.gateway.begin(script(reply, RESULTS), conversation);
  const isAsked = () =>
    stack.model.requests.some(({ messages }) => messages.some(({ content }) => content === device));
  await until(isAsked, { what: "the device asks its model" });
  await stack.worker.kill();
  stack.model.release("answer");
  await stack.startWorker();

  const { id, approval } = await stack.gateway.question(conversation);
  expect(approval).toMatchObject({
    tool: "write",
    parameters: { path: "answer.txt", content: "water the tomatoes" },
  });
  expect(existsSync(file)).toBe(false);
  expect(await stack.gateway.answer(id, "approve")).toBe(200);
  const ended = await stack.gateway.settled(conversation, turn, 20_000);
  // The file has the device's words alone; the model is told what they are worth.
  expect(ended.answer).toBe(`Created answer.txt (18B). | [${NO_TOOL_CALLED}]\nwater the tomatoes`);
  expect(readFileSync(file, "utf8")).toBe("water the tomatoes");
});

test("the device's own loop: what one call found is what another one writes", async () => {
  const calls = [
    { name: "write", arguments: { path: "memory.txt", content: { $ref: "/found/result" }, id: "kept" } },
    { name: "memory", arguments: { id: "found" } },
    { name: "write", arguments: { path: "never.txt", content: "x", after: ["gone"] } },
    // After the write: a file's text is a stranger's, so a write that is judged after a read asks a person, and waits.
    { name: "read", arguments: { path: "gone.txt", id: "gone", after: ["kept"] } },
  ];
  const turn = await stack.gateway.ask(script(ownLoop("pi", { calls }, RESULTS), RESULTS));
  const [written, found, never] = turn.answer?.split(" | ") ?? [];
  expect(written).toMatch(/^Created memory\.txt/);
  expect(readFileSync(join(stack.workspaceOf("pi"), "memory.txt"), "utf8")).toBe(found);
  expect(never).toBe("Error: Not run: it was to come after 'gone', which failed. Nothing was run.");
  expect(existsSync(join(stack.workspaceOf("pi"), "never.txt"))).toBe(false);
});

test("a tool made of tools: one approval shows its steps", async () => {
  const conversation = crypto.randomUUID();
  const calls = [
    { arguments: { agent_id: "pi", action: "ls", id: "first" } },
    {
      arguments: { agent_id: "nas", action: "disk_note", params: { path: "full.txt" }, after: ["first"] },
    },
  ];
  const asked = stack.gateway.ask(script({ calls }, RESULTS), conversation);
  const { id, approval } = await stack.gateway.question(conversation);
  expect(approval).toMatchObject({
    tool: "disk_note",
    parameters: {
      path: "full.txt",
      steps: [
        { id: "full", tool: "disk", params: { path: "/" } },
        { id: "note", tool: "write", params: { path: "full.txt", content: { $ref: "/full/result" } } },
      ],
    },
  });
  expect(await stack.gateway.answer(id, "approve")).toBe(200);
  const { calls: made } = await asked;
  expect(made[1]).toMatchObject({ status: "success", calls: [{ name: "disk" }, { name: "write" }] });
  expect(readFileSync(join(stack.workspaceOf("nas"), "full.txt"), "utf8")).toMatch(/\d% used/);
});

test("every history that the models received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
