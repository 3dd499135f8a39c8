/**
 * Clients that are known by the address of a document about themselves (Client ID Metadata Documents). Only a person who is
 * signed in has one fetched. The home keeps a copy: a client's site is at times down, or answers with a page.
 */

import { checkUrl } from "@edgecall/core/web/address.ts";
import { readUpTo } from "@edgecall/core/web/read-up-to.ts";
import type { Env } from "../../../kernel/env.ts";
import { readOauthSettings } from "../../../kernel/settings/oauth.ts";
import type { StoredClient, StoredDocument } from "../contract.ts";
import { oauthAt } from "../oauth-api.ts";
import { clientName } from "./client-name.ts";
import { OauthError } from "./error.ts";
import { redirectProblem } from "./redirects.ts";

const BODY_MAX_BYTES = 5 * 1024;
const TIMEOUT_MS = 3_000;
const REDIRECTS_MAX = 20;
const ID_MAX = 500;
const FRESH_MIN_S = 300;
const FRESH_MAX_S = 86_400;

/** For those that many people use, when neither their site nor a copy has the document. */
const BUILT_IN: Readonly<Record<string, Omit<StoredClient, "id">>> = {
  "https://claude.ai/oauth/mcp-oauth-client-metadata": {
    name: "Claude",
    redirectUris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
  },
  "https://claude.ai/oauth/claude-code-client-metadata": {
    name: "Claude Code",
    redirectUris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  },
  "https://chatgpt.com/oauth/codex/client.json": {
    name: "Codex",
    redirectUris: ["http://127.0.0.1/callback", "http://localhost/callback"],
  },
};

export function isDocumentId(id: string): boolean {
  return id.startsWith("https://");
}

/** @param home of the person who is signed in @throws OauthError */
export async function clientOfDocument(env: Env, home: string, id: string): Promise<StoredClient> {
  const problem = addressProblem(id);
  if (problem) throw new OauthError("invalid_client", `client_id: it ${problem}`);
  const stored = await oauthAt(env, home).clientDocument(id);
  if (stored && stored.freshUntil > Date.now()) return stored;
  try {
    const document = await fetchDocument(env, id);
    await oauthAt(env, home).storeClientDocument(document);
    return document;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const builtIn = BUILT_IN[id];
    if (stored) return stored;
    if (builtIn) return { id, ...builtIn };
    throw new OauthError("invalid_client", `client_id: ${error.message}`);
  }
}

/** The document cannot be had now, as opposed to a document that is wrong. */
class Unavailable extends Error {}

function addressProblem(id: string): string | undefined {
  if (id.length > ID_MAX || !URL.canParse(id)) return "is not an address";
  const { protocol, port, username, password, hostname, pathname, hash, href } = new URL(id);
  if (protocol !== "https:" || port !== "") return "is no https address at the usual port";
  if (username !== "" || password !== "" || hash !== "") return "has a user name, password or fragment";
  if (pathname === "/" || href !== id) return "has no path, or is not written as browsers write it";
  const isName =
    /\.[a-z][a-z0-9-]*$/i.test(hostname) && !/\.(local|localhost|internal|lan|home\.arpa)$/i.test(hostname);
  if (!isName || !checkUrl(id).ok) return "names no host of the public web";
  return undefined;
}

async function fetchDocument(env: Env, id: string): Promise<StoredDocument> {
  const { WEB } = env;
  const init = {
    method: "GET" as const,
    headers: { accept: "application/json" },
    redirect: "manual" as const,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
  let body: Uint8Array | undefined;
  let response: Response;
  try {
    response = await (WEB ? WEB.fetch(id, init) : fetch(id, init));
    body = await readUpTo(response, BODY_MAX_BYTES);
  } catch {
    throw new Unavailable("its document cannot be fetched");
  }
  const { headers, status } = response;
  if (status !== 200) throw new Unavailable(`its document's site answered ${status}`);
  if (!body) throw new Unavailable(`its document has more than ${BODY_MAX_BYTES} bytes`);
  if (!/^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(headers.get("content-type") ?? ""))
    throw new Unavailable("its document's site answered with something else than JSON");
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new Unavailable("its document is not JSON");
  }
  const seconds = Number(/\bmax-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? FRESH_MIN_S);
  const freshUntil = Date.now() + Math.min(Math.max(seconds, FRESH_MIN_S), FRESH_MAX_S) * 1_000;
  return { ...readDocument(env, id, document), freshUntil };
}

/** @throws OauthError when the document is not this client's, or names no method or address of ours */
function readDocument(env: Env, id: string, document: unknown): StoredClient {
  const { client_id, client_name, redirect_uris, ...rest } = (document ?? {}) as Record<string, unknown>;
  if (client_id !== id)
    throw new OauthError("invalid_client", "client_id: its document is about another client");
  const methods = [rest.token_endpoint_auth_method, rest.token_endpoint_auth_methods_supported].flat();
  const named = methods.filter((one) => typeof one === "string");
  // ChatGPT's names private_key_jwt first, and `none` among those that it can do.
  if (named.some((one) => /^client_secret/.test(one)) && !named.includes("none"))
    throw new OauthError(
      "invalid_client",
      `client_id: its document wants ${named.join(", ")}, and this gateway has none and client_secret_post for clients that are entered by hand`,
    );
  if (!Array.isArray(redirect_uris))
    throw new OauthError("invalid_client", "client_id: its document has no redirect_uris");
  const { redirects: schemes } = readOauthSettings(env);
  const redirectUris = redirect_uris
    .filter((one) => typeof one === "string" && redirectProblem(one, schemes) === undefined)
    .slice(0, REDIRECTS_MAX) as string[];
  return { id, name: clientName(client_name), redirectUris };
}
