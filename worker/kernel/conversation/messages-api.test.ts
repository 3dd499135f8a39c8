/** A conversation with a model that is asked in Anthropic's form. The scripted model checks each request as the real API does. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { EventStream } from "../../../test/event-stream.ts";
import { modelRequests, releaseModel } from "../../../test/model-requests.ts";
import { cachedPrefix } from "../../../test/scripted-messages.ts";
import { type ModelRequest, script } from "../../../test/scripted-model.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

const cpu = (agent_id = "pi", params = {}) => ({ arguments: { agent_id, action: "cpu", params } });
const PI = agent("pi", { tools: [CPU, SIREN] });

// Where rules can be made, the model is told the time.
const VARIABLES = { LLM_API: "anthropic", TIMEZONE: "Europe/Berlin", GATEWAY_TOOLS: "rules" };
beforeEach(() => setVariables(VARIABLES));

async function connected(...more: Parameters<typeof TestBridge.connect>[0]): Promise<TestBridge> {
  const bridge = await TestBridge.connect([PI, ...more]);
  bridge.onCall = () => ({ status: "success", tool: "cpu", result: "load 0.5" });
  return bridge;
}

type Body = NonNullable<ModelRequest["body"]>;

async function bodiesOf(question: string): Promise<Body[]> {
  return (await modelRequests({ question })).flatMap(({ body }) => body ?? []);
}

/** What stands behind the last mark. */
function passingOf(body: Body): string {
  return String(body.messages.at(-1)?.content.at(-1)?.text);
}

function marksIn(body: Body): number {
  return JSON.stringify(body).split('"cache_control"').length - 1;
}

test("in a turn of three requests and in the next turn each prefix begins with the one before, whatever the roster", async () => {
  const bridge = await connected();
  const first = script(
    { calls: [cpu()], text: "I look." },
    { calls: [cpu(), cpu("pi", { n: 2 })] },
    { text: "Done: $results" },
  );
  expect((await say("cached", first)).body).toMatchObject({
    status: "done",
    answer: "Done: load 0.5 | load 0.5 | load 0.5",
    usage: { input_tokens: 30, output_tokens: 15 },
  });
  // Another device came, and one that cannot be reached.
  await bridge.snapshot([
    PI,
    agent("attic", { tools: [CPU] }),
    agent("barn", { online: false, tools: [CPU] }),
  ]);
  const second = script({ calls: [cpu("attic")] }, { text: "Again: $results" });
  expect((await say("cached", second)).body.answer).toBe("Again: load 0.5");

  const bodies = [...(await bodiesOf(first)), ...(await bodiesOf(second))];
  expect(bodies).toHaveLength(5);
  let before = "";
  for (const [at, body] of bodies.entries()) {
    const prefix = cachedPrefix(body);
    expect(prefix.startsWith(before), `request ${at + 1}`).toBe(true);
    // One question has only one end; from then on there is the one before it too.
    expect(marksIn(body)).toBe(at === 0 ? 3 : 4);
    expect(prefix).not.toMatch(/It is |attic:|barn|Europe\/Berlin/);
    before = prefix;
  }
  const passing = bodies.map(passingOf);
  expect(passing[0]).toMatch(
    /^\[edgecall\] Edge agents that edge_call reaches:\n {2}- pi: [\s\S]*It is .*Europe\/Berlin/,
  );
  expect(passing[0]).not.toContain("attic");
  expect(passing[4]).toMatch(/ {2}- attic: [\s\S]*offline[\s\S]* {2}- barn /);
});

test("at a limit the tools stay in the cache, none may be called, and the note comes behind the last mark", async () => {
  await connected();
  setVariables({ MAX_TOOL_ITERATIONS: "1" });
  const question = script({ calls: [cpu()] }, { calls: [cpu()], text: "That is all: $results" });
  expect((await say("limit", question)).body).toMatchObject({
    status: "done",
    answer: "That is all: load 0.5",
  });
  const [first, last] = await bodiesOf(question);
  expect(last?.tools).toEqual(first?.tools);
  expect([first?.tool_choice, last?.tool_choice]).toEqual([undefined, { type: "none" }]);
  expect(last && passingOf(last)).toMatch(/limit of 1 steps/);
  expect(last && cachedPrefix(last).startsWith(first ? cachedPrefix(first) : "x")).toBe(true);
});

test("a thought goes back with its signature in each later request, and to no other model", async () => {
  await connected();
  const first = script(
    { calls: [cpu()], text: "I look.", thinks: "Which one?" },
    { text: "One.", thinks: "So." },
  );
  expect((await say("thoughts", first)).body.answer).toBe("One.");
  const second = script({ calls: [cpu()], thinks: "Again?" }, { text: "Two: $results" });
  expect((await say("thoughts", second)).body.answer).toBe("Two: load 0.5");
  const [, , , last] = [...(await bodiesOf(first)), ...(await bodiesOf(second))];
  const thoughts = last?.messages.flatMap(({ content }) => content.filter(({ type }) => type === "thinking"));
  expect(thoughts?.map(({ thinking }) => thinking)).toEqual(["Which one?", "So.", "Again?"]);

  const other = { name: "other", base_url: env.LLM_BASE_URL, model: "scripted-2", api: "anthropic" };
  setVariables({ LLM_MODELS: JSON.stringify([other]) });
  const third = script({ status: 401 }, { text: "Three." });
  expect((await say("thoughts", third)).body.answer).toBe("Three.");
  const [, elsewhere] = await bodiesOf(third);
  expect(elsewhere?.model).toBe("scripted-2");
  expect(JSON.stringify(elsewhere)).not.toContain("thinking");
});

test("a temperature that the model refuses is left out from then on", async () => {
  await connected();
  setVariables({ TEMPERATURE: "0.5" });
  const error = { type: "invalid_request_error", message: "`temperature` is deprecated for this model." };
  const question = script(
    { status: 400, body: { type: "error", error } },
    { calls: [cpu()] },
    { text: "Done." },
  );
  expect((await say("temperature", question)).body.answer).toBe("Done.");
  const requests = await bodiesOf(question);
  expect(requests.map((body) => "temperature" in body)).toEqual([true, false, false]);
});

test("pictures of a person, and words that stream", async () => {
  await connected();
  const pixel =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const seen = script({ text: "I see $pictures" });
  const init = { body: JSON.stringify({ text: seen, images: [pixel] }) };
  expect((await say("picture", "", init)).body.answer).toBe(`I see data:image/png ${pixel.length}`);

  const question = script({ text: "In the middle of it.", pause: "messages" });
  const client = await EventStream.say("streams", question);
  await until(() => client.text === "In the mid");
  await releaseModel("messages");
  await client.ended;
  expect(client.of("done")).toMatchObject([{ status: "done", answer: "In the middle of it." }]);
});

test("a model of the other form answers in its place, and the conversation goes back", async () => {
  await connected();
  const other = { name: "other", base_url: env.LLM_BASE_URL, model: "scripted-2", api: "openai" };
  setVariables({ LLM_MODELS: JSON.stringify([other]) });
  const first = script({ calls: [cpu()] }, { text: "One: $results" });
  expect((await say("forms", first)).body.answer).toBe("One: load 0.5");
  const second = script({ status: 401 }, { calls: [cpu()], text: "I ask." }, { text: "Two: $results" });
  expect((await say("forms", second)).body.answer).toBe("Two: load 0.5");
  expect(
    (await modelRequests({ question: second })).map(({ body, model }) => [body ? "messages" : "chat", model]),
  ).toEqual([
    ["messages", "scripted"],
    ["chat", "scripted-2"],
    ["chat", "scripted-2"],
  ]);
});
