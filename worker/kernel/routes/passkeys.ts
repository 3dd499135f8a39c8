/** `/v1/passkeys`: the passkeys by which the console's people confirm what needs more than a press. */
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import {
  type Challenge,
  NewPasskey,
  PasskeyName,
  type PasskeyView,
  type Place,
  type Refusal,
  type Registration,
} from "../api/passkeys.ts";
import type { Showing } from "../api/passkeys-api.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import {
  aboutRequest,
  placeOrProblem,
  proofOf,
  requestHash,
  requireConfirmed,
  showsSessionOnly,
} from "../http/confirm.ts";
import { HttpError } from "../http/errors.ts";
import { text } from "../http/fields.ts";
import { countGuess } from "../http/rate-limits.ts";
import { UUID } from "../http/request.ts";
import { json, nothing, route } from "../http/route.ts";
import { findApiToken } from "../http/tokens.ts";
import type { ApiToken } from "../settings/tokens.ts";
import { keepHash, QuestionAnswer } from "./questions.ts";

export const passkeys = newRoutes();

const ID = text(/^[A-Za-z0-9_-]{1,1364}$/, "a passkey's id");
const ACCOUNT = text(/^[a-z]{1,20}:[A-Za-z0-9._@-]{1,64}$/, "an account of a chat app, as in telegram:7");
const QUESTION_PATH = /^\/v1\/questions\/([0-9a-f-]{36})$/;

/**
 * How the caller shows more than a session: their token once more, or a code of `edgecall passkey`. Absent: by a passkey that they have,
 * or by the bearer token of the request.
 */
const ShowingBody = z.strictObject({
  token: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._~+/=-]{16,256}$/, "no such token"))),
  code: z.optional(z.string().check(z.minLength(1), z.maxLength(40))),
});

/** `wait`: nothing more. A first passkey waits then for an hour, or until an owner lets it count in their chat. */
const BeginBody = z.strictObject({ ...ShowingBody.shape, wait: z.optional(z.literal(true)) });

const NameBody = z.strictObject({ name: PasskeyName });

/** Lists the caller's passkeys; to owners and administrators everybody's. */
route(passkeys, "GET /v1/passkeys", { scope: "ask" }, async (c, { token }) => {
  const home = homeOf(c.env, token.home).passkeys;
  const seesAll = token.role === "owner" || token.scopes.includes("admin");
  const { place, problem } = placeOrProblem(c);
  const list: PasskeyList = {
    passkeys: await home.list(seesAll ? undefined : token.name),
    host: place?.host ?? null,
    ...(problem !== undefined && { problem }),
    ...(seesAll && { taps: await home.taps() }),
  };
  return json(c, list);
});

/**
 * `host`: for which a browser makes passkeys here; null: for none, and `problem` says why. `taps`: accounts of chat apps that may approve,
 * and whether an owner trusts their taps with dangerous calls.
 */
type PasskeyList = {
  passkeys: PasskeyView[];
  host: string | null;
  problem?: string;
  taps?: Array<{ account: string; trusted: boolean }>;
};

/**
 * Begins the registration of a passkey. A session alone does not suffice: the body or a confirmation shows more. With `wait`
 * the first passkey of a person counts an hour later, or once an owner lets it count in a chat; all owners are told, and each
 * can stop it. 403 `needs_more`: a session alone is not enough. 409 `nobody_hears`: no owner has a chat that could stop one
 * that waits; `stopped`: an owner stopped the last one within a day. 400 `no_passkeys_here`: an IP address, or plain http.
 */
route(
  passkeys,
  "POST /v1/passkeys/registrations",
  { scope: "ask", body: BeginBody, optionalBody: true },
  async (c, { token, body }) => {
    const place = requirePlace(c);
    const showing = await showingOf(c, token, body);
    const begun = await homeOf(c.env, token.home).passkeys.begin(token.name, place, showing);
    return json<Registration, 201>(c, orThrow(begun), 201);
  },
);

/**
 * Adds a passkey. Its registration ends with an assertion over the same challenge. All owners are told.
 */
route(passkeys, "POST /v1/passkeys", { scope: "ask", body: NewPasskey }, async (c, { token, body }) => {
  const place = requirePlace(c);
  const made = await homeOf(c.env, token.home).passkeys.register(body, place, callerOf(token));
  return json<PasskeyView, 201>(c, orThrow(made).passkey, 201);
});

/** Gives a passkey of the caller's own another name. */
route(
  passkeys,
  "PATCH /v1/passkeys/:id",
  { scope: "ask", path: { id: ID }, body: NameBody },
  async (c, { token, path: { id }, body: { name } }) => {
    const renamed = await homeOf(c.env, token.home).passkeys.rename(id, name, callerOf(token));
    if (!renamed) throw new HttpError(404, "not_found", "no such passkey of yours");
    return json<PasskeyView>(c, renamed);
  },
);

/** Removes a passkey. It takes as much as adding one; one that waits takes nothing more. Owners remove others' too. */
route(
  passkeys,
  "DELETE /v1/passkeys/:id",
  { scope: "ask", path: { id: ID }, body: ShowingBody, optionalBody: true },
  async (c, { token, path: { id }, body }) => {
    const isBare = c.get("session") && !body.token && !body.code && !proofOf(c);
    const showing = isBare ? undefined : await showingOf(c, token, body);
    const anybodys = token.role === "owner" && !token.grant;
    orThrow(await homeOf(c.env, token.home).passkeys.remove(id, callerOf(token), anybodys, showing));
    return nothing(c);
  },
);

/** Makes a code by which the caller adds a passkey in a browser. Only for bearer tokens: `edgecall passkey` prints it. */
route(passkeys, "POST /v1/passkeys/codes", { scope: "ask" }, async (c, { token }) => {
  if (token.grant || showsSessionOnly(c, token))
    throw new HttpError(
      403,
      "forbidden",
      token.made?.bySession
        ? MADE_BY_SESSION
        : "a code is for a bearer token: run `edgecall passkey` on the machine that has it",
    );
  const made = await homeOf(c.env, token.home).passkeys.makeCode(token.name);
  if (!made) throw new HttpError(409, "too_many", "too many codes are open; they end within 10 minutes");
  const answer: { code: string; expires_at: number } = { code: made.code, expires_at: made.expiresAt };
  return json(c, answer, 201);
});

const AboutBody = z.strictObject({
  method: z.enum(["POST", "PUT", "PATCH", "DELETE"]),
  path: z.string().check(z.regex(/^\/[!-~]*$/, "expected a path of this gateway"), z.maxLength(2_000)),
  body: z._default(z.string().check(z.maxLength(200_000)), ""),
});

/**
 * Makes a challenge for a request that a page is about to send, exactly as the body says. Its assertion goes into the request's header
 * `x-edgecall-proof`: the JSON of `{nonce, assertion}`, base64url. It is good for that request alone, once, for two minutes.
 */
route(
  passkeys,
  "POST /v1/passkeys/challenges",
  { scope: "ask", body: AboutBody },
  async (c, { token, body: request }) => {
    const place = requirePlace(c);
    const { passkeys: home } = homeOf(c.env, token.home);
    const id = request.method === "POST" ? QUESTION_PATH.exec(request.path)?.[1] : undefined;
    if (id !== undefined && UUID.test(id)) {
      const answer = checkJson(QuestionAnswer, request.body);
      if (!answer.ok) throw new HttpError(400, "invalid_body", `body: ${answer.error}`);
      const given = { answer: answer.value.answer, keep: await keepHash(answer.value) };
      return json<Challenge, 201>(c, orThrow(await home.challengeAnswer(id, given, token, place)), 201);
    }
    const about = aboutRequest(request);
    const what = await requestHash(request);
    const challenge = await home.challengeRequest({ caller: callerOf(token), place, what, about });
    return json<Challenge, 201>(c, orThrow(challenge), 201);
  },
);

const OWNERS = { scope: "admin", owner: true, confirm: true } as const;

/** Says that taps of this account confirm dangerous calls too. */
route(
  passkeys,
  "PUT /v1/passkeys/taps/:account",
  { ...OWNERS, path: { account: ACCOUNT } },
  async (c, input) => {
    const { token, path } = input;
    if (await homeOf(c.env, token.home).passkeys.trustTap(path.account, true, callerOf(token)))
      return nothing(c);
    throw new HttpError(404, "not_found", "no such account that may approve, and has a private chat here");
  },
);

/** Says that they do no more. */
route(
  passkeys,
  "DELETE /v1/passkeys/taps/:account",
  { scope: "admin", owner: true, path: { account: ACCOUNT } },
  async (c, { token, path: { account } }) => {
    if (await homeOf(c.env, token.home).passkeys.trustTap(account, false, callerOf(token))) return nothing(c);
    throw new HttpError(404, "not_found", "no such account");
  },
);

/** A program in a browser that is signed in could have made it. */
const MADE_BY_SESSION =
  "this token was made in a browser without a passkey, so it is no more than being signed in there: use the token of the machine, or a code of `edgecall passkey`";

/** @throws HttpError 403: the session shows nothing more */
async function showingOf(
  c: Context<App>,
  token: ApiToken,
  { token: typed, code, wait }: z.infer<typeof BeginBody>,
): Promise<Showing> {
  if (token.grant) throw new HttpError(403, "forbidden", "a connected program has no passkeys");
  if (typed !== undefined) {
    await countGuess(c);
    const asked = new Request(c.req.url, { headers: { authorization: `Bearer ${typed}` } });
    const found = await findApiToken(asked, c.env, async () => {});
    const isOwners = found?.role === "owner" && found.scopes.includes("approve");
    if (found?.home === token.home && !found.grant && (found.name === token.name || isOwners)) {
      if (found.made?.bySession) throw new HttpError(403, "forbidden", `token: ${MADE_BY_SESSION}`);
      return { shown: "token" };
    }
    throw new HttpError(403, "forbidden", "token: it is not yours, nor an owner's of this home");
  }
  if (code !== undefined) {
    await countGuess(c);
    return { code };
  }
  if (!showsSessionOnly(c, token)) return { shown: "token" };
  if (wait) return { shown: "wait" };
  if (!proofOf(c))
    throw new HttpError(
      403,
      "needs_more",
      "a session alone is not enough: type your token again, or a code of `edgecall passkey`, or confirm with a passkey that you have",
    );
  await requireConfirmed(c, token, "", true);
  return { shown: "passkey" };
}

/** @throws HttpError 400 */
function requirePlace(c: Context<App>): Place {
  const { place, problem } = placeOrProblem(c);
  if (place) return place;
  throw new HttpError(400, "no_passkeys_here", problem ?? "no passkeys here");
}

function callerOf({ name: principal, role }: ApiToken) {
  return { principal, role, channel: "api" };
}

/** @throws HttpError */
function orThrow<T>(answer: T | Refusal): Exclude<T, Refusal> {
  const { ok, status, code, message } = answer as Partial<Refusal>;
  if (ok === false) throw new HttpError(status ?? 403, code ?? "forbidden", message ?? "");
  // SAFETY: it is no refusal.
  return answer as Exclude<T, Refusal>;
}
