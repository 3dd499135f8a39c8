/**
 * The guard of every control that widens rights: a mode, a role, a permission, a passkey, a connected program, a token. Whatever has a
 * session's cookie may be a program in the person's browser. So as soon as anybody of the home has a passkey, such a request is confirmed by
 * one of the person's own. A bearer token is no cookie, unless such a session made it.
 */
import { tryFromBase64Url } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { canonicalHash } from "@edgecall/core/protocol/approval.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { type AboutToSend, type AnswerWay, type Place, Proof } from "../api/passkeys.ts";
import { homeOf } from "../api/stubs.ts";
import { readSettings } from "../settings/settings.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

/** A confirmation: the JSON of a `Proof`, base64url. */
const PROOF_HEADER = "x-edgecall-proof";
const PROOF_MAX = 16_000;
/** As a URL has them. */
const IP_ADDRESS = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * @param body the text of the request's body; undefined: it is read later, and only a person without a passkey may send it
 * @param isStrict a session of a person without a passkey is refused, too
 * @throws HttpError 403
 */
export async function requireConfirmed(
  c: Context<App>,
  token: ApiToken,
  body: string | undefined,
  isStrict = false,
): Promise<void> {
  if (!showsSessionOnly(c, token)) return;
  const { pathname, search } = new URL(c.req.url);
  const request = { method: c.req.method, path: pathname + search, body: body ?? "" };
  await requireProof(c, token, request, body === undefined ? undefined : proofOf(c), isStrict);
}

/** True if the request shows no more than a session, which a program in the person's browser has too. */
export function showsSessionOnly(c: Context<App>, token: ApiToken): boolean {
  const isSession = c.get("session") !== undefined || token.made?.bySession === true;
  return isSession && c.get("confirmed") !== true;
}

/** The same for a form of one of our pages. @throws HttpError 403 */
export async function requireProof(
  c: Context<App>,
  token: ApiToken,
  request: AboutToSend,
  proof: Proof | undefined,
  isStrict = false,
): Promise<void> {
  const { name: principal, role } = token;
  const confirmed = await homeOf(c.env, token.home).passkeys.confirmRequest({
    caller: { principal, role, channel: "api" },
    place: placeOf(c),
    what: await requestHash(request),
    about: aboutRequest(request),
    proof,
    isStrict,
  });
  if (!confirmed.ok) throw new HttpError(confirmed.status, confirmed.code, confirmed.message);
  if (confirmed.byPasskey) c.set("confirmed", true);
}

/** The hash of exactly this request. */
export async function requestHash({ method, path, body }: AboutToSend): Promise<string> {
  return await canonicalHash({ domain: "edgecall request v1", method, path, body });
}

export function aboutRequest({ method, path }: AboutToSend): string {
  return `${method} ${path}`;
}

/** How an answer to a question came, for the home. @param keep the hash of what else the answer gives; empty: nothing */
export function answerWay(c: Context<App>, token: ApiToken, keep: string): AnswerWay {
  if (!showsSessionOnly(c, token)) return { by: "token" };
  return { by: "session", id: c.get("session")?.id, place: placeOf(c), proof: proofOf(c), keep };
}

/** @throws HttpError 400 */
export function proofOf(c: Context<App>): Proof | undefined {
  const text = c.req.header(PROOF_HEADER);
  return text === undefined ? undefined : readProof(text);
}

/** @throws HttpError 400 */
export function readProof(text: string): Proof {
  const bytes = text.length > PROOF_MAX ? undefined : tryFromBase64Url(text);
  const proof = checkJson(Proof, bytes ? new TextDecoder().decode(bytes) : "");
  if (!proof.ok) throw new HttpError(400, "invalid_header", `${PROOF_HEADER}: ${proof.error}`);
  return proof.value;
}

/**
 * The place of the request's browser. Its passkeys are for exactly this host.
 * @returns undefined: browsers make no passkeys for this address
 */
function placeOf(c: Context<App>): Place | undefined {
  return placeOrProblem(c).place;
}

/** @returns beside the place, or in its stead, why there is none */
export function placeOrProblem(c: Context<App>): { place?: Place; problem?: string } {
  const asked = new URL(c.req.url);
  const { publicUrl } = readSettings(c.env);
  const from = c.req.header("origin");
  // A proxy before the gateway speaks TLS. A GET of a page names no origin.
  const isPublic =
    publicUrl !== undefined &&
    (from === publicUrl || (from === undefined && asked.host === new URL(publicUrl).host));
  const url = isPublic ? new URL(publicUrl) : asked;
  const { hostname, origin, protocol } = url;
  if (IP_ADDRESS.test(hostname)) {
    const here = isLoopback(url.href) ? `, here http://localhost:${url.port}` : "";
    return {
      problem: `browsers make no passkeys for an IP address such as ${hostname}: open this gateway by a name${here}`,
    };
  }
  if (protocol !== "https:" && hostname !== "localhost")
    return { problem: "browsers make passkeys only over https, and on http://localhost" };
  return { place: { host: hostname, origin } };
}
