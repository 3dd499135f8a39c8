/** `POST /v1/peer/{home}/{kind}`: another home asks, with a token that its gateway key signed (core/protocol/lending-token.ts). */

import { lendingPlace, readLendingToken } from "@edgecall/core/protocol/lending-token.ts";
import type { Context } from "hono";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { countAddress, countGuess } from "../../kernel/http/rate-limits.ts";
import { readBytes } from "../../kernel/http/request.ts";
import { readSettings } from "../../kernel/settings/settings.ts";
import { isNamedHome } from "../../kernel/settings/tokens.ts";
import { LENDING_KINDS, type LendingReply, UNKNOWN_GRANT } from "./contract.ts";
import { lendingAt } from "./lending-api.ts";

const BODY_MAX_BYTES = 256 * 1024;

export const homeRoutes = newRoutes();

homeRoutes.post("/v1/peer/:home/:kind", onRequest);

/** Grants that were good when this isolate last asked their home: a request under one of them is no guess. */
const knownGrants = new Set<string>();
const KNOWN_MAX = 1_000;

/** All that takes no key is checked before the home is woken, and who was not good before counts as guessing. */
async function onRequest(c: Context<App>): Promise<Response> {
  await countAddress(c);
  const body = new TextDecoder().decode(await readBytes(c, BODY_MAX_BYTES));
  const { home = "", kind: asked = "" } = c.req.param();
  const kind = LENDING_KINDS.find((one) => one === asked);
  const token = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  const read = kind && isNamedHome(c.env, home) ? await readLendingToken(token, body, Date.now()) : undefined;
  const isHere =
    read && ownOrigins(c).some((origin) => read.claims.for === lendingPlace(origin, home, kind ?? ""));
  if (!kind || !isHere) {
    await countGuess(c);
    return answer(c, UNKNOWN_GRANT);
  }
  const known = `${home} ${read.claims.grant}`;
  if (!knownGrants.has(known)) await countGuess(c);
  const reply = await lendingAt(c.env, home).peer(kind, token, body);
  if (reply.status === 401) knownGrants.delete(known);
  else {
    if (knownGrants.size >= KNOWN_MAX) knownGrants.clear();
    knownGrants.add(known);
  }
  return answer(c, reply);
}

/** A proxy may have another name for this gateway than the one that its clients use. */
function ownOrigins(c: Context<App>): string[] {
  const { publicUrl } = readSettings(c.env);
  return [new URL(c.req.url).origin, ...(publicUrl === undefined ? [] : [publicUrl])];
}

function answer(c: Context<App>, { status, body }: LendingReply): Response {
  return c.body(JSON.stringify(body), status as 200, { "content-type": "application/json" });
}
