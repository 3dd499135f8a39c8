/** Rules that an MCP client makes: it has no conversation, so they tell its person's own browsers, or whom it names. */
import { reset } from "cloudflare:test";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { turnOnBrowser } from "../../../test/browsers.ts";
import { call, type McpResult, tools } from "../../../test/mcp-requests.ts";
import { at, MINUTE, passUntil, T0 } from "../../../test/rule-clock.ts";
import { OWNER, toldIn, writes } from "../../../test/rule-people.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, TestBridge } from "../../../test/workerd.ts";
import type { RuleList } from "../rules/contract.ts";

// The first request loads the Worker module by module, which takes longer without a bundle than a test may.
beforeAll(async () => void (await tools()), 30_000);

let sent = 0;
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  sent = 0;
  const fetch = async () => {
    sent += 1;
    return new Response(null, { status: 201 });
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  at(T0);
});

const textOf = ({ content }: McpResult) => content[0]?.text ?? "";
const tea = { text: "tea", in_minutes: 5 };
const remind = async (args: object, token = TOKENS.owner) => textOf(await call("remind", args, { token }));
const rules = async () => ((await (await ask("/v1/rules")).json()) as RuleList).rules;

const turnOn = async (token = TOKENS.owner) => {
  expect((await turnOnBrowser("https://push.example.org/one", token)).status).toBe(201);
};

/** @param said the words that a call was answered with */
async function approve(said: string): Promise<void> {
  const [, id] = /Nothing was changed yet: .*\/v1\/questions\/([0-9a-f-]+)\./.exec(said) ?? [];
  const answer = await ask(`/v1/questions/${id}`, { method: "POST", body: '{"answer":"approve"}' });
  expect(answer.status).toBe(200);
}

test("D3: an argument that a rule does not have is ignored, and the same rule is the same call; a wrong one is named", async () => {
  await turnOn();
  for (const toolCallId of ["one", "two"]) {
    const { content } = await call("remind", { ...tea, toolCallId, sessionId: null });
    expect(content[0]?.text).toContain("Nothing was changed yet");
    expect(content[1]?.text).toContain('"toolCallId", "sessionId"; ignored.');
  }
  const { questions } = (await (await ask("/v1/questions")).json()) as { questions: unknown[] };
  expect(questions).toHaveLength(1);
  expect(await remind({ ...tea, in_minutes: "soon", toolCallId: "x" })).toContain("in_minutes");
});

test("with nobody to tell, nothing is made, and the error says what is possible", async () => {
  expect(await remind(tea)).toContain(
    "to: this client has no conversation, and you have no notifications turned on; possible: nobody yet. Notifications are turned on in the console",
  );
  await writes(OWNER);
  expect(await remind(tea)).toContain("possible: owners, telegram:family:1. Nothing was done.");
  expect(await remind({ ...tea, do: "brief", to: "owners" })).toContain("do: a briefing is written in a");
  expect(await rules()).toEqual([]);
});

test("a reminder to the person's own browsers is made after an approval, and told", async () => {
  await turnOn();
  const asked = await remind(tea);
  await approve(asked);
  expect(await remind(tea)).toMatch(
    /^r-\w+: Reminds you by your notifications once, .*\nTell the person this\.$/,
  );
  expect(await rules()).toMatchObject([
    { name: "tea", channel: "mcp", conversation: "", to: "you by your notifications" },
  ]);
  await passUntil(T0 + 6 * MINUTE);
  expect(sent).toBe(1);
});

test("a watch tells the owners, after an approval also for a trusted token", async () => {
  setVariables({ MCP_TRUSTED_TOKENS: "anna" });
  const bridge = await TestBridge.connect([agent("shed", { tools: [CPU] })]);
  await writes(OWNER);
  const watch = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };
  const made = async () => textOf(await call("watch", { ...watch, to: "owners" }));
  await approve(await made());
  expect(await made()).toMatch(/^w-\w+: Watching shed: tells the owners “Shed”/);
  bridge.send({ t: "agents", agents: [agent("shed", { online: false, tools: [CPU] })] });
  await until(async () => (await toldIn(OWNER)).length > 0, { what: "the message" });
  await turnOn();
  expect(await remind(tea)).toMatch(/^r-\w+: Reminds you by your notifications/);
});

test("a client sees its person's rules, and nobody else's that was made without a conversation", async () => {
  setVariables({ MCP_TRUSTED_TOKENS: "anna" });
  await turnOn();
  await remind(tea);
  const list = async (token: string) => textOf(await call("rules", { do: "list" }, { token }));
  expect(await list(TOKENS.owner)).toContain("“tea” once");
  expect(await list(TOKENS.member)).toBe("Nothing is watched, and there is no reminder.");
});
