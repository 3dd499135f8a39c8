/** The console's routes: its page, sign-in and sign-out, and the few requests that only the page makes. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { SessionView, UsageView } from "../../kernel/api/answers.ts";
import { homeOf } from "../../kernel/api/stubs.ts";
import { accessEntry } from "../../kernel/http/access.ts";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { callerToken } from "../../kernel/http/auth.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { AGENT } from "../../kernel/http/fields.ts";
import { countAddress, countGuess } from "../../kernel/http/rate-limits.ts";
import { readBody } from "../../kernel/http/request.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import { endedCookie, requireOwnPage, requireSafeWay, sessionCookie } from "../../kernel/http/session.ts";
import { findApiToken } from "../../kernel/http/tokens.ts";
import { costOf } from "../../kernel/models/prices.ts";
import { usesAccess } from "../../kernel/settings/access.ts";
import { readSettings } from "../../kernel/settings/settings.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import { PAGE_PATHS, servePage } from "./page-files.ts";

export const consolePage = newRoutes();

/** The form of a bearer token (RFC 6750 §2.1). Anything else would appear in the runtime's log as a bad header. */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,256}$/;
const SignIn = z.strictObject({ token: z.optional(z.string().check(z.regex(TOKEN, "no such token"))) });

for (const path of PAGE_PATHS) consolePage.get(path, servePage);

/** Returns the session. Having none is not an error here: the page then asks for a token. */
route(consolePage, "GET /v1/console/session", {}, async (c) => {
  const token = await callerToken(c);
  return json<SessionView>(c, {
    signed_in: token !== undefined,
    access: usesAccess(c.env),
    ...(token && callerView(token)),
  });
});

/** Signs in with the `token` in the body, or without one through Cloudflare Access. */
route(consolePage, "POST /v1/console/session", { reads: SignIn }, async (c) => {
  requireOwnPage(c);
  requireSafeWay(c);
  await countAddress(c);
  await countGuess(c);
  const { token: text } = await readBody(c, SignIn);
  const entry = text === undefined ? await byAccess(c) : await byToken(c, text);
  c.header("set-cookie", await sessionCookie(c.env, entry.token, { ...entry, request: c.req.raw }));
  return json<SessionView>(c, {
    signed_in: true,
    access: usesAccess(c.env),
    ...callerView(entry.token),
  });
});

/** Signs out. */
route(consolePage, "DELETE /v1/console/session", {}, (c) => {
  requireOwnPage(c);
  c.header("set-cookie", endedCookie());
  return nothing(c);
});

consolePage.use("/v1/console/*", async (c, next) => {
  const token = await callerToken(c);
  if (!token) throw new HttpError(401, "unauthorized", "sign in first");
  c.set("token", token);
  return await next();
});

/** Returns an agent's actions as it advertises them, with their schemas. */
route(
  consolePage,
  "GET /v1/console/agents/:agent/actions",
  { scope: "command", path: { agent: AGENT } },
  async (c, { token, path: { agent } }) => {
    const target = await homeOf(c.env, token.home).agents.target(agent);
    if (!target) throw new HttpError(404, "not_found", `no such agent: ${agent}`);
    return json(c, { actions: target.adverts });
  },
);

/** Returns the model usage of the last days and the limits. Days are counted only when there is a budget or a price. */
route(consolePage, "GET /v1/console/usage", { scope: "ask" }, async (c, { token: { home } }) => {
  const settings = readSettings(c.env);
  const { budgets, prices } = settings;
  const [{ health, models = settings.models }, days, { turns, withoutModel }] = await Promise.all([
    homeOf(c.env, home).conversations.plan(undefined),
    homeOf(c.env, home).models.usage(SHOWN_DAYS),
    homeOf(c.env, home).models.answered(),
  ]);
  return json<UsageView>(c, {
    turns,
    turns_without_model: withoutModel,
    counted: settings.countsDays,
    priced: Object.keys(prices).length > 0,
    days: days.map(({ day, tokens, modelCalls, models }) => ({
      day,
      tokens,
      model_calls: modelCalls,
      models: models.map(({ model, usage }) => {
        const usd = costOf(prices, model, usage);
        return { name: model, ...usage, ...(usd !== undefined && { usd }) };
      }),
    })),
    budgets: Object.fromEntries(
      Object.entries(budgets).map(([scope, { tokens, modelCalls }]) => [
        scope,
        {
          ...(tokens !== undefined && { tokens }),
          ...(modelCalls !== undefined && { model_calls: modelCalls }),
        },
      ]),
    ),
    models: models.map(({ name }) => ({ name, failures: health[name]?.failures ?? 0 })),
  });
});

/** Two weeks of the month that is stored. */
const SHOWN_DAYS = 14;

type Entry = { token: ApiToken; seconds?: number; byAccess?: boolean };

async function byToken(c: Context<App>, text: string): Promise<Entry> {
  const asked = new Request(c.req.url, { headers: { authorization: `Bearer ${text}` } });
  // The sign-in was counted as a guess before it succeeded.
  const token = await findApiToken(asked, c.env, async () => {});
  if (!token) throw new HttpError(401, "unauthorized", "no such token");
  return { token };
}

async function byAccess(c: Context<App>): Promise<Entry> {
  const jwt = c.req.header("cf-access-jwt-assertion");
  if (jwt === undefined || !usesAccess(c.env))
    throw new HttpError(401, "unauthorized", "a token is needed, or a sign-in over Cloudflare Access");
  const entry = await accessEntry(c.env, jwt);
  if (!entry.ok) throw new HttpError(403, "forbidden", `Cloudflare Access: ${entry.why}`);
  return { ...entry, byAccess: true };
}

function callerView({ name, home, role, scopes }: ApiToken) {
  return { name, home, role, scopes };
}
