/**
 * `POST /v1/relay/{home}/chat/completions`: the gateway's model for a device that has no key of its own for one.
 *
 * It takes the part of OpenAI's form that the agent's loop uses. The model is one of the gateway's, the answer's length is limited,
 * and the tokens count against the home's budget and the agent's daily share.
 */

import { apiOf } from "@edgecall/core/loop/api.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import { type LooseChunk, ReplyBuilder } from "@edgecall/core/loop/reply.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { type RelayToken, readRelayToken, relayPlace } from "@edgecall/core/protocol/relay-token.ts";
import type { Context } from "hono";
import { modelsAt } from "../../kernel/api/models-at.ts";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { checkCredential } from "../../kernel/http/auth.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { countGuess } from "../../kernel/http/rate-limits.ts";
import { readBody } from "../../kernel/http/request.ts";
import { nothing, route, typedAnswer } from "../../kernel/http/route.ts";
import { logError } from "../../kernel/log.ts";
import { modelFetch } from "../../kernel/models/workers-ai.ts";
import { readSettings, type Settings } from "../../kernel/settings/settings.ts";
import { HOME_ID, isNamedHome } from "../../kernel/settings/tokens.ts";
import { inChatForm } from "./chat-form.ts";
import { relayUnsigned } from "./contract.ts";
import { relayAt } from "./relay-api.ts";

/** A device signs a token itself, with its own key. */
export const relay = newRoutes();

/** An unstreamed answer is read up to here to find its usage. A longer one counts with the reserved tokens. */
const COUNTED_MAX_CHARS = 4 * 1024 * 1024;
/** Characters of an endpoint's refusal that the device gets. */
const REFUSAL_MAX_CHARS = 2_000;
/** English has about four characters a token, other languages fewer. The endpoint's own count corrects the estimate. */
const CHARS_PER_TOKEN = 4;

const Request = z.object({
  model: z.optional(z.string().check(z.maxLength(200))),
  messages: z.array(z.looseObject({ role: z.string() })).check(z.minLength(1), z.maxLength(1_000)),
  tools: z.optional(z.array(z.looseObject({ type: z.literal("function") })).check(z.maxLength(256))),
  max_tokens: z.optional(z.int().check(z.minimum(1))),
  max_completion_tokens: z.optional(z.int().check(z.minimum(1))),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  stream: z.optional(z.boolean()),
  stream_options: z.optional(z.object({ include_usage: z.optional(z.boolean()) })),
});
type Request = z.infer<typeof Request>;

const HOME = { home: text(HOME_ID, "a home's id") };
const CHAT = { path: HOME, reads: Request } as const;

/** Answers with the gateway's model, in OpenAI's form. */
route(relay, "POST /v1/relay/:home/chat/completions", CHAT, async (c, { path: { home } }) => {
  const token = await relayTokenOf(c);
  const settings = readSettings(c.env);
  const asked = await readBody(c, Request);
  const models = isNamedHome(c.env, home) ? await modelsAt(c.env, home) : settings.models;
  const model = models.find(({ name }) => name === asked.model) ?? models[0];
  if (!model) throw new HttpError(503, "no_model", "this gateway has no model configured");
  const body = upstreamBody(asked, model.model, settings);
  const text = JSON.stringify(body.request);
  const reserve = Math.ceil(text.length / CHARS_PER_TOKEN) + body.maxTokens;
  const admission = isNamedHome(c.env, home)
    ? await relayAt(c.env, home).admit(token, reserve)
    : relayUnsigned(token.claims.agent);
  if (!admission.ok && admission.status === 401) await countGuess(c);
  if (!admission.ok) throw new HttpError(admission.status, admission.code, admission.message);

  const { agent } = token.claims;
  const counted = (usage: Usage | undefined) => {
    const work = relayAt(c.env, home).count(agent, reserve, model.name, usage);
    c.executionCtx.waitUntil(work.catch((error: unknown) => logError("relay.uncounted", error, { agent })));
  };
  const url = `${model.baseUrl.replace(/\/+$/, "")}/chat/completions`;
  const reach =
    apiOf(model) === "openai"
      ? (modelFetch(c.env.AI, model.baseUrl) ?? ((to: string, init: RequestInit) => fetch(to, init)))
      : inChatForm(model);
  const signal = AbortSignal.any([
    c.req.raw.signal,
    AbortSignal.timeout(model.timeouts?.totalMs ?? MODEL_TOTAL_MS),
  ]);
  let answer: Response;
  try {
    answer = await reach(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(typeof model.apiKey === "string" && { authorization: `Bearer ${model.apiKey.trim()}` }),
      },
      body: text,
      signal,
    });
  } catch (error) {
    logError("relay.unreached", error, { agent, model: model.name });
    // The model continues after a hang-up or a time-out, so the reserved tokens count.
    if (!signal.aborted) counted({ input_tokens: 0, output_tokens: 0 });
    throw new HttpError(502, "model_unreachable", "the gateway could not reach its model");
  }
  if (!answer.ok) {
    counted({ input_tokens: 0, output_tokens: 0 });
    return typedAnswer<unknown, 200, "application/json">(await refusal(answer));
  }
  const type = answer.headers.get("content-type") ?? "application/json";
  const headers = { "content-type": type, "cache-control": "no-store" };
  const counting = answer.body?.pipeThrough(countingUsage(type, counted)) ?? null;
  return typedAnswer<unknown, 200, "application/json">(new Response(counting, { headers }));
});

const MODEL_TOTAL_MS = 300_000;

/** Answers 204 when the agent's stored key made the token; 401 when the key is revoked or unknown. */
route(relay, "GET /v1/relay/:home/key", { path: HOME }, async (c, { path: { home } }) => {
  const token = await relayTokenOf(c);
  if (isNamedHome(c.env, home) && (await relayAt(c.env, home).isToken(token))) return nothing(c);
  await countGuess(c);
  const { message } = relayUnsigned(token.claims.agent);
  throw new HttpError(401, "unauthorized", message);
});

/** Everything that needs no key is checked before any object is woken. @throws HttpError 401, 429 */
async function relayTokenOf(c: Context<App>): Promise<RelayToken> {
  let why = "a relay token is needed: 'Authorization: Bearer …', made of the device's key";
  const token = await checkCredential(c, async () => {
    const bearer = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
    if (bearer === undefined) return undefined;
    const asked = new URL(c.req.url);
    asked.pathname = asked.pathname.replace(/\/(chat\/completions|key)$/, "");
    const { publicUrl } = readSettings(c.env);
    const own = publicUrl === undefined ? asked : new URL(asked.pathname, publicUrl);
    const read = readRelayToken(bearer, relayPlace(own.href), Date.now());
    if (read.ok) return read.value;
    why = `the relay token: ${read.error}`;
    return undefined;
  });
  if (token) return token;
  throw new HttpError(401, "unauthorized", why);
}

/** Only these fields reach the endpoint, so a device cannot use its other features or store anything there. */
function upstreamBody(asked: Request, model: string, { relay }: Settings) {
  const { messages, tools, temperature, stream, max_completion_tokens } = asked;
  const maxTokens = Math.min(max_completion_tokens ?? asked.max_tokens ?? relay.maxTokens, relay.maxTokens);
  const request = {
    model,
    messages,
    ...(tools && tools.length > 0 && { tools }),
    // Each model accepts one of the two. The agent's client finds out from the refusal.
    ...(max_completion_tokens === undefined
      ? { max_tokens: maxTokens }
      : { max_completion_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stream && { stream }),
    ...(stream && asked.stream_options && { stream_options: { include_usage: true } }),
  };
  return { request, maxTokens };
}

/** The device gets refusals that it can act on. A wrong key of the gateway is for the owner, so it goes to the log. */
async function refusal(answer: Response): Promise<Response> {
  const text = (await answer.text()).slice(0, REFUSAL_MAX_CHARS);
  if (answer.status === 401 || answer.status === 403) {
    logError("relay.refused", new Error(text), { status: answer.status });
    throw new HttpError(502, "model_refused", "the model endpoint refused the gateway's key");
  }
  const status = answer.status >= 500 ? 502 : answer.status;
  const retryAfter = answer.headers.get("retry-after");
  const headers = {
    "content-type": "application/json",
    ...(retryAfter !== null && { "retry-after": retryAfter }),
  };
  return new Response(text, { status, headers });
}

/** Passes bytes on unchanged. At the end it reports the usage that the endpoint named, or undefined. */
function countingUsage(
  type: string,
  counted: (usage: Usage | undefined) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const reply = new ReplyBuilder();
  const isStream = type.includes("event-stream");
  let rest = "";
  const take = (json: string) => {
    try {
      reply.add(JSON.parse(json) as LooseChunk);
    } catch {
      // Comments, [DONE] and invalid lines are passed on: only the device interprets them.
    }
  };
  return new TransformStream({
    transform(bytes, out) {
      out.enqueue(bytes);
      rest += decoder.decode(bytes, { stream: true });
      if (isStream) {
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines)
          if (line.startsWith("data:") && line.includes('"usage"')) take(line.slice(5));
      } else if (rest.length > COUNTED_MAX_CHARS) rest = "";
    },
    flush() {
      if (!isStream) take(rest);
      else if (rest.startsWith("data:")) take(rest.slice(5));
      counted(reply.build("").usage);
    },
  });
}
