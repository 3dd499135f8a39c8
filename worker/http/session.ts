/**
 * Who is signed in to the console, and how. This file decides all of it, so that it can be reviewed alone.
 *
 * A session is a cookie and nothing of ours: the token's record, by the first half of its hash, when it ends, and our MAC
 * over both. It says no more than the token that was pasted, and ends when that token's record is gone. A script in the page
 * cannot read it (HttpOnly), no other site's request brings it (SameSite=Strict), and what changes anything has to
 * show that it comes from this page: its Origin, and a header that no form and no link can send.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { macKey } from "../settings/mac-key.ts";
import { readSettings } from "../settings/settings.ts";
import { type ApiToken, apiTokenRecords } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

/** `__Host-`: only this host can set it, for all of itself, over TLS. Browsers take http://localhost for that. */
const COOKIE = "__Host-edgecall";
/** A month of looking in now and then; whoever is locked out pastes the token again. */
const SESSION_S = 30 * 86_400;
/** Of the hash's 64 digits; the MAC is over all of them. */
const HASH_DIGITS = 32;
const VALUE = /^([0-9a-f]{32})\.(\d{10})\.([A-Za-z0-9_-]{43})$/;
/** Of a token that a home made: the home and the token's id, so that the home is asked, and only when the MAC is right. */
const MADE_VALUE = /^made\.([a-z0-9][a-z0-9-]{0,62})\.([0-9a-f-]{36})\.(\d{10})\.([A-Za-z0-9_-]{43})$/;
/** Sent by the page's own requests. A foreign page that tries to is stopped by its browser's preflight. */
const OWN_HEADER = "x-edgecall-console";

/** The cookie of a new session. @param seconds until it ends, at most a month */
export async function sessionCookie(env: Env, token: ApiToken, seconds = SESSION_S): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const { home, hash, made } = token;
  const left = made?.expiresAt ? Math.floor(made.expiresAt / 1_000) - now : SESSION_S;
  const life = Math.min(seconds, SESSION_S, left);
  const until = now + life;
  const mac = await crypto.subtle.sign(
    "HMAC",
    await macKey(env, "session"),
    made ? signedMade(home, made.id, until) : signed(hash, until),
  );
  const record = made ? `made.${home}.${made.id}` : hash.slice(0, HASH_DIGITS);
  return cookie(`${record}.${until}.${toBase64Url(new Uint8Array(mac))}`, life);
}

export function endedCookie(): string {
  return cookie("", 0);
}

/**
 * The record of who is signed in, on `/v1/` only: other clients' routes know bearer tokens alone.
 * @throws HttpError 403 when somebody is, but the request is not the page's
 */
export async function sessionToken(c: Context<App>): Promise<ApiToken | undefined> {
  if (!c.req.path.startsWith("/v1/")) return undefined;
  const token = await cookieToken(c.env, c.req.header("cookie"));
  if (token) requireOwnPage(c);
  return token;
}

/** True if there is a session to check, right or wrong. */
export function showsSession(c: Context<App>): boolean {
  return c.req.path.startsWith("/v1/") && (c.req.header("cookie") ?? "").includes(`${COOKIE}=`);
}

/** What a browser says of where a request comes from; reading needs less, since Strict already kept others' out. */
export function requireOwnPage(c: Context<App>): void {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") throw foreign();
  if (c.req.method === "GET" || c.req.method === "HEAD") return;
  const own = [new URL(c.req.url).origin, readSettings(c.env).publicUrl];
  if (!own.includes(c.req.header("origin") ?? "") || c.req.header(OWN_HEADER) !== "1") throw foreign();
}

/** Over plain http a cookie could be read on its way; on this machine there is no way. */
export function requireSafeWay(c: Context<App>): void {
  const { url } = c.req;
  if (new URL(url).protocol === "https:" || isLoopback(url)) return;
  throw new HttpError(403, "forbidden", "sign in over https, or on the machine itself over http://localhost");
}

async function cookieToken(env: Env, header: string | undefined): Promise<ApiToken | undefined> {
  const values = (header ?? "").split(/;\s*/).flatMap((pair) => {
    const [name, value] = pair.split("=", 2);
    return name === COOKIE && value !== undefined ? [value] : [];
  });
  if (values.length === 1 && values[0]?.startsWith("made.")) return await madeToken(env, values[0]);
  const [, start, until, mac] = VALUE.exec(values[0] ?? "") ?? [];
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
    signed(record.hash, Number(until)),
  );
  return valid ? record : undefined;
}

async function madeToken(env: Env, value: string): Promise<ApiToken | undefined> {
  const [, home, id, until, mac] = MADE_VALUE.exec(value) ?? [];
  if (home === undefined || id === undefined || until === undefined || mac === undefined) return undefined;
  if (Number(until) * 1_000 <= Date.now()) return undefined;
  const key = await macKey(env, "session");
  const isOurs = await crypto.subtle.verify(
    "HMAC",
    key,
    fromBase64Url(mac),
    signedMade(home, id, Number(until)),
  );
  return isOurs ? await homeOf(env, home).useToken({ id }) : undefined;
}

function signedMade(home: string, id: string, until: number): Uint8Array {
  return utf8(`made\n${home}\n${id}\n${until}`);
}

function signed(hash: string, until: number): Uint8Array {
  return utf8(`${hash}\n${until}`);
}

function cookie(value: string, seconds: number): string {
  return `${COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Strict`;
}

function foreign(): HttpError {
  return new HttpError(403, "forbidden", "this session is for the console's own page");
}
