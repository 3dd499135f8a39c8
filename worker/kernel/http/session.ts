/**
 * Sign-in to the console. This file decides all of it, so that it can be reviewed alone.
 *
 * A session is a cookie; the gateway stores nothing. The cookie holds the first half of the token's hash, the time of its end, and
 * our MAC over both. It gives the rights of the pasted token and ends when that token's record is gone. A script in the page
 * cannot read it (HttpOnly), and no other site's request carries it (SameSite=Strict). A request that changes something must
 * also show that it comes from our page, by its Origin and by a header that no form and no link can send.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { macKey } from "../settings/mac-key.ts";
import { readSettings } from "../settings/settings.ts";
import { type ApiToken, apiTokenRecords, isNamedHome } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

/** `__Host-`: only this host can set the cookie, over TLS and for all paths. Browsers accept http://localhost as well. */
const COOKIE = "__Host-edgecall";
/** Long enough for a person who looks in now and then. Afterwards they paste the token again. */
const SESSION_S = 30 * 86_400;
/** The cookie has so many of the hash's 64 digits; the MAC is over all of them. */
const HASH_DIGITS = 32;
const VALUE = /^([0-9a-f]{32})\.(\d{10})\.(?:([ta][A-Za-z0-9_-]{15})\.)?([A-Za-z0-9_-]{43})$/;
/** A session of a token that a home made: the home is asked for the token's id, and only when the MAC is right. */
const MADE_VALUE =
  /^made\.([a-z0-9][a-z0-9-]{0,62})\.([0-9a-f-]{36})\.(\d{10})\.(?:([ta][A-Za-z0-9_-]{15})\.)?([A-Za-z0-9_-]{43})$/;
/** Random bytes of a session's id. */
const ID_BYTES = 11;
/** The console's page sends this header. A page of another site cannot: its browser's preflight fails. */
const OWN_HEADER = "x-edgecall-console";

/** A session as a request brings it. @property id tells one browser from another; undefined: it cannot be told */
type Session = { token: ApiToken; id: string | undefined };

type SessionOptions = {
  /** Until the session ends, at most a month. */
  seconds?: number | undefined;
  /** The request that signs in: a browser that is signed in already stays the same browser. */
  request: Request;
  /** Cloudflare Access vouched for the person. A program in the browser can do that again, so such a session is no second device. */
  byAccess?: boolean;
};

/** @returns the cookie of a new session */
export async function sessionCookie(env: Env, token: ApiToken, options: SessionOptions): Promise<string> {
  const { seconds = SESSION_S, request, byAccess = false } = options;
  const before = await cookieSession(env, request.headers.get("cookie") ?? undefined);
  const random = toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
  const known = before?.id?.startsWith("t") ? before.id : undefined;
  const session = byAccess ? `a${random}` : (known ?? `t${random}`);
  const now = Math.floor(Date.now() / 1_000);
  const { home, hash, made } = token;
  const left = made?.expiresAt ? Math.floor(made.expiresAt / 1_000) - now : SESSION_S;
  const life = Math.min(seconds, SESSION_S, left);
  const until = now + life;
  const mac = await crypto.subtle.sign(
    "HMAC",
    await macKey(env, "session"),
    made ? signedMade(home, made.id, until, session) : signed(hash, until, session),
  );
  const record = made ? `made.${home}.${made.id}` : hash.slice(0, HASH_DIGITS);
  return cookie(`${record}.${until}.${session}.${toBase64Url(new Uint8Array(mac))}`, life);
}

export function endedCookie(): string {
  return cookie("", 0);
}

/**
 * Sessions count below `/v1/` only; the routes of other clients accept bearer tokens alone.
 * @returns the session of the signed-in person
 * @throws HttpError 403 when the session is valid, but the request does not come from the console's page
 */
export async function sessionOf(c: Context<App>): Promise<Session | undefined> {
  if (!c.req.path.startsWith("/v1/")) return undefined;
  const session = await cookieSession(c.env, c.req.header("cookie"));
  if (session) requireOwnPage(c);
  return session;
}

/** True when the request carries a session, valid or not. */
export function showsSession(c: Context<App>): boolean {
  return c.req.path.startsWith("/v1/") && (c.req.header("cookie") ?? "").includes(`${COOKIE}=`);
}

/** Checks the browser's headers on where a request comes from. A GET needs fewer: SameSite=Strict keeps other sites out already. */
export function requireOwnPage(c: Context<App>): void {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  if (c.req.method === "GET" || c.req.method === "HEAD") return;
  if (ownOrigin(c) === undefined || c.req.header(OWN_HEADER) !== "1") throw foreign();
}

/** @returns the origin of this gateway's page that sends the request; undefined: another page, or a program, sends it */
export function ownOrigin(c: Context<App>): string | undefined {
  const own = [new URL(c.req.url).origin, readSettings(c.env).publicUrl];
  const origin = c.req.header("origin");
  return own.includes(origin) ? origin : undefined;
}

/** The same for a form of our own page, which cannot send that header; its fields are sealed for the person instead. */
export function requireOwnForm(c: Context<App>): void {
  const site = c.req.header("sec-fetch-site");
  if ((site !== undefined && site !== "same-origin") || ownOrigin(c) === undefined) throw foreign();
}

/** @returns the record of the person who is signed in to the console; for pages outside `/v1/`, which check a request's origin themselves */
export async function signedInToken(c: Context<App>): Promise<ApiToken | undefined> {
  return (await cookieSession(c.env, c.req.header("cookie")))?.token;
}

/** Over plain http others could read the cookie in transit, unless client and gateway are one machine. */
export function requireSafeWay(c: Context<App>): void {
  const { url } = c.req;
  if (new URL(url).protocol === "https:" || isLoopback(url)) return;
  throw new HttpError(403, "forbidden", "sign in over https, or on the machine itself over http://localhost");
}

async function cookieSession(env: Env, header: string | undefined): Promise<Session | undefined> {
  const values = (header ?? "").split(/;\s*/).flatMap((pair) => {
    const [name, value] = pair.split("=", 2);
    return name === COOKIE && value !== undefined ? [value] : [];
  });
  if (values.length === 1 && values[0]?.startsWith("made.")) return await madeSession(env, values[0]);
  const [, start, until, id, mac] = VALUE.exec(values[0] ?? "") ?? [];
  if (values.length !== 1 || start === undefined || until === undefined || mac === undefined)
    return undefined;
  if (Number(until) * 1_000 <= Date.now()) return undefined;
  const record = apiTokenRecords(env).find(({ hash }) => hash.startsWith(start));
  if (!record) return undefined;
  const key = await macKey(env, "session");
  const valid = await crypto.subtle.verify(
    "HMAC",
    key,
    fromBase64Url(mac),
    signed(record.hash, Number(until), id),
  );
  return valid ? { token: record, id } : undefined;
}

async function madeSession(env: Env, value: string): Promise<Session | undefined> {
  const [, home, id, until, session, mac] = MADE_VALUE.exec(value) ?? [];
  if (home === undefined || id === undefined || until === undefined || mac === undefined) return undefined;
  if (Number(until) * 1_000 <= Date.now() || !isNamedHome(env, home)) return undefined;
  const key = await macKey(env, "session");
  const isOurs = await crypto.subtle.verify(
    "HMAC",
    key,
    fromBase64Url(mac),
    signedMade(home, id, Number(until), session),
  );
  const token = isOurs ? await homeOf(env, home).tokens.useToken({ id }) : undefined;
  return token && { token, id: session };
}

function signedMade(home: string, id: string, until: number, session: string | undefined): Uint8Array {
  return utf8(["made", home, id, until, session ?? []].flat().join("\n"));
}

/** @param session absent: one of before 0.5 */
function signed(hash: string, until: number, session: string | undefined): Uint8Array {
  return utf8([hash, until, session ?? []].flat().join("\n"));
}

function cookie(value: string, seconds: number): string {
  return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`;
}

function foreign(): HttpError {
  return new HttpError(403, "forbidden", "this session is for the console's own page");
}
