/** `/v1/push`: the browsers and the topics of ntfy where a person is told of rules and questions, and the links of buttons there. */

import { type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import type { Context } from "hono";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { countAddress, countGuess } from "../../kernel/http/rate-limits.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import { originOf } from "../../kernel/http/wait.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import type { BrowserTarget, NtfyTarget } from "./contract.ts";
import { arePushKeys } from "./encrypt.ts";
import { readPressLink } from "./press-links.ts";
import { pushAt } from "./push-api.ts";
import { pushUrl } from "./settings.ts";

export const push = newRoutes();
/** Needs no token: the link is one. */
export const pressed = newRoutes();

const TOPIC = /^\/([A-Za-z0-9_-]{1,64})$/;

const SPOKEN = {
  /** In which the person is told there. Absent: English. */
  language: z.optional(z.enum(LANGUAGES)),
};
const address = z.string().check(z.trim(), z.maxLength(1_000));
const NewBrowser = z.strictObject({
  endpoint: address,
  keys: z.strictObject({
    p256dh: z.string().check(z.regex(/^[A-Za-z0-9_-]{87}$/, "expected a public key of 65 bytes")),
    auth: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/, "expected 16 bytes")),
  }),
  /** For people, such as the browser's. */
  name: z._default(z.string().check(z.trim(), z.minLength(1), z.maxLength(60)), "Browser"),
  ...SPOKEN,
});
const NewTopic = z.strictObject({
  url: address,
  /** An access token of the server. */
  token: z.optional(z.string().check(z.trim(), z.regex(/^[!-~]{1,200}$/, "expected an access token"))),
  ...SPOKEN,
});

/** Returns the home's key for push services, and where the caller is told what rules say. */
route(push, "GET /v1/push", { scope: "ask" }, async (c, { token }) =>
  json(c, await pushAt(c.env, token.home).view(token.name)),
);

/** Adds a browser by its subscription for Web Push. The same one again replaces it. */
route(push, "POST /v1/push/browsers", { scope: "ask", body: NewBrowser }, async (c, { token, body }) => {
  const { endpoint, keys, name, language } = body;
  const checked = pushUrl(c.env, endpoint);
  if ("problem" in checked) throw invalid(`endpoint: it ${checked.problem}`);
  if (!(await arePushKeys(keys))) throw invalid("keys: expected those of a browser's subscription");
  const target = { kind: "browser", endpoint: checked.url.href, keys } as const;
  return json(c, await add(c, token, { name, language, target }), 201);
});

/** Adds a topic of ntfy, by its address. */
route(push, "POST /v1/push/topics", { scope: "ask", body: NewTopic }, async (c, { token, body }) => {
  const target = topicOf(pushUrl(c.env, body.url));
  if (!target.ok) throw invalid(`url: ${target.error}`);
  const { server, topic } = target.value;
  const access = body.token ? { token: body.token } : {};
  const { language } = body;
  const named = { name: `${server}/${topic}`, language, target: { ...target.value, ...access } };
  return json(c, await add(c, token, named), 201);
});

const OUTLET = { outlet: text(/^[0-9a-f]{16}$/, "an id of the list") };
const ShownWords = z.strictObject({ words: z.enum(["all", "kind"]) });

/** Says what a lock screen shows of the messages to a browser or topic of the caller's: `all` words, or their `kind` only. */
route(
  push,
  "PATCH /v1/push/:outlet",
  { scope: "ask", path: OUTLET, body: ShownWords },
  async (c, { token, path, body }) => {
    const changed = await pushAt(c.env, token.home).setWords(path.outlet, token.name, body.words);
    if (changed) return json(c, changed);
    throw notYours();
  },
);

/** Removes a browser or topic of the caller's. */
route(push, "DELETE /v1/push/:outlet", { scope: "ask", path: OUTLET }, async (c, { token, path }) => {
  if (await pushAt(c.env, token.home).remove(path.outlet, token.name)) return nothing(c);
  throw notYours();
});

/**
 * Presses a button of a notification. Its link counts once, for a day. `done: false` says in `text` what happened before.
 * 410: it was pressed before.
 */
route(
  pressed,
  "POST /v1/push/press/:link",
  { path: { link: text(/^[A-Za-z0-9_-]{1,1000}\.[A-Za-z0-9_-]{43}$/, "a link of a button") } },
  async (c, { path: { link } }) => {
    await countAddress(c);
    const claims = await readPressLink(c.env, link);
    if (!claims) {
      await countGuess(c);
      throw new HttpError(404, "not_found", "no such link, or it has ended");
    }
    const answer = await pushAt(c.env, claims.home).pressLink(claims);
    if (!answer) throw new HttpError(410, "gone", "this button was pressed already, or its topic has ended");
    return json(c, answer);
  },
);

function topicOf(checked: ReturnType<typeof pushUrl>): Parsed<NtfyTarget> {
  if ("problem" in checked) return { ok: false, error: `it ${checked.problem}` };
  const topic = TOPIC.exec(checked.url.pathname)?.[1];
  return topic === undefined
    ? { ok: false, error: "expected a topic's address as in https://ntfy.sh/my-topic" }
    : { ok: true, value: { kind: "ntfy", server: checked.url.origin, topic } };
}

type Added = { name: string; language: Language | undefined; target: BrowserTarget | NtfyTarget };

async function add(c: Context<App>, token: ApiToken, { name, language, target }: Added) {
  if (token.grant)
    throw new HttpError(403, "forbidden", "a connected program cannot turn this on; sign in to the console");
  const made = await pushAt(c.env, token.home).add({
    principal: token.name,
    token: token.made?.id ?? null,
    origin: originOf(c),
    name,
    language: language ?? null,
    target,
  });
  if (made) return made;
  throw new HttpError(409, "conflict", "there are too many browsers and topics; remove one first");
}

function notYours(): HttpError {
  return new HttpError(404, "not_found", "you have no such browser or topic");
}

function invalid(message: string): HttpError {
  return new HttpError(400, "invalid_body", message);
}
