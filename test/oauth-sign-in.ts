/** Plays the parts of an OAuth sign-in: the client's requests, and the person's browser. */
import { createHash, randomBytes } from "node:crypto";

/** Sends a request to the gateway, without following redirects. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

export type Tokens = {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
};
export type Failure = { error: string; error_description: string };

export function pkce() {
  const verifier = randomBytes(48).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export const REDIRECT = "http://127.0.0.1:33418/callback";

export class SignIn {
  readonly #send: Send;
  readonly #origin: string;

  /** @param origin of the gateway */
  constructor(send: Send, origin: string) {
    this.#send = send;
    this.#origin = origin;
  }

  async register(metadata: object = {}): Promise<{ status: number; client_id: string } & Partial<Failure>> {
    const body = JSON.stringify({ client_name: "A test", redirect_uris: [REDIRECT], ...metadata });
    const headers = { "content-type": "application/json" };
    const response = await this.#send("/oauth/register", { method: "POST", headers, body });
    return { status: response.status, ...((await response.json()) as { client_id: string }) };
  }

  /** @returns the console's cookie */
  async cookie(token: string): Promise<string> {
    const headers = { origin: this.#origin, "x-edgecall-console": "1", "content-type": "application/json" };
    const body = JSON.stringify({ token });
    const response = await this.#send("/v1/console/session", { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`no session: ${await response.text()}`);
    return (response.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  }

  static query(fields: Record<string, string | undefined>): string {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) given.set(name, value);
    return `/oauth/authorize?${given}`;
  }

  /** The address to which a client sends its person. */
  authorizePath(clientId: string, challenge: string, more: Record<string, string | undefined> = {}): string {
    return SignIn.query({
      response_type: "code",
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: "the-state",
      scope: "ask",
      resource: `${this.#origin}/mcp`,
      ...more,
    });
  }

  /** A browser with the console's cookie opens the page. */
  async open(path: string, cookie: string): Promise<{ status: number; html: string; form: string }> {
    const response = await this.#send(path, { headers: { cookie }, redirect: "manual" });
    const html = await response.text();
    return { status: response.status, html, form: /name="form" value="([^"]*)"/.exec(html)?.[1] ?? "" };
  }

  /** The person presses a button. @returns the address to which the browser is sent */
  async press(
    form: string,
    cookie: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<{ status: number; location: URL | undefined; text: string }> {
    const response = await this.#send("/oauth/authorize", {
      method: "POST",
      redirect: "manual",
      headers: {
        cookie,
        origin: this.#origin,
        "content-type": "application/x-www-form-urlencoded",
        ...headers,
      },
      body: new URLSearchParams({ form, answer: "allow", ...fields }).toString(),
    });
    const location = response.headers.get("location");
    const text = await response.text();
    return { status: response.status, location: location === null ? undefined : new URL(location), text };
  }

  /** Opens the page and presses Allow. @returns the code */
  async consent(path: string, cookie: string, fields: Record<string, string> = {}): Promise<string> {
    const { form, html } = await this.open(path, cookie);
    if (form === "") throw new Error(`no form: ${html}`);
    const { location, text } = await this.press(form, cookie, fields);
    const code = location?.searchParams.get("code");
    if (!code) throw new Error(`no code: ${location?.href ?? text}`);
    return code;
  }

  async token(
    fields: Record<string, string>,
  ): Promise<{ status: number; headers: Headers } & Tokens & Failure> {
    const response = await this.#send("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
    const { status, headers } = response;
    return { status, headers, ...((await response.json()) as Tokens & Failure) };
  }

  async redeem(clientId: string, code: string, verifier: string, more: Record<string, string> = {}) {
    return await this.token({
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT,
      resource: `${this.#origin}/mcp`,
      ...more,
    });
  }

  async refresh(clientId: string, refreshToken: string, more: Record<string, string> = {}) {
    const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
    return await this.token({ ...fields, ...more });
  }

  /** The whole sign-in of a client that registers itself. */
  async connect(token: string, fields: Record<string, string> = {}) {
    const { verifier, challenge } = pkce();
    const { client_id: clientId } = await this.register();
    const cookie = await this.cookie(token);
    const code = await this.consent(this.authorizePath(clientId, challenge), cookie, fields);
    return { clientId, code, verifier, cookie, ...(await this.redeem(clientId, code, verifier)) };
  }
}
