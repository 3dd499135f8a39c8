/**
 * How often anybody may ask, counted by Cloudflare's rate-limiting bindings: without waiting, before any object is
 * woken, and roughly (each of Cloudflare's locations counts for itself). A binding cannot be asked without being
 * counted. So whoever guesses is slowed down before the guess is looked at (every request of an address), and wrong
 * ones are counted once more, by less.
 */
import type { Context, Next } from "hono";
import { areRatesLimited, type LimitVariables, type RateName } from "../settings/limits.ts";
import { type ApiToken, apiToken, type BridgeToken, bridgeToken } from "./auth.ts";
import { type App, HttpError, openAiError } from "./http.ts";
import { sessionToken, showsSession } from "./session.ts";

/** The period of each binding (wrangler.toml). How much of it is over, they do not tell. */
const PERIOD_S = 60;
/** The first four groups of an IPv6 address: what one household, and one guesser, has at least. */
const IPV6_NETWORK_GROUPS = 4;

/** What a bearer token of the API may do, or undefined: none, or a wrong one. @throws HttpError 429 */
export async function shownApiToken(c: Context<App>): Promise<ApiToken | undefined> {
  const token = await shown(c, () => apiToken(c.req.raw, c.env, () => countGuess(c)));
  if (token) await countToken(c, token);
  return token;
}

/** The same, or of the console's session. @throws HttpError 429; 403 when the session is used by another page */
export async function shownToken(c: Context<App>): Promise<ApiToken | undefined> {
  const bearer = await shownApiToken(c);
  if (bearer) return bearer;
  const token = await sessionToken(c);
  if (token) await countToken(c, token);
  else if (showsSession(c)) await countGuess(c);
  return token;
}

/** Middleware: lets nobody in without a token, and tells the routes behind it whose token it is. */
export async function requireToken(c: Context<App>, next: Next): Promise<Response | undefined> {
  const token = await shownToken(c);
  if (!token) {
    c.header("www-authenticate", 'Bearer realm="edgecall"');
    const message =
      c.req.header("authorization") === undefined
        ? "a bearer token is needed: 'Authorization: Bearer …'"
        : "this bearer token is not known here: it is mistyped, has ended, or belongs to another gateway";
    return c.json(openAiError("unauthorized", message, "authentication_error"), 401);
  }
  c.set("token", token);
  await next();
  return undefined;
}

/** The same of a bridge. @throws HttpError 429 */
export async function shownBridgeToken(c: Context<App>): Promise<BridgeToken | undefined> {
  return await shown(c, () => bridgeToken(c.req.raw, c.env));
}

/**
 * Looks at a credential that somebody may be guessing.
 * @param look undefined: it is wrong, or there is none
 * @throws HttpError 429
 */
export async function shown<T>(c: Context<App>, look: () => Promise<T | undefined>): Promise<T | undefined> {
  await countAddress(c);
  const found = await look();
  if (found === undefined && c.req.header("authorization") !== undefined) await countGuess(c);
  return found;
}

/** Before the credentials of a request are looked at. @throws HttpError 429 */
export async function countAddress(c: Context<App>): Promise<void> {
  await count(c, "RATE_ADDRESS", networkOf(c), "requests from your network");
}

/** A sign-in, right or wrong, or a credential that was wrong. @throws HttpError 429 */
export async function countGuess(c: Context<App>): Promise<void> {
  await count(c, "RATE_GUESSES", networkOf(c), "wrong credentials from your network");
}

/** @throws HttpError 429 */
export async function countToken(c: Context<App>, { home, name }: ApiToken): Promise<void> {
  await count(c, "RATE_TOKENS", `${home}/${name}`, `requests with the token '${name}'`);
}

/** @param sender `home/channel/connection/id`. @returns whether they may speak now */
export async function maySpeak(env: LimitVariables, sender: string): Promise<boolean> {
  return await isWithin(env, "RATE_SENDERS", sender);
}

/** For a program that can wait; a chat platform is answered by words. */
export function tooManyRequests(c: Context<App>, of: string): HttpError {
  c.header("retry-after", String(PERIOD_S));
  return new HttpError(429, "rate_limited", `too many ${of}; try again in ${PERIOD_S} s`);
}

async function count(c: Context<App>, name: RateName, key: string, of: string): Promise<void> {
  if (!(await isWithin(c.env, name, key))) throw tooManyRequests(c, of);
}

async function isWithin(env: LimitVariables, name: RateName, key: string): Promise<boolean> {
  const limiter = env[name];
  if (!limiter || !areRatesLimited(env)) return true;
  return (await limiter.limit({ key })).success;
}

/** Cloudflare sets the header itself, whatever a client sends. */
export function networkOf(c: Context<App>): string {
  return network(c.req.header("cf-connecting-ip") ?? "");
}

/** An IPv4 address, or the /64 of an IPv6 one: who has one of those addresses has them all. */
export function network(address: string): string {
  if (!address.includes(":")) return address.slice(0, 64);
  const [head = "", tail = ""] = address.split("::", 2);
  const groups = head.split(":").filter((group) => group !== "");
  const last = tail.split(":").filter((group) => group !== "");
  const zeros = address.includes("::") ? Math.max(0, 8 - groups.length - last.length) : 0;
  return [...groups, ...Array<string>(zeros).fill("0"), ...last].slice(0, IPV6_NETWORK_GROUPS).join(":");
}
