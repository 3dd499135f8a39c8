/** For tests in workerd: a person's browser, with a session of the console and an authenticator in software. */

import { fromHex, sha256Hex, toBase64Url, toHex, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Algorithm } from "@edgecall/core/passkeys/passkey.ts";
import { Authenticator, type Deviation } from "@edgecall/core/passkeys/testkit/authenticator.ts";
import type { Challenge, Registration } from "../worker/kernel/api/passkeys.ts";
import { SignIn } from "./oauth-sign-in.ts";
import { ask } from "./workerd.ts";

export type Answered = {
  status: number;
  body: { error?: { code: string; message: string } } & Record<string, unknown>;
};

export class PasskeyBrowser {
  readonly #origin: string;
  readonly #cookie: string;
  authenticator: Authenticator | undefined;

  private constructor(origin: string, cookie: string) {
    this.#origin = origin;
    this.#cookie = cookie;
  }

  static async signIn(token: string, origin = "https://gateway"): Promise<PasskeyBrowser> {
    const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
    return new PasskeyBrowser(origin, await new SignIn(send, origin).cookie(token));
  }

  /** The same browser signs in once more. */
  async signInAgain(token: string): Promise<PasskeyBrowser> {
    const send = (path: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set("cookie", this.#cookie);
      return ask(path, { token: null, ...init, headers });
    };
    return new PasskeyBrowser(this.#origin, await new SignIn(send, this.#origin).cookie(token));
  }

  /** As the console's page sends it. @param proof a header's text */
  async send(route: string, body?: unknown, proof?: string): Promise<Answered> {
    const [method = "", path = ""] = route.split(" ");
    const response = await ask(path, {
      token: null,
      method,
      headers: {
        cookie: this.#cookie,
        origin: this.#origin,
        "x-edgecall-console": "1",
        "sec-fetch-site": "same-origin",
        ...(proof !== undefined && { "x-edgecall-proof": proof }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  }

  /** The whole registration. @param shows the token typed again, or a code */
  async register(
    shows: object | undefined,
    { algorithm = -7, isSynced = false, name = "a key", proof }: RegisterOptions = {},
  ): Promise<Answered> {
    const begun = await this.send("POST /v1/passkeys/registrations", shows, proof);
    if (begun.status !== 201) return begun;
    const registration = begun.body as unknown as Registration;
    const authenticator = await Authenticator.make(algorithm, registration.user.id, isSynced);
    const made = await this.newPasskey(registration, authenticator, name);
    const added = await this.send("POST /v1/passkeys", made);
    if (added.status === 201) this.authenticator = authenticator;
    return added;
  }

  async newPasskey(registration: Registration, authenticator: Authenticator, name = "a key") {
    const { id, algorithm, publicKey, isSynced } = authenticator.passkey;
    const clientData = {
      type: "webauthn.create",
      challenge: registration.challenge,
      origin: this.#origin,
      crossOrigin: false,
    };
    const data = new Uint8Array(37);
    data.set(fromHex(await sha256Hex(registration.rp_id)) ?? []);
    data[32] = isSynced ? 0x5d : 0x45;
    return {
      nonce: registration.nonce,
      name,
      id,
      algorithm,
      public_key: publicKey,
      client_data: toBase64Url(utf8(JSON.stringify(clientData))),
      authenticator_data: toBase64Url(data),
      assertion: await authenticator.assert(this.#asked(registration)),
    };
  }

  async challenge(route: string, body?: unknown): Promise<Challenge> {
    const [method = "", path = ""] = route.split(" ");
    const text = body === undefined ? "" : JSON.stringify(body);
    const made = await this.send("POST /v1/passkeys/challenges", { method, path, body: text });
    if (made.status !== 201) throw new Error(`no challenge: ${JSON.stringify(made)}`);
    return made.body as unknown as Challenge;
  }

  /** @returns the header's text */
  async proof(challenge: Challenge, change?: Deviation, authenticator = this.authenticator): Promise<string> {
    if (!authenticator) throw new Error("no passkey");
    const assertion = await authenticator.assert(this.#asked(challenge), change);
    return headerOf({ nonce: challenge.nonce, assertion });
  }

  /** Sends a request with a confirmation for exactly it. */
  async confirmed(route: string, body?: unknown, change?: Deviation): Promise<Answered> {
    return await this.send(route, body, await this.proof(await this.challenge(route, body), change));
  }

  #asked({ challenge, rp_id: rpId }: Pick<Challenge, "challenge" | "rp_id">) {
    return {
      challenge: toHex(tryFromBase64Url(challenge) ?? new Uint8Array()),
      origin: this.#origin,
      rpId,
    };
  }
}

type RegisterOptions = { algorithm?: Algorithm; isSynced?: boolean; name?: string; proof?: string };

export function headerOf(proof: object): string {
  return toBase64Url(utf8(JSON.stringify(proof)));
}
