/** A model makes a rule: what the person is shown, asked and may press, with Home's answers played by the test. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { modelRequests } from "../../../../test/model-requests.ts";
import { make } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, storedTurns } from "../../../../test/stopping.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import type { HomeToolReply, HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import type { RulePress } from "../../../kernel/api/notices.ts";
import type { Delivery } from "../../chat/contract.ts";
import type { RuleList } from "../contract.ts";

afterEach(reset);

const WATCHING = "Watching Freezer: tells you here when temperature is above −15 °C.";
const watch = {
  calls: [
    {
      name: "watch",
      arguments: { name: "Freezer", agent_id: "pi", reading: "temperature", is: "above", value: -15 },
    },
  ],
};

/** Home's answers, in place of its own. @returns the requests */
function answers<Method extends "notices.pressRule" | "calls.runTool">(
  method: Method,
  answer: (request: Parameters<Home[Method]>[0]) => Awaited<ReturnType<Home[Method]>>,
): Array<Parameters<Home[Method]>[0]> {
  const prototype = Home.prototype as unknown as Record<string, unknown>;
  const real = prototype[method];
  const requests: Array<Parameters<Home[Method]>[0]> = [];
  prototype[method] = async (request: Parameters<Home[Method]>[0]) => {
    requests.push(request);
    return answer(request);
  };
  onTestFinished(() => {
    prototype[method] = real;
  });
  return requests;
}

const made = (): HomeToolReply => ({
  outcome: {
    status: "success",
    text: "made w-7f2c",
    shown: { text: WATCHING, undo: "w-7f2c" },
    elapsedMs: 1,
    sources: [],
  },
});

describe("a rule that was made", () => {
  test("is confirmed to the person whatever the model says, with a button that undoes it", async () => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    answers("calls.runTool", made);
    const { body } = await say("made", script(watch, { text: "I cannot do that." }));
    expect(body).toMatchObject({
      answer: "I cannot do that.",
      rules: [{ text: WATCHING, buttons: [{ label: "Undo", do: "stop", rule: "w-7f2c" }] }],
    });
  });

  test("is confirmed in a chat by a message of its own; pressed, the button goes", async () => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    const requests = answers("calls.runTool", made);
    const presses = answers("notices.pressRule", () => ({ done: true, text: "Freezer is cancelled." }));
    const chat = env.CONVERSATION.getByName("a/telegram/family:7");
    const origin = { principal: "telegram:7", role: "member", channel: "telegram" } as const;
    const reply = { connection: "family", chat: 7 };
    const act: Delivery["act"] = {
      do: "say",
      text: script(watch, { text: "ok" }),
      pictures: [],
      merge: false,
    };
    await chat.receive({ id: "1", origin: { ...origin, reply }, act });
    await until(async () => (await storedTurns(chat))[0]?.status === "done");
    expect(requests[0]).toMatchObject({
      name: "watch",
      viewer: { name: "telegram:7", role: "member" },
      from: { conversation: "a/telegram/family:7" },
      origin: { reply },
      sources: [],
    });
    const messages = () =>
      rowsOf<{ kind: string; text: string }>(chat, "SELECT kind, text FROM reply ORDER BY id");
    expect((await messages())[0]).toEqual({ kind: "question", text: WATCHING });
    const press = {
      id: "1",
      from: { id: 7, first_name: "Ann" },
      message: { message_id: 2, chat: { id: 7, type: "private" } },
      data: "r:stop:w-7f2c:0",
    };
    const pressed = await ask("/webhooks/telegram/family", {
      method: "POST",
      body: JSON.stringify({ update_id: 1, callback_query: press }),
      headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
      token: null,
    });
    expect(await pressed.json()).toEqual({ method: "answerCallbackQuery", callback_query_id: "1" });
    expect(presses).toEqual([
      {
        do: "stop",
        rule: "w-7f2c",
        occurrence: 0,
        by: {
          principal: "telegram:7",
          displayName: "Ann",
          role: "member",
          conversation: "a/telegram/family:7",
        },
      } satisfies RulePress,
    ]);
    expect(await messages()).toContainEqual({ kind: "closed", text: "Freezer is cancelled." });
  });
});

describe("the tools of rules", () => {
  const offered = async (words: string) =>
    (await modelRequests({ question: words }))[0]?.tools.map((tool) => tool.function.name) ?? [];

  test.each([
    ["an owner", TOKENS.owner, true],
    ["a member", TOKENS.member, true],
    ["a guest", TOKENS.guest, false],
  ])("are offered to %s: as they should", async (_, token, isOffered) => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    const words = script({ text: "x" });
    await say(`offered-${token}`, words, { token });
    expect((await offered(words)).includes("watch")).toBe(isOffered);
    expect((await offered(words)).includes("ack")).toBe(isOffered);
  });

  test("are switched off by a setting, and a call of them is refused", async () => {
    setVariables({ GATEWAY_TOOLS: "none" });
    const requests = answers("calls.runTool", made);
    const words = script(watch, { text: "$results" });
    const { body } = await say("off", words);
    expect(await offered(words)).toEqual([]);
    expect(body.calls[0]?.error_type).toBe("not_found");
    expect(requests).toEqual([]);
  });

  test("folded into one, mean the same", async () => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    const requests: HomeToolRequest[] = answers("calls.runTool", made);
    const folded = (args: object) => ({ calls: [{ name: "rules", arguments: args }] });
    await say(
      "folded",
      script(
        folded({ do: "remind", params: { text: "tea", in_minutes: 5 } }),
        folded({ do: "pause", params: { name: "tea" } }),
        folded({ do: "list" }),
        { text: "x" },
      ),
    );
    expect(requests.map(({ name, args }) => ({ name, args }))).toEqual([
      { name: "remind", args: { text: "tea", in_minutes: 5 } },
      { name: "rules", args: { do: "pause", name: "tea" } },
      { name: "rules", args: { do: "list" } },
    ]);
  });
});

describe("a person is asked first", () => {
  type Asked = { id: string; conversation: string; approval?: { tool: string; reason: string } };
  const open = async (conversation: string) =>
    await until(async () => {
      const { questions } = (await (await ask("/v1/questions")).json()) as { questions: Asked[] };
      return questions.find((question) => question.conversation === conversation);
    });
  const NAME = "Bridge is away";
  /** Of the bridge itself, which each home has. */
  const critical = make("watch", {
    name: NAME,
    agent_id: "bridge",
    reading: "presence",
    is: "offline",
    severity: "critical",
  });
  const names = async () => {
    const { rules } = (await (await ask("/v1/rules")).json()) as RuleList;
    return rules.map(({ name }) => name);
  };

  test.each([
    ["approve", "success", [NAME]],
    ["deny", "error", []],
  ])("for a critical watch: %s", async (answer, status, made) => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    const turn = say(`asked-${answer}`, script(critical, { text: "$results" }));
    const { id, approval } = await open(`asked-${answer}`);
    expect(approval).toMatchObject({
      tool: "watch",
      reason: "it tells at night too, as often as it happens",
    });
    expect(await names()).toEqual([]);
    await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer }) });
    const [call] = (await turn).body.calls;
    expect(call?.status).toBe(status);
    if (status === "error") expect(call?.error_type).toBe("permission_denied");
    expect(await names()).toEqual(made);
  });
});
