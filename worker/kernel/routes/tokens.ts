/** `/v1/tokens`: the tokens of a home, for administrators. Tokens of the secret API_TOKENS are listed, and changed only there. */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { TokenView } from "../api/answers.ts";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { newRoutes } from "../http/app.ts";
import { showsSessionOnly } from "../http/confirm.ts";
import { HttpError } from "../http/errors.ts";
import { text, yesOrNo } from "../http/fields.ts";
import { json, nothing, route } from "../http/route.ts";
import { newHomeToken, refuseReplaced } from "../http/tokens.ts";
import { type ApiToken, apiTokenRecords, recordId, SCOPES } from "../settings/tokens.ts";

export const tokens = newRoutes();

/** The role with the fewest rights first. */
const ROLES = ["guest", "member", "owner"] as const;
const DAY_MS = 86_400_000;

const NewToken = z.strictObject({
  // Devices, logs and lists show the name. Senders of chat apps have a ':' in theirs, so none can be imitated.
  name: z
    .string()
    .check(
      z.trim(),
      z.minLength(1),
      z.maxLength(64),
      z.regex(/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u, "expected letters, digits, spaces and . _ @ + -"),
    ),
  role: z.enum(["owner", "member", "guest"]),
  scopes: z.array(z.enum(SCOPES)).check(z.minLength(1), z.maxLength(SCOPES.length)),
  expires_in_days: z.optional(z.int().check(z.minimum(1), z.maximum(3_650))),
});

/** Lists the tokens of the home. */
route(tokens, "GET /v1/tokens", { scope: "admin" }, async (c, { token: caller }) => {
  const { home } = caller;
  const made = await homeOf(c.env, home).tokens.tokens();
  const secret = apiTokenRecords(c.env)
    .filter((record) => record.home === home)
    .map((record) => secretView(record, c.env.OWNER !== undefined && isReplaceable(c.env, record, caller)));
  return json(c, { tokens: [...secret, ...made] });
});

/**
 * Makes a token. Only this answer contains the token itself. 403 for a role or scope above the caller's own. A home has at
 * most 200 tokens.
 */
route(
  tokens,
  "POST /v1/tokens",
  { scope: "admin", confirm: true, body: NewToken },
  async (c, { token: maker, body }) => {
    const { name, role, scopes, expires_in_days } = body;
    const missing = scopes.find((scope) => !maker.scopes.includes(scope));
    if (missing !== undefined)
      throw tooMuch(`scopes: your token does not have '${missing}', so it cannot give it`);
    if (ROLES.indexOf(role) > ROLES.indexOf(maker.role))
      throw tooMuch(`role: your token has the role '${maker.role}', so it cannot give '${role}'`);
    const expiresAt = endOf(expires_in_days, maker);
    const token = newHomeToken(maker.home);
    const record = await homeOf(c.env, maker.home).tokens.makeToken({
      hash: await sha256Hex(token),
      name,
      role,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      madeBy: maker.name,
      expiresAt,
      bySession: showsSessionOnly(c, maker),
    });
    if (!record) throw new HttpError(409, "too_many", "this home has too many tokens; revoke one first");
    return json(c, { token, record }, 201);
  },
);

/**
 * Replaces the owner's token of this machine. Only this answer contains the new one, and the old one is refused from now on.
 * 409 where the token stands in `API_TOKENS` or `EDGECALL_TOKEN`, 403 for any other caller.
 */
route(
  tokens,
  "POST /v1/tokens/rotate",
  { scope: "admin", confirm: "strict" },
  async (c, { token: caller }) => {
    const { OWNER } = c.env;
    if (!OWNER)
      throw new HttpError(
        409,
        "conflict",
        "the owner's token stands in the setting API_TOKENS, or in EDGECALL_TOKEN: replace it there",
      );
    const own = apiTokenRecords(c.env).find((record) => isReplaceable(c.env, record, caller));
    if (!own)
      throw tooMuch("only the owner's own token can be replaced, and only with itself: sign in with it");
    const rotated = await OWNER.fetch("http://owner/", { method: "POST" });
    if (!rotated.ok)
      throw new HttpError(500, "internal", "the new token could not be stored; the old one stays");
    refuseReplaced(own);
    const token: string = await rotated.text();
    return json(c, { token }, 201);
  },
);

/** The machine's own record stands before the person's. */
function isReplaceable(env: Env, record: ApiToken, caller: ApiToken): boolean {
  return !caller.grant && record === apiTokenRecords(env)[0] && recordId(record) === recordId(caller);
}

/** A token with an end cannot make one that lives longer. @returns epoch ms; null for no end @throws HttpError 403 */
function endOf(days: number | undefined, { made }: ApiToken): number | null {
  const makersEnd = made?.expiresAt ?? null;
  if (days === undefined) return makersEnd;
  const end = Date.now() + days * DAY_MS;
  if (makersEnd !== null && end > makersEnd)
    throw tooMuch(
      `expires_in_days: your token ends on ${new Date(makersEnd).toISOString()}, so it cannot give a longer time; leave it out, and the new one ends with yours`,
    );
  return end;
}

/**
 * Revokes a token and its sessions of the console, from the next request on. 409 for a token of the secret `API_TOKENS`.
 */
route(
  tokens,
  "DELETE /v1/tokens/:id",
  {
    scope: "admin",
    path: { id: text(/^[a-z0-9-]{1,64}$/, "a token's id, as the list has it") },
    query: {
      /** Revokes the tokens that it made as well, and answers with all of them. */
      made: yesOrNo,
    },
  },
  async (c, { token: { home }, path: { id }, query: { made } }) => {
    if (apiTokenRecords(c.env).some((record) => record.home === home && secretView(record).id === id))
      throw new HttpError(
        409,
        "conflict",
        "this token stands in the setting API_TOKENS: take its record out there",
      );
    const revoked = await homeOf(c.env, home).tokens.revokeToken(id, made);
    if (revoked.length === 0) throw new HttpError(404, "not_found", "no such token");
    return made ? json(c, { revoked }) : nothing(c);
  },
);

function tooMuch(message: string): HttpError {
  return new HttpError(403, "forbidden", message);
}

/** @param replaceable the caller's own, which this machine keeps */
function secretView(token: ApiToken, replaceable = false): TokenView {
  const { name, role, scopes } = token;
  return {
    id: recordId(token),
    name,
    role,
    scopes,
    expires_at: null,
    created_at: null,
    last_used_at: null,
    made_by: null,
    source: "secret",
    ...(replaceable && { replaceable }),
  };
}
