/**
 * Rate limits, counted by Cloudflare's rate-limiting bindings before any object is woken. Counting takes no time and is rough:
 * each of Cloudflare's locations counts for itself. A binding cannot be read without counting, so every request of an address
 * counts before its credential is checked, and a wrong credential counts again under a lower limit.
 */
import type { Context } from "hono";
import { areRatesLimited, type LimitVariables, type RateName } from "../settings/limits.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

/** The period of each binding (wrangler.toml). A binding does not tell how much of it has passed. */
const PERIOD_S = 60;
/** The first four groups of an IPv6 address: every household, and every attacker, has at least such a network. */
const IPV6_NETWORK_GROUPS = 4;

/** Called before the credentials of a request are checked. @throws HttpError 429 */
export async function countAddress(c: Context<App>): Promise<void> {
  await count(c, "RATE_ADDRESS", networkOf(c), "requests from your network");
}

/** Counts a sign-in, right or wrong, or a wrong credential. @throws HttpError 429 */
export async function countGuess(c: Context<App>): Promise<void> {
  await count(c, "RATE_GUESSES", networkOf(c), "wrong credentials from your network");
}

/** @throws HttpError 429 */
export async function countToken(c: Context<App>, { home, name }: ApiToken): Promise<void> {
  await count(c, "RATE_TOKENS", `${home}/${name}`, `requests with the token '${name}'`);
}

/** @param sender `home/channel/connection/id` @returns true when the sender may speak now */
export async function maySpeak(env: LimitVariables, sender: string): Promise<boolean> {
  return await isWithin(env, "RATE_SENDERS", sender);
}

/** For programs; people in chat apps get words instead. */
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

/** An IPv4 address, or the /64 network of an IPv6 address: one owner has the whole network. */
export function network(address: string): string {
  if (!address.includes(":")) return address.slice(0, 64);
  const [head = "", tail = ""] = address.split("::", 2);
  const groups = head.split(":").filter((group) => group !== "");
  const last = tail.split(":").filter((group) => group !== "");
  const zeros = address.includes("::") ? Math.max(0, 8 - groups.length - last.length) : 0;
  return [...groups, ...Array<string>(zeros).fill("0"), ...last].slice(0, IPV6_NETWORK_GROUPS).join(":");
}
