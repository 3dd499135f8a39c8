/** Passkeys of a home's people, and what they confirm. */
import { Assertion, Passkey } from "@edgecall/core/passkeys/passkey.ts";
import { z } from "@edgecall/core/protocol/parse.ts";

const base64url = (max: number) => z.string().check(z.regex(/^[A-Za-z0-9_-]+$/), z.maxLength(max));

/** One line that a person gives a passkey: "Ann's phone". */
export const PasskeyName = z
  .string()
  .check(
    z.trim(),
    z.minLength(1),
    z.maxLength(60),
    z.regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "expected one line without invisible characters"),
  );

/** A confirmation by a passkey: the assertion over the challenge that has this nonce. */
export const Proof = z.strictObject({ nonce: base64url(43), assertion: Assertion });
export type Proof = z.infer<typeof Proof>;

/** A new passkey, as `navigator.credentials.create()` returned it, with an assertion that it made over the same challenge. */
export const NewPasskey = z.strictObject({
  nonce: base64url(43),
  name: PasskeyName,
  id: Passkey.shape.id,
  algorithm: Passkey.shape.algorithm,
  public_key: Passkey.shape.publicKey,
  /** Parts of the registration's answer, base64url. */
  client_data: base64url(4_000),
  authenticator_data: base64url(4_000),
  assertion: Assertion,
});
export type NewPasskey = z.infer<typeof NewPasskey>;

/** The place of a browser: the host that its passkeys are for (`rpId`), and the origin that it writes into what they sign. */
export type Place = { host: string; origin: string };

/**
 * A way by which a person showed more than the cookie of a session. `token`: typed again, or the request's own. `code`: of
 * `edgecall passkey`. `passkey`: one that they have. `wait`: none, so the first passkey waits for an hour, or for an owner.
 */
export type Shown = "token" | "code" | "passkey" | "wait";

/**
 * @property is_synced it may be in a password manager @property by the way that let it be made
 * @property counts_at epoch ms; before that it confirms nothing @property harm_at epoch ms; before that nothing dangerous, and no rights
 */
export type PasskeyView = {
  id: string;
  person: string;
  name: string;
  host: string;
  is_synced: boolean;
  by: Shown;
  counts_at: number;
  harm_at: number;
  created_at: number;
  used_at: number | null;
};

/** What a browser needs to make a passkey. Bytes are base64url. */
export type Registration = {
  nonce: string;
  challenge: string;
  rp_id: string;
  user: { id: string; name: string };
  /** Passkeys that the person has here. */
  exclude: string[];
  /** Epoch ms. */
  until: number;
};

/** What a browser needs to confirm something. Bytes are base64url. */
export type Challenge = {
  nonce: string;
  challenge: string;
  rp_id: string;
  allow: string[];
  until: number;
  /** What is confirmed, for the person. */
  about: string;
};

/** A request that a page is about to send, exactly. @property path with its query @property body its text; empty: it has none */
export type AboutToSend = { method: string; path: string; body: string };

/** Why something is refused, for an answer of the API. */
export type Refusal = { ok: false; status: 400 | 403 | 404 | 409 | 410; code: string; message: string };

/** A code of the API: the page can get a confirmation by a passkey, and send the request again. */
export const NEEDS_PASSKEY = "needs_passkey";
/** A code of the API: only another device, or a chat, can confirm it. */
export const NEEDS_OTHER_DEVICE = "needs_other_device";

/**
 * The way by which an answer to a question came.
 * `token`: a bearer token. `chat`: the platform vouches for the account. `notification`: a button of one, on whatever shows it. `session`: a session of the console, `id` of its browser.
 */
export type AnswerWay =
  | { by: "token" }
  | { by: "chat" }
  | { by: "notification" }
  | {
      by: "session";
      id: string | undefined;
      /** Undefined: no browser makes or uses a passkey at this address. */
      place: Place | undefined;
      proof: Proof | undefined;
      /** The hash of what else the answer gives, such as a standing permission; empty: nothing. */
      keep: string;
    };

/** How an answer was given, as the record has it. */
export const HOW = {
  press: "press",
  token: "token",
  passkey: "passkey",
  otherDevice: "tap on another device",
  notification: "notification",
} as const;
