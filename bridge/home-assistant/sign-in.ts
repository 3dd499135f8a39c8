/**
 * The sign-in at Home Assistant by a person's browser: OAuth 2.1 with PKCE. The gateway does not reach Home Assistant, so it only passes
 * the code on. The verifier and the refresh token never leave the bridge.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AssistantQuestion } from "@edgecall/core/protocol/assistant.ts";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { TokenRefused } from "./connection.ts";

type Begin = NonNullable<AssistantQuestion["begin"]>;
type Finish = NonNullable<AssistantQuestion["finish"]>;

/** A Home Assistant by a sign-in. `url`: as a browser opens it, without a `/` at its end. */
const Grant = z.object({ url: z.string(), client: z.string(), refresh: z.string() });
export type Grant = z.infer<typeof Grant>;

const Tokens = z.looseObject({ access_token: z.string(), refresh_token: z.optional(z.string()) });

type Pending = Begin & { verifier: string; until: number };

/** In the bridge's folder. */
const FILE = "home-assistant.json";
const PENDING_MS = 600_000;
const PENDING_MAX = 5;
const WITHIN_MS = 8_000;

export class SignIns {
  readonly #folder: string;
  readonly #clock: Clock;
  /** By the state that names them. */
  readonly #pending = new Map<string, Pending>();

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** @returns the address that the browser opens, or what is wrong with the one of Home Assistant */
  begin(given: Begin): { authorize: string } | { error: string } {
    const url = URL.parse(given.url);
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "")
      return { error: "url: should be Home Assistant's address, like http://homeassistant.local:8123" };
    const base = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
    const now = this.#clock.now();
    for (const [state, { until }] of this.#pending) if (until < now) this.#pending.delete(state);
    for (const state of [...this.#pending.keys()].slice(0, Math.max(0, this.#pending.size - PENDING_MAX + 1)))
      this.#pending.delete(state);
    const verifier = randomBytes(48).toString("base64url");
    this.#pending.set(given.state, { ...given, url: base, verifier, until: now + PENDING_MS });
    const query = new URLSearchParams({
      response_type: "code",
      client_id: given.client,
      redirect_uri: given.redirect,
      state: given.state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    return { authorize: `${base}/auth/authorize?${query}` };
  }

  /** Redeems the code, once. @returns what is kept from now on, or why there is nothing */
  async finish({ state, code }: Finish): Promise<Grant | { error: string }> {
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    if (!pending || pending.until < this.#clock.now())
      return { error: "This sign-in was not begun here, or more than ten minutes ago. Begin it again." };
    const { url, client, verifier } = pending;
    const form = { grant_type: "authorization_code", code, client_id: client, code_verifier: verifier };
    try {
      const { refresh_token: refresh } = await tokensOf(url, form);
      if (refresh === undefined) return { error: "Home Assistant gave no refresh token." };
      const grant = { url, client, refresh };
      const before = this.kept();
      await writeAtomic(join(this.#folder, FILE), JSON.stringify(grant));
      if (before) void revoke(before);
      return grant;
    } catch (error) {
      return { error: cutText(`The bridge cannot sign in at ${url}: ${messageOf(error)}`, 500) };
    }
  }

  /** What an earlier sign-in left. */
  kept(): Grant | undefined {
    try {
      const read = checkJson(Grant, readFileSync(join(this.#folder, FILE), "utf8"));
      return read.ok ? read.value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Deletes it, and tells Home Assistant that it is not used any more. */
  async forget(): Promise<void> {
    const kept = this.kept();
    rmSync(join(this.#folder, FILE), { force: true });
    if (kept) await revoke(kept);
  }
}

/** It may not be reached: a grant that is not used ends there after 90 days. */
async function revoke({ url, refresh }: Grant): Promise<void> {
  await post(`${url}/auth/revoke`, { token: refresh }).catch(() => {});
}

/** @returns a token for some minutes @throws TokenRefused: it was revoked; otherwise Home Assistant was not reached */
export async function accessToken({ url, client, refresh }: Grant): Promise<string> {
  return (await tokensOf(url, { grant_type: "refresh_token", refresh_token: refresh, client_id: client }))
    .access_token;
}

async function tokensOf(url: string, form: Record<string, string>): Promise<z.infer<typeof Tokens>> {
  const response = await post(`${url}/auth/token`, form);
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 400 || response.status === 403)
    throw new TokenRefused(`it refuses the sign-in (HTTP ${response.status})`);
  const read = check(Tokens, body);
  if (!response.ok || !read.ok) throw new Error(`it answers HTTP ${response.status}`);
  return read.value;
}

function post(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    body: new URLSearchParams(form),
    redirect: "error",
    signal: AbortSignal.timeout(WITHIN_MS),
  });
}
