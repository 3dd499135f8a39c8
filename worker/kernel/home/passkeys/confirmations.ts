/**
 * A person confirms a decision by a passkey. The challenge is the hash of the decision, which the gateway makes of its own rows, so an
 * assertion is good for this decision alone; and it is good for one use.
 */

import { fromHex, toBase64Url } from "@edgecall/core/encoding.ts";
import { challengeOf, type Decision } from "@edgecall/core/passkeys/passkey.ts";
import { type Refused, verifyAssertion } from "@edgecall/core/passkeys/verify-assertion.ts";
import type { Challenge, Place, Proof, Refusal } from "../../api/passkeys.ts";
import { logInfo } from "../../log.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { notifyOwners } from "./notify-owners.ts";
import { passkeysOf, type StoredChallenge, type StoredPasskey } from "./passkey-store.ts";

const CHALLENGE_MS = 2 * 60_000;

/** What is decided on. */
export type Subject = Pick<Decision, "about" | "what" | "answer" | "keep">;

/**
 * @param about for the person @param mostUntil epoch ms; a challenge is never longer open than its question
 * @returns undefined: the person has no passkey for this host
 */
export async function challengeFor(
  home: HomeContext,
  { person, place, subject, shown }: { person: string; place: Place; subject: Subject; shown: string },
  mostUntil = Number.POSITIVE_INFINITY,
): Promise<Challenge | undefined> {
  const now = Date.now();
  const passkeys = passkeysOf(home).of(person, place.host);
  if (passkeys.length === 0) return undefined;
  const until = Math.min(now + CHALLENGE_MS, mostUntil);
  const { about, what, answer, keep } = subject;
  const row = { person, host: place.host, about, what, answer, keep, shown: null, until };
  const challenge = passkeysOf(home).challenge(row, now);
  return {
    nonce: challenge.nonce,
    challenge: await challengeText(home, challenge),
    rp_id: place.host,
    allow: passkeys.map(({ id }) => id),
    until,
    about: shown,
  };
}

/** @returns base64url, as a browser gets it */
export async function challengeText(home: HomeContext, challenge: StoredChallenge): Promise<string> {
  return toBase64Url(fromHex(await challengeOf(decisionOf(home, challenge))) ?? new Uint8Array());
}

export function decisionOf(home: HomeContext, challenge: StoredChallenge): Decision {
  const { about, what, answer, keep, person, nonce, until } = challenge;
  return { home: home.name, about, what, answer, keep, person, nonce, until };
}

/**
 * Verifies a confirmation, and uses nothing up.
 * @returns `use`, to be called in the same synchronous block as what is decided: false when it was used meanwhile
 */
export async function verifyProof(
  home: HomeContext,
  { person, place, proof, subject }: { person: string; place: Place; proof: Proof; subject: Subject },
): Promise<{ ok: true; passkey: StoredPasskey; use: () => boolean } | Refusal> {
  const now = Date.now();
  const store = passkeysOf(home);
  const challenge = store.openChallenge(proof.nonce, person, now);
  const passkey = store.get(proof.assertion.id);
  if (!challenge || challenge.shown !== null) return refused("the challenge is over, or was used");
  if (!passkey || passkey.person !== person || passkey.host !== place.host || challenge.host !== place.host)
    return spent(home, challenge, "this passkey is not yours, or not for this address");
  if (passkey.countsAt > now) return countsLater(home, passkey);
  // What the row of the challenge says is compared with what is decided now: a question may have changed.
  const { about, what, answer, keep } = subject;
  const asked = { ...challenge, about, what, answer, keep };
  const verified = await verifyAssertion(passkey, proof.assertion, {
    challenge: await challengeOf(decisionOf(home, asked)),
    origin: place.origin,
    rpId: place.host,
    userHandle: store.knownHandle(person) ?? "",
  });
  if (!verified.ok) {
    logInfo("passkey.refused", { why: verified.why });
    if (verified.why === "counter") await counterFell(home, passkey);
    return spent(home, challenge, WHY[verified.why]);
  }
  const use = () => store.useUp(proof.nonce) && store.used(passkey, verified.counter, Date.now());
  return { ok: true, passkey, use };
}

/** A passkey that a session began confirms nothing at first, and nothing dangerous in its first hour. */
export function countsLater(home: HomeContext, { countsAt, harmAt }: StoredPasskey): Refusal {
  const now = Date.now();
  const time = phrasesOf().time(Math.max(countsAt, harmAt), clockOf(home).read().zone, now);
  const what = countsAt > now ? "counts from" : "confirms what may do harm or gives more rights from";
  return {
    ok: false,
    status: 403,
    code: "not_confirmed",
    message: `Not confirmed: this passkey is new and ${what} ${time} on.`,
  };
}

/** A challenge is for one try. */
function spent(home: HomeContext, { nonce }: StoredChallenge, why: string): Refusal {
  passkeysOf(home).useUp(nonce);
  return refused(why);
}

function refused(why: string): Refusal {
  return { ok: false, status: 403, code: "not_confirmed", message: `Not confirmed: ${why}. Try again.` };
}

async function counterFell(home: HomeContext, { person, name }: StoredPasskey): Promise<void> {
  await notifyOwners(home, [{ key: "passkeyCopied", given: { name, person } }]);
}

const WHY: Readonly<Record<Refused["why"], string>> = {
  credential: "it is another passkey",
  person: "the passkey is another person's",
  "client data": "the browser's answer is not readable",
  type: "it is the answer to a registration",
  challenge: "the passkey signed something else than what is decided here",
  origin: "it was signed for another address",
  frame: "it was signed in a frame of another page",
  "authenticator data": "the authenticator's answer has another form",
  host: "the passkey is for another host",
  "not present": "the passkey was not touched",
  "not verified":
    "the authenticator did not verify the person: a fingerprint, a face or the device's PIN is needed",
  backup: "the passkey says another thing about its copies than when it was made",
  signature: "the signature is wrong",
  counter: "the passkey's counter did not rise; a copy of it may be in use",
};
