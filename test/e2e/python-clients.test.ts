// @module-tag needs/python-clients
/** Python's clients of OpenAI's API, as published on PyPI, with their own tools, and the running stack. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PYTHON_CLIENTS } from "../needs.ts";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const call = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const memory = call("edge_call", { agent_id: "pi", action: "memory" });
const weather = call("weather", { city: "Bern" });
const answer: Step = { text: "So: $results" };
/** The result of the device, which only the gateway's rows have, and that of the client's tool. */
const both = expect.stringMatching(/^So: [\s\S]*RAM 50% used[\s\S]*\| rain in Bern$/);

test.each<[string, Record<string, unknown>, string[]]>([
  ["openai", { finish: "tool_calls", text: both }, [script(memory, weather, answer)]],
  ["openai-stream", { finish: "tool_calls", text: 'weather {"city":"Bern"}' }, [script(memory, weather)]],
  ["openai-responses", { text: both }, [script(memory, weather, answer)]],
  ["openai-responses-stream", { text: 'weather {"city":"Bern"}' }, [script(memory, weather)]],
  ["instructor", { percent: 42 }, [script(memory, call("Disk", { percent: 42 }))]],
  ["pydantic-ai", { percent: 42 }, [script(memory, weather, call("final_result", { percent: 42 }))]],
  [
    "langchain-openai",
    { text: both, percent: 42 },
    [script(memory, weather, answer), script(call("Disk", { percent: 42 }))],
  ],
  ["smolagents", { text: "42" }, [script(memory, weather, call("final_answer", { answer: "42" }))]],
])(
  "G6 %s from PyPI works unmodified, with its own tools and the devices'",
  async (name, expected, questions) => {
    const before = stack.model.requests.length;
    const program = join(ROOT, "test/clients/clients.py");
    const args = [program, `${stack.gateway.url}/v1`, TOKENS.owner, name, ...questions];
    const { stdout } = await run(PYTHON_CLIENTS, args, { timeout: 100_000 });
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual(expected);
    expect(stack.model.requests.length).toBeGreaterThan(before + 1);
  },
  120_000,
);

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
