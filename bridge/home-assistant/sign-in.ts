/**
 * The sign-in at Home Assistant by a person's browser: OAuth 2.1 with PKCE. The gateway does not reach Home Assistant, so it only passes
 * the code on. The verifier and the refresh token never leave the bridge.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AssistantQuestion } from "@edgecall/core/protocol/assistant.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { TokenRefused } from "./connection.ts";
import { bytesOf } from "./pictures.ts";

type Begin = NonNullable<AssistantQuestion["begin"]>;
type Finish = NonNullable<AssistantQuestion["finish"]>;

/** A Home Assistant by a sign-in. `url`: as a browser opens it, without a `/` at its end. */
const Grant = z.object({ url: z.string(), client: z.string(), refresh: z.string() });
export type Grant = z.infer<typeof Grant>;

const Tokens = z.looseObject({ access_token: z.string(), refresh_token: z.optional(z.string()) });
const Failure = z.looseObject({ error: z.string() });

type Pending = Begin & { verifier: string; until: number };

/** In the bridge's folder. */
const FILE = "home-assistant.json";
const PENDING_MS = 600_000;
const PENDING_MAX = 5;
const WITHIN_MS = 8_000;
const ANSWER_MAX_BYTES = 65_536;
/** OAuth's errors that another try does not mend. */
const REFUSALS = ["access_denied", "invalid_grant", "invalid_request"];

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
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== "")
      return { error: "url: should be Home Assistant's address, like http://homeassistant.local:8123" };
    // A person may have copied the address of one of its pages.
    const base = url.origin;
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

  /** Redeems the code, once, and keeps what it gives. @returns the grant, or why there is none */
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
      await writeAtomic(join(this.#folder, FILE), JSON.stringify(grant));
      return grant;
    } catch (error) {
      return { error: cutText(`The bridge cannot sign in at ${url}: ${messageOf(error)}`, 500) };
    }
  }

  /** The grant of an earlier sign-in. */
  kept(): Grant | undefined {
    try {
      const read = checkJson(Grant, readFileSync(join(this.#folder, FILE), "utf8"));
      return read.ok ? read.value : undefined;
    } catch {
      return undefined;
    }
  }

  forget(): void {
    rmSync(join(this.#folder, FILE), { force: true });
  }
}

/** Tells Home Assistant that a grant is not used any more. One that cannot be told of ends there after 90 days. */
export async function revoke({ url, refresh }: Grant): Promise<void> {
  await post(`${url}/auth/revoke`, { token: refresh }).catch(() => {});
}

/** @returns a token for some minutes @throws TokenRefused: it was revoked; otherwise Home Assistant was not reached */
export async function accessToken({ url, client, refresh }: Grant): Promise<string> {
  return (await tokensOf(url, { grant_type: "refresh_token", refresh_token: refresh, client_id: client }))
    .access_token;
}

async function tokensOf(url: string, form: Record<string, string>): Promise<z.infer<typeof Tokens>> {
  const response = await post(`${url}/auth/token`, form);
  const text = Buffer.from((await bytesOf(response, ANSWER_MAX_BYTES)) ?? []).toString();
  const failure = checkJson(Failure, text);
  if (failure.ok && REFUSALS.includes(failure.value.error))
    throw new TokenRefused(`it refuses the sign-in (${failure.value.error})`);
  const read = checkJson(Tokens, text);
  if (!response.ok || !read.ok) throw new Error(`it answers HTTP ${response.status}`);
  return read.value;
}

/** @throws with the reason that the system gives */
async function post(url: string, form: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      body: new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.timeout(WITHIN_MS),
    });
  } catch (error) {
    const { message, code } = (error as { cause?: NodeJS.ErrnoException }).cause ?? {};
    // The message is empty for a name with several addresses.
    throw new Error(message || code || messageOf(error));
  }
}
