/** For tests inside workerd: a home at another gateway, with its own key. It asks over HTTP, and is asked through `fetch`. */
import { fromBase64Url, toBase64Url } from "@edgecall/core/encoding.ts";
import {
  lendingPlace,
  lendingTokenBody,
  lendingTokenBytes,
  readLendingToken,
} from "@edgecall/core/protocol/lending-token.ts";
import {
  importPrivateKey,
  importPublicKey,
  type KeyPair,
  newKeyPair,
} from "@edgecall/core/protocol/signing.ts";
import { onTestFinished } from "vitest";
import { type Invitation, invitationText, readInvitation } from "../worker/features/lending/contract.ts";
import type { Reply } from "./keyed-home.ts";
import { ask } from "./workerd.ts";

const GATEWAY = "https://gateway";
const FAR = "https://far.example";

type Side = "lender" | "borrower";
type Claims = { grant?: string; from?: Side; for?: string; body?: string; now?: number; keys?: KeyPair };

export type Asked = { kind: string; token: string; body: Record<string, unknown> };
type Answer = { status: number; body: unknown };

export class FarHome {
  readonly keys: KeyPair;
  /** The requests to it, in order. */
  readonly asked: Asked[] = [];
  /** Undefined: the line breaks. */
  onAsked: (asked: Asked) => Answer | undefined | Promise<Answer | undefined> = () => ({
    status: 200,
    body: {},
  });
  #grant: { home: string; grant: string } | undefined;

  private constructor(keys: KeyPair) {
    this.keys = keys;
  }

  static async make(): Promise<FarHome> {
    const far = new FarHome(await newKeyPair());
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      if (url.origin !== FAR) return await real(input, init);
      const text = await request.text();
      const asked = {
        kind: url.pathname.split("/").at(-1) ?? "",
        token: request.headers.get("authorization")?.slice("Bearer ".length) ?? "",
        body: JSON.parse(text) as Record<string, unknown>,
      };
      far.asked.push(asked);
      const answer = await far.onAsked(asked);
      if (!answer) throw new TypeError("the line broke");
      return Response.json(answer.body, { status: answer.status });
    };
    onTestFinished(() => {
      globalThis.fetch = real;
    });
    return far;
  }

  of(kind: string): Asked[] {
    return this.asked.filter((one) => one.kind === kind);
  }

  /** As a lender: an invitation to its own grant. */
  invitation(grant: string = crypto.randomUUID()): { grant: string; text: string } {
    const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
    return {
      grant,
      text: invitationText({ url: FAR, home: "far", grant, key: this.keys.publicKey, secret }),
    };
  }

  /** As a borrower: it takes what the invitation offers. */
  async take(text: string, more: Record<string, unknown> = {}, claims: Claims = {}): Promise<Reply> {
    const invitation = readInvitation(text) as Invitation;
    this.#grant = { home: invitation.home, grant: invitation.grant };
    const body = { secret: invitation.secret, key: this.keys.publicKey, url: FAR, home: "far", ...more };
    return await this.ask("take", body, claims);
  }

  /** Asks the home whose grant it took. */
  async ask(kind: string, body: object, claims: Claims = {}): Promise<Reply> {
    if (!this.#grant) throw new Error("it took nothing");
    return await this.request({ ...this.#grant, from: "borrower" }, kind, body, claims);
  }

  async request(
    { home, grant, from }: { home: string; grant: string; from: Side },
    kind: string,
    body: object,
    claims: Claims = {},
  ): Promise<Reply> {
    const text = JSON.stringify(body);
    const place = claims.for ?? lendingPlace(GATEWAY, home, kind);
    const token = await this.token({ grant, from, for: place }, text, claims);
    const headers = { "content-type": "application/json" };
    const response = await ask(`/v1/peer/${home}/${kind}`, { method: "POST", body: text, token, headers });
    return { status: response.status, body: (await response.json()) as Reply["body"] };
  }

  async token(
    claims: { grant: string; from: Side; for: string },
    text: string,
    {
      grant = claims.grant,
      from = claims.from,
      body = text,
      now = Date.now(),
      keys = this.keys,
    }: Claims = {},
  ): Promise<string> {
    const first = await lendingTokenBody({ ...claims, grant, from }, body, now);
    const key = await importPrivateKey(keys.privateKey);
    const signature = await crypto.subtle.sign("Ed25519", key, lendingTokenBytes(first));
    return `${first}.${toBase64Url(new Uint8Array(signature))}`;
  }
}

/** True if the token is good for this body, and this key signed it. */
export async function isGoodToken({ token, body }: Asked, publicKey: string): Promise<boolean> {
  const read = await readLendingToken(token, JSON.stringify(body), Date.now());
  const key = await importPublicKey(publicKey);
  if (!read || !key) return false;
  const signature = fromBase64Url(read.signature);
  return await crypto.subtle.verify("Ed25519", key, signature, lendingTokenBytes(read.body));
}
