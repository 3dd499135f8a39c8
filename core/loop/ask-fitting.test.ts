/** Requests that are too long, against an endpoint over real HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bodyOf, Endpoint, failure } from "../testkit/endpoint.ts";
import { askFitting } from "./ask-fitting.ts";
import { fitHistory } from "./fit.ts";
import type { Entry } from "./history.ts";
import { toMessages } from "./messages.ts";
import { callModel } from "./model.ts";
import { ModelLimits } from "./model-limits.ts";
import { estimateTokens } from "./tokens.ts";
import { TooLongError } from "./too-long-error.ts";

type Body = { messages: Array<{ content: string }>; max_tokens: number };

let endpoint: Endpoint;
let bodies: Body[];
beforeEach(async () => {
  endpoint = await Endpoint.start();
  bodies = [];
});
afterEach(() => endpoint.stop());

/** Refuses requests by these rules; the first that gives words answers. */
function refuse(status: number, ...rules: Array<(body: Body, sent: number) => string | undefined>): void {
  endpoint.handle = async (request, response) => {
    const body = (await bodyOf(request)) as Body;
    bodies.push(body);
    const sent = Math.ceil(JSON.stringify(body.messages).length / 4);
    const words = rules.map((rule) => rule(body, sent)).find((said) => said !== undefined);
    response.writeHead(words === undefined ? 200 : status, { "content-type": "application/json" });
    const message = { role: "assistant", content: "fine" };
    const usage = { prompt_tokens: sent, completion_tokens: 1 };
    response.end(
      JSON.stringify(
        words === undefined
          ? { model: "m", choices: [{ message, finish_reason: "stop" }], usage }
          : { error: { message: words } },
      ),
    );
  };
}

const history: Entry[] = Array.from({ length: 60 }, (_, n): Entry[] => [
  { role: "user", text: `question ${n} ${"about the lamp ".repeat(20)}` },
  { role: "assistant", text: `answer ${n} ${"it is on ".repeat(20)}`, calls: [] },
]).flat();

const ask = (limits: ModelLimits, more: { maxTokens?: number; entries?: Entry[] } = {}) => {
  const entries: Entry[] = more.entries ?? [...history, { role: "user", text: "and now?" }];
  const model = { ...endpoint.settings, maxTokens: more.maxTokens ?? 1_000 };
  return askFitting({
    model,
    limits,
    history: { maxTokens: 24_000, isOwn: true },
    beside: 50,
    cut: (room) =>
      estimateTokens(entries) <= room.maxTokens
        ? entries
        : fitHistory(entries, { ...room, keepFirst: 1 }).entries,
    send: (cut, maxTokens) =>
      callModel(model, { messages: toMessages("You help.", cut), tools: [], maxTokens }),
  });
};
const overflow = (limit: number) => (_: Body, sent: number) =>
  sent > limit
    ? `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${sent} tokens.`
    : undefined;

describe("L13: a request that is too long is shortened once", () => {
  test("to the limit that was told, and the next request pays nothing", async () => {
    refuse(400, overflow(4_000));
    const limits = new ModelLimits();
    expect((await ask(limits)).text).toBe("fine");
    expect(bodies).toHaveLength(2);
    expect(bodies[1]?.messages.at(-1)?.content).toBe("and now?");
    expect((await ask(limits)).text).toBe("fine");
    expect(bodies).toHaveLength(3);
  });

  test("to half where no limit was told", async () => {
    refuse(400, (_, sent) => (sent > 5_000 ? "the request exceeds the available context size" : undefined));
    const limits = new ModelLimits();
    expect((await ask(limits)).text).toBe("fine");
    const [first = 0, second = 0] = bodies.map(({ messages }) => JSON.stringify(messages).length);
    expect(bodies).toHaveLength(2);
    expect(second).toBeLessThan(first * 0.6);
  });

  test("also where the limit is one of a minute, of messages and reply together", async () => {
    refuse(413, ({ max_tokens }, sent) =>
      sent + max_tokens > 6_000
        ? `Request too large for model \`m\` on tokens per minute (TPM): Limit 6000, Requested ${sent + max_tokens}, please reduce your message size and try again.`
        : undefined,
    );
    expect((await ask(new ModelLimits(), { maxTokens: 4_096 })).text).toBe("fine");
    expect(bodies).toHaveLength(2);
  });

  test("where only the reply has to be shorter, the history stays whole", async () => {
    refuse(400, ({ max_tokens }, sent) =>
      sent + max_tokens > 9_000
        ? `'max_tokens' is too large: ${max_tokens}. This model's maximum context length is 9000 tokens and your request has ${sent} input tokens`
        : undefined,
    );
    const few = history.slice(0, 20);
    expect((await ask(new ModelLimits(), { maxTokens: 9_000, entries: few })).text).toBe("fine");
    expect(bodies.map(({ messages }) => messages.length)).toEqual([21, 21]);
    expect(bodies[1]?.max_tokens).toBeLessThan(8_000);
    expect(bodies[1]?.max_tokens).toBeGreaterThan(4_000);
  });

  test("else its error names the setting, with the numbers, and offers no new conversation", async () => {
    refuse(400, overflow(100));
    const question: Entry[] = [{ role: "user", text: "a text ".repeat(3_000) }];
    const error = await failure(ask(new ModelLimits(), { entries: question }));
    expect(bodies).toHaveLength(2);
    expect(error).toMatchObject({ kind: "never", status: 400 });
    const advice =
      error instanceof TooLongError
        ? error.advice({ reply: "MAX_TOKENS", history: "HISTORY_MAX_TOKENS" })
        : "";
    expect(advice).toMatch(
      /^About 5,\d{3} tokens were sent, and the model takes 100 tokens\. HISTORY_MAX_TOKENS bounds/,
    );
    expect(advice).not.toContain("new");
  });
});

describe("L13: max_tokens that are too many", () => {
  const most = (limit: number) => (body: Body) =>
    body.max_tokens > limit
      ? `max_tokens is too large: ${body.max_tokens}. This model supports at most ${limit} completion tokens, whereas you provided ${body.max_tokens}.`
      : undefined;

  test("are lowered to what was told, and that is remembered", async () => {
    refuse(400, most(2_048));
    const limits = new ModelLimits();
    for (let time = 0; time < 3; time += 1)
      await ask(limits, { maxTokens: 4_096, entries: history.slice(0, 3) });
    expect(bodies.map(({ max_tokens }) => max_tokens)).toEqual([4_096, 2_048, 2_048, 2_048]);
  });

  test("and a history that is too long besides: each is mended once", async () => {
    refuse(400, most(2_048), overflow(4_000));
    expect((await ask(new ModelLimits(), { maxTokens: 4_096 })).text).toBe("fine");
    expect(bodies).toHaveLength(3);
  });

  test("are named with the numbers where that does not help", async () => {
    refuse(400, () => "max_tokens is too large: 4096. This model supports at most 2048 completion tokens");
    const error = await failure(ask(new ModelLimits(), { maxTokens: 4_096, entries: history.slice(0, 3) }));
    expect(bodies).toHaveLength(2);
    expect(error instanceof TooLongError && error.advice({ reply: "MAX_TOKENS" })).toBe(
      "The model gives at most 2,048 tokens in a reply: set MAX_TOKENS to 2048 or less.",
    );
  });
});

test("L13: another fault is not sent again here", async () => {
  refuse(400, () => "tools[0]: unknown field");
  await failure(ask(new ModelLimits()));
  expect(bodies).toHaveLength(1);
});
