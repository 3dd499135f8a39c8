/**
 * `/oauth/authorize`: a person allows a program to use their home. A GET shows a page and changes nothing, since some clients
 * request the address themselves. What it asked travels sealed in the form, so the gateway stores nothing before the consent.
 */

import type { Context } from "hono";
import { homeOf } from "../../../kernel/api/stubs.ts";
import { accessEntry } from "../../../kernel/http/access.ts";
import type { App } from "../../../kernel/http/app.ts";
import { readProof, requireProof } from "../../../kernel/http/confirm.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { countAddress, countGuess } from "../../../kernel/http/rate-limits.ts";
import { readBytes } from "../../../kernel/http/request.ts";
import { seal, unseal } from "../../../kernel/http/sealed.ts";
import {
  requireOwnForm,
  requireSafeWay,
  sessionCookie,
  signedInToken,
} from "../../../kernel/http/session.ts";
import { findApiToken } from "../../../kernel/http/tokens.ts";
import { usesAccess } from "../../../kernel/settings/access.ts";
import type { ApiToken } from "../../../kernel/settings/tokens.ts";
import { recordId } from "../../../kernel/settings/tokens.ts";
import { GRANT_SCOPES, type OauthScope, type StoredClient } from "../contract.ts";
import { oauthAt } from "../oauth-api.ts";
import {
  type AuthorizeRequest,
  checkForStranger,
  clientOf,
  readAuthorizeRequest,
} from "./authorize-request.ts";
import { isDocumentId } from "./client-document.ts";
import { consentPage } from "./consent-page.ts";
import { OauthError } from "./error.ts";
import { page, problemPage } from "./page.ts";
import { placeOf } from "./redirects.ts";
import { signInPage } from "./sign-in-page.ts";

const BODY_MAX_BYTES = 32 * 1024;
const FORM_LIFE_MS = 600_000;

/** Says what to do. A code that no program took ends within a minute. */
const FULL: Readonly<Record<"grants" | "codes", string>> = {
  grants: "You have too many connected programs. Disconnect one in the console first.",
  codes: "You have too many sign-ins that no program has finished yet. Wait a minute, and try again.",
};

/** @property until epoch ms */
type Form = AuthorizeRequest & {
  client: Pick<StoredClient, "name">;
  home: string;
  record: string;
  until: number;
};

/** A GET: signed out, the sign-in; signed in, what the program may be allowed. */
export async function showAuthorize(c: Context<App>, issuer: string): Promise<Response> {
  await countAddress(c);
  const query = new URL(c.req.url).searchParams;
  return await withPages(async () => {
    const request = readAuthorizeRequest(query, issuer);
    await checkForStranger(c.env, request);
    const person = await signedInToken(c);
    if (!person) return signIn(c, query.toString());
    if (!person.scopes.includes("ask"))
      throw new OauthError(
        "invalid_scope",
        `the token '${person.name}' has no scope that a program could be given`,
      );
    const client = await clientOf(c.env, person.home, request);
    const form: Form = {
      ...request,
      client: { name: client.name },
      home: person.home,
      record: recordId(person),
      until: Date.now() + FORM_LIFE_MS,
    };
    return consentPage({
      client: client.name,
      documentHost: isDocumentId(client.id) ? new URL(client.id).host : undefined,
      redirect: request.redirectUri,
      home: person.home,
      person: person.name,
      mayCommand: person.scopes.includes("command"),
      wantsCommand: request.scopes.includes("command"),
      isOwner: person.role === "owner",
      hasPasskey: (await homeOf(c.env, person.home).passkeys.list(person.name)).length > 0,
      form: await seal(c.env, "oauth form", form),
    });
  });
}

/** A POST: the sign-in's form, or the consent's. */
export async function answerAuthorize(c: Context<App>, issuer: string): Promise<Response> {
  requireOwnForm(c);
  await countAddress(c);
  const fields = new URLSearchParams(new TextDecoder().decode(await readBytes(c, BODY_MAX_BYTES)));
  return await withPages(async () => {
    if (fields.has("query")) return await authenticate(c, fields);
    return await authorize(c, fields, issuer);
  });
}

async function withPages(make: () => Promise<Response>): Promise<Response> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof OauthError) return problemPage(error.message);
    throw error;
  }
}

/** A navigation from another site brings no session (SameSite=Strict). The next one comes from our own page. */
function signIn(c: Context<App>, query: string, problem?: string): Response {
  const site = c.req.header("sec-fetch-site");
  const mayBeSignedIn = c.req.method === "GET" && (site === "cross-site" || site === "same-site");
  if (mayBeSignedIn) {
    const next = `/oauth/authorize?${query}`;
    return page("One moment", "<p>Looking for your sign-in …</p>", { next });
  }
  return signInPage({ query, problem, access: usesAccess(c.env) });
}

/** The person signs in by their token. */
async function authenticate(c: Context<App>, fields: URLSearchParams): Promise<Response> {
  requireSafeWay(c);
  await countGuess(c);
  const query = new URLSearchParams(fields.get("query") ?? "").toString();
  const entry = await entryOf(c, fields.get("token") ?? "");
  if (!entry) return signIn(c, query, "This token is not known here.");
  return new Response(null, {
    status: 303,
    headers: {
      location: `/oauth/authorize?${query}`,
      "set-cookie": await sessionCookie(c.env, entry.token, { ...entry, request: c.req.raw }),
    },
  });
}

async function entryOf(
  c: Context<App>,
  text: string,
): Promise<{ token: ApiToken; seconds?: number; byAccess?: boolean } | undefined> {
  const jwt = c.req.header("cf-access-jwt-assertion");
  if (text === "" && jwt !== undefined && usesAccess(c.env)) {
    const entry = await accessEntry(c.env, jwt);
    return entry.ok ? { ...entry, byAccess: true } : undefined;
  }
  if (!/^[A-Za-z0-9._~+/=-]{16,256}$/.test(text)) return undefined;
  const asked = new Request(c.req.url, { headers: { authorization: `Bearer ${text}` } });
  const token = await findApiToken(asked, c.env, async () => {}).catch((error: unknown) => {
    // A program's own token is for no page.
    if (error instanceof HttpError) return undefined;
    throw error;
  });
  return token && { token };
}

/** The person allows or denies what the page showed. */
async function authorize(c: Context<App>, fields: URLSearchParams, issuer: string): Promise<Response> {
  const form = await unseal<Form>(c.env, "oauth form", fields.get("form") ?? "");
  const person = await signedInToken(c);
  if (!form || !person || form.home !== person.home || form.record !== recordId(person))
    throw new OauthError("invalid_request", "The form does not belong to the person who is signed in.");
  if (form.until <= Date.now())
    throw new OauthError("invalid_request", "The form is older than ten minutes.");
  const { state } = form;
  if (fields.get("answer") !== "allow")
    return answerTo(form.redirectUri, { error: "access_denied", state, iss: issuer });
  await requireConsent(c, person, fields);
  const wanted: OauthScope[] = fields.get("command") === "yes" ? [...GRANT_SCOPES] : ["ask"];
  const given = await oauthAt(c.env, person.home).consent({
    record: form.record,
    person: person.name,
    role: person.role,
    clientId: form.clientId,
    clientName: form.client.name,
    host: placeOf(form.redirectUri).host,
    redirectUri: form.redirectUri,
    challenge: form.challenge,
    scopes: wanted.filter((scope) => person.scopes.includes(scope)),
    trusted: fields.get("trusted") === "yes" && person.role === "owner",
    resource: form.resource,
  });
  if ("full" in given) throw new OauthError("invalid_request", FULL[given.full]);
  const sealed = await seal(c.env, "oauth code", { home: person.home, code: given.code });
  return answerTo(form.redirectUri, { code: sealed, state, iss: issuer });
}

/** A program in the person's browser could press Allow, so a person who has a passkey confirms it. @throws OauthError */
async function requireConsent(c: Context<App>, person: ApiToken, fields: URLSearchParams): Promise<void> {
  const proof = fields.get("proof");
  const consented = new URLSearchParams(fields);
  consented.delete("proof");
  const request = { method: "POST", path: "/oauth/authorize", body: consented.toString() };
  try {
    await requireProof(c, person, request, proof ? readProof(proof) : undefined);
  } catch (error) {
    if (error instanceof HttpError) throw new OauthError("invalid_request", error.message);
    throw error;
  }
}

/** @param values `iss` is RFC 9207's */
function answerTo(redirect: string, values: Record<string, string | undefined>): Response {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) url.searchParams.append(name, value);
  return new Response(null, { status: 303, headers: { location: url.href, "cache-control": "no-store" } });
}
