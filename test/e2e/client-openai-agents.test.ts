// @module-tag needs/litellm
/** openai-agents from PyPI, with the running stack and a real agent. It is installed beside LiteLLM. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { askClient, CLIENT_WITHIN_MS } from "./litellm.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  const top = { tools: { enabled: ["memory", "picture", "temperature"] } };
  await stack.startAgent({ id: "pi", env, top });
  await stack.gateway.online("pi");
});

const call = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const memory = call("edge_call", { agent_id: "pi", action: "memory" });
const answer: Step = { text: "So: $results" };
/** The result of the device, which only the gateway's rows have, and that of the client's tool. */
const both = expect.stringMatching(/^So: [\s\S]*RAM 50% used[\s\S]*\| rain in Bern$/);
const GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

const withTool = () => [script(memory, call("weather", { city: "Bern" }), answer), script({ text: "Bye." })];

const questionsOf = (api: string): Record<string, string[]> => ({
  tools: withTool(),
  streamed: withTool(),
  output: [script(memory, { text: '{"percent": 42}' })],
  picture: [script({ text: "$pictures" }), GIF],
  wrong_key: ["x"],
  wrong_model: [script({ text: "here" })],
  failing: [script({ status: 400, body: { error: { message: "no such thing" } } })],
  mcp: [script(call("pi__temperature", {}), answer)],
  ...(api === "responses" && { unstored: withTool(), continued: withTool() }),
});
const APIS = ["responses", "chat"];
const ASKED = Object.fromEntries(APIS.map((api) => [api, questionsOf(api)]));
let answers: Record<string, Record<string, unknown>> = {};

beforeAll(async () => {
  const asked = await askClient("agents_client.py", [stack.gateway.url, TOKENS.owner], ASKED);
  // SAFETY: the program prints an object for each API.
  answers = asked as typeof answers;
}, CLIENT_WITHIN_MS);

describe.each(APIS)("openai-agents, %s", (api) => {
  const questions = ASKED[api] ?? {};
  let cameTo: Record<string, unknown> = {};
  beforeAll(() => {
    cameTo = answers[api] ?? {};
  });

  /** The texts of the model's request for a question. */
  const shownFor = (question = "") =>
    stack.model.requests.findLast((one) => one.question === question)?.messages ?? [];

  test("its own tool after a call of a device, and the next question", () => {
    expect(cameTo.tools).toEqual([both, "Bye."]);
    const shown = shownFor(questions.tools?.[1]);
    expect(shown[0]?.content).toContain("Be brief.");
    expect(shown.filter(({ role }) => role === "user")).toHaveLength(2);
    expect(shown.map(({ content }) => content)).toEqual(expect.arrayContaining(["rain in Bern", both]));
  });

  test("the same streamed", () => {
    expect(cameTo.streamed).toEqual([
      [both, both],
      ["Bye.", "Bye."],
    ]);
    const shown = shownFor(questions.streamed?.[1]);
    expect(shown.filter(({ role }) => role === "user")).toHaveLength(2);
    expect(shown.map(({ content }) => content)).toEqual(expect.arrayContaining(["rain in Bern", both]));
  });

  test("an answer in its form, and a picture", () => {
    expect(cameTo.output).toBe(42);
    expect(cameTo.picture).toMatch(/^data:image\/gif \d+$/);
  });

  test("a wrong key, a model that is not there, and an endpoint that fails", () => {
    expect(cameTo.wrong_key).toEqual({ error: expect.stringMatching(/^AuthenticationError: .*401/) });
    expect(cameTo.wrong_model).toBe("here");
    expect(JSON.stringify(cameTo.failing)).toContain("no such thing");
  });

  test("D1: MCP: its model calls a device, and it reads what a device sent", () => {
    expect(cameTo.mcp).toMatchObject({
      names: ["pi__picture", "pi__temperature"],
      text: expect.stringMatching(/^So: [\s\S]*°C/),
      picture: expect.arrayContaining(["image"]),
      prompts: 0,
      resource: Math.ceil(20_000 / 3) * 4,
    });
  });

  if (api === "chat") return;
  test("D4: store: false leaves no response behind; another goes on from a response", async () => {
    expect(cameTo.unstored).toEqual([both, "Bye.", expect.stringMatching(/^resp_/)]);
    const [, , id] = cameTo.unstored as string[];
    expect((await stack.gateway.fetch(`/v1/responses/${id}`)).status).toBe(404);
    expect(cameTo.continued).toEqual([both, "Bye."]);
    const shown = shownFor(questions.continued?.[1]);
    expect(shown.map(({ content }) => content)).toEqual(expect.arrayContaining(["rain in Bern", both]));
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
