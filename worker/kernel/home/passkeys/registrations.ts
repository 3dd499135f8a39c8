/**
 * Passkeys are made and removed. The cookie of a session never suffices for either: a program in the person's browser has it too. All
 * owners are told, and a button in their chats ends a new one.
 */

import { fromHex, sha256Hex, toBase64Url, toHex, tryFromBase64Url } from "@edgecall/core/encoding.ts";
import { challengeOf } from "@edgecall/core/passkeys/passkey.ts";
import { verifyAssertion } from "@edgecall/core/passkeys/verify-assertion.ts";
import type { MessageKey } from "@edgecall/core/phrases/languages/phrase-data.ts";
import type { Said } from "@edgecall/core/phrases/said-text.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { isObject } from "@edgecall/core/protocol/is-object.ts";
import type { Pressed, RulePress } from "../../api/notices.ts";
import type { NewPasskey, PasskeyView, Place, Refusal, Registration, Shown } from "../../api/passkeys.ts";
import { phrasesOf } from "../../phrases.ts";
import { randomCode } from "../../random-code.ts";
import { auditDecision } from "../audit/decisions.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { ownersOf } from "../notices/reach.ts";
import { endGivenSince } from "../permissions/ends.ts";
import { challengeText, decisionOf } from "./confirmations.ts";
import { notifyOwners, type OwnersButton } from "./notify-owners.ts";
import { PASSKEYS_OF_PERSON, passkeysOf, type StoredChallenge, type StoredPasskey } from "./passkey-store.ts";

const REGISTRATION_MS = 5 * 60_000;
/** So long a first passkey of a session alone confirms nothing, unless an owner lets it. */
const WAIT_MS = 60 * 60_000;
const STOPPED_MS = 24 * 60 * 60_000;
const CODE_MS = 10 * 60_000;
const CODE_LENGTH = 10;
const ABOUT = "passkey:new";
/** Flags of authenticator data: the person was there and was verified, it may be copied, and a key follows. */
const UP_UV = 0x05;
const BE = 0x08;
const AT = 0x40;
const BUTTON = /^p-([0-9a-f]{12})$/;

type Caller = AuditLine["caller"];

/** @returns undefined: this person has too many */
export async function beginRegistration(
  home: HomeContext,
  { person, place, shown }: { person: string; place: Place; shown: Shown },
): Promise<Registration | Refusal> {
  const store = passkeysOf(home);
  if (store.isFull(person))
    return {
      ok: false,
      status: 409,
      code: "too_many",
      message: `there are ${PASSKEYS_OF_PERSON} passkeys; remove one first`,
    };
  const now = Date.now();
  const refusal = shown === "wait" ? whyNoneWaits(home, person, now) : undefined;
  if (refusal) return refusal;
  const challenge = store.challenge(
    {
      person,
      host: place.host,
      about: ABOUT,
      answer: "add",
      keep: "",
      what: "",
      shown,
      until: now + REGISTRATION_MS,
    },
    now,
  );
  return {
    nonce: challenge.nonce,
    challenge: await challengeText(home, challenge),
    rp_id: place.host,
    user: { id: store.handleOf(person), name: `${person}, edgecall: approvals` },
    exclude: store.of(person, place.host).map(({ id }) => id),
    until: challenge.until,
  };
}

/** It ends with an assertion, which shows that the browser's passkey has the private half of this key. */
export async function register(
  home: HomeContext,
  { person, place, made }: { person: string; place: Place; made: NewPasskey },
  caller: Caller,
): Promise<{ ok: true; passkey: PasskeyView } | Refusal> {
  const store = passkeysOf(home);
  const now = Date.now();
  const challenge = store.openChallenge(made.nonce, person, now);
  if (!challenge || challenge.about !== ABOUT || challenge.shown === null || challenge.host !== place.host)
    return refused(
      "nonce: this registration is over, or was begun by another person or at another address; begin again",
    );
  store.useUp(made.nonce);
  const problem = await faultOf(home, made, challenge, place);
  if (problem !== undefined) return refused(problem);
  const isSynced = (flagsOf(made.authenticator_data) & BE) !== 0;
  const passkey: StoredPasskey = {
    id: made.id,
    algorithm: made.algorithm,
    publicKey: made.public_key,
    counter: 0,
    isSynced,
    person,
    host: place.host,
    name: made.name,
    by: challenge.shown,
    countsAt: challenge.shown === "wait" ? now + WAIT_MS : 0,
    harmAt: challenge.shown === "wait" ? now + WAIT_MS : 0,
    createdAt: now,
  };
  const verified = await verifyAssertion(passkey, made.assertion, {
    challenge: await challengeOf(decisionOf(home, challenge)),
    origin: place.origin,
    rpId: place.host,
    userHandle: store.handleOf(person),
  });
  if (!verified.ok) return refused(`assertion: it does not belong to this passkey (${verified.why})`);
  // No await from here on.
  if (store.get(made.id))
    return { ok: false, status: 409, code: "conflict", message: "id: this passkey is known" };
  if (store.isFull(person))
    return { ok: false, status: 409, code: "too_many", message: "there are too many passkeys" };
  const refusal = challenge.shown === "wait" ? whyNoneWaits(home, person, now) : undefined;
  if (refusal) return refusal;
  store.add({ ...passkey, counter: verified.counter });
  auditDecision(home, "passkey_add", caller, { name: made.name, host: place.host, by: challenge.shown });
  await notifyOwners(home, addedText(passkey, now), await buttonsOf(passkey));
  const passkeyView = store.list(person).find(({ id }) => id === made.id);
  return passkeyView ? { ok: true, passkey: passkeyView } : refused("it was removed at once");
}

/** Why a session alone begins no passkey of this person; undefined: it does, and that passkey waits. */
function whyNoneWaits(home: HomeContext, person: string, now: number): Refusal | undefined {
  const store = passkeysOf(home);
  const stopped = store.stoppedUntil(person);
  const refusal = (code: string, message: string): Refusal => ({ ok: false, status: 409, code, message });
  if (store.list(person).length > 0)
    return refusal("conflict", "only a first passkey waits: confirm with the one that you have");
  if (stopped > now)
    return refusal(
      "stopped",
      `an owner stopped the last one, so none waits before ${phrasesOf().time(stopped, clockOf(home).read().zone, now)}; use your token, or a code of \`edgecall passkey\``,
    );
  // Somebody has to be able to stop it.
  if (!ownersOf(home).some((recipient) => recipient.includes("/")))
    return refusal(
      "nobody_hears",
      "being signed in is not enough here, since no owner has a chat app that could stop it: type your token, or a code of `edgecall passkey`",
    );
  return undefined;
}

const WAYS = {
  token: "byToken",
  code: "byCode",
  passkey: "byPasskey",
  wait: "bySession",
} as const satisfies Readonly<Record<Shown, MessageKey>>;

/** @returns what all owners are told */
function addedText({ person, name, host, by, countsAt }: StoredPasskey, now: number): Said[] {
  const given = { person, name, host };
  const keys = { way: WAYS[by], notMe: "notMe", letIt: "letCount" } as const;
  return countsAt > now
    ? [{ key: "passkeyWaits", given, keys, times: { time: countsAt } }]
    : [{ key: "passkeyNew", given, keys }];
}

async function buttonsOf({ id, countsAt }: StoredPasskey): Promise<OwnersButton[]> {
  const rule = await markOf(id);
  const [end, letIt] = [
    { says: "notMe", do: "stop", rule, occurrence: 0 },
    { says: "letCount", do: "ack", rule, occurrence: 0 },
  ] as const;
  return countsAt > 0 ? [letIt, end] : [end];
}

/** What is wrong with the registration's answer; undefined: nothing. It is unsigned: the assertion beside it is what counts. */
async function faultOf(
  home: HomeContext,
  { client_data, authenticator_data, assertion, id }: NewPasskey,
  challenge: StoredChallenge,
  { host, origin }: Place,
): Promise<string | undefined> {
  if (assertion.id !== id) return "assertion: it is another passkey's";
  const data = jsonOf(client_data);
  if (data?.type !== "webauthn.create") return "client_data: expected the answer to a registration";
  if (
    data.challenge !==
    toBase64Url(fromHex(await challengeOf(decisionOf(home, challenge))) ?? new Uint8Array())
  )
    return "client_data: it is for another registration";
  if (data.origin !== origin || (data.crossOrigin ?? false) !== false)
    return `client_data: expected the origin ${origin}`;
  const bytes = tryFromBase64Url(authenticator_data);
  if (!bytes || bytes.length < 37 || toHex(bytes.subarray(0, 32)) !== (await sha256Hex(host)))
    return `authenticator_data: expected that of ${host}`;
  const flags = bytes[32] ?? 0;
  if ((flags & UP_UV) !== UP_UV)
    return "authenticator_data: the authenticator did not verify the person; a fingerprint, a face or the device's PIN is needed";
  return (flags & AT) === 0 ? "authenticator_data: it names no passkey" : undefined;
}

function jsonOf(base64url: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(tryFromBase64Url(base64url)));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function flagsOf(authenticatorData: string): number {
  return tryFromBase64Url(authenticatorData)?.[32] ?? 0;
}

/** @returns a code that lets this person make one passkey; undefined: too many are open */
export async function makeCode(
  home: HomeContext,
  person: string,
): Promise<{ code: string; expiresAt: number } | undefined> {
  const code = randomCode(CODE_LENGTH);
  const hash = await hashOf(code);
  const now = Date.now();
  const expiresAt = now + CODE_MS;
  return passkeysOf(home).addCode(hash, person, expiresAt, now) ? { code, expiresAt } : undefined;
}

/** @returns true once: the code is this person's, and open */
export async function useCode(home: HomeContext, code: string, person: string): Promise<boolean> {
  const hash = await hashOf(code.trim().toUpperCase());
  return passkeysOf(home).useCode(hash, person, Date.now());
}

async function hashOf(code: string): Promise<string> {
  return await sha256Hex(`edgecall passkey code ${code}`);
}

/** @param how the person showed that it is them; `notMe`: an owner pressed that button */
export async function removePasskey(
  home: HomeContext,
  passkey: StoredPasskey,
  caller: Caller,
  how: Shown | "notMe",
): Promise<void> {
  const { id, name, person } = passkey;
  passkeysOf(home).remove(id);
  const way = how === "notMe" ? how : WAYS[how];
  auditDecision(home, "passkey_remove", caller, { name, person, by: phrasesOf().say(way) });
  const gone = { key: "passkeyGone", given: { name, person, by: caller.principal }, keys: { way } } as const;
  const left = passkeysOf(home).has(person) ? [] : [{ key: "passkeyLast", given: { person } } as const];
  await notifyOwners(home, [gone, ...left]);
}

export function isPasskeyButton(rule: string): boolean {
  return BUTTON.test(rule);
}

/**
 * "It wasn't me" and "Let it count", for owners in a chat app. A press in the console is not enough: whatever drives the person's browser
 * could end their passkey there. What waits still, an owner stops by a notification, too.
 */
export async function pressPasskeyButton(
  home: HomeContext,
  { do: what, rule, by }: Pick<RulePress, "do" | "rule" | "by">,
): Promise<Pressed> {
  const { principal, role, conversation } = by;
  const channel = conversation?.split("/")[1] ?? "api";
  const passkey = await passkeyOf(home, rule);
  if (!passkey) return { done: true, text: "This passkey is removed already." };
  const caller = { principal, role, channel };
  const waits = passkey.countsAt > Date.now();
  if (role !== "owner" || (channel === "api" && !(waits && what === "stop")))
    return { done: false, text: "Only an owner can do that, in a chat app." };
  if (what === "stop") return { done: true, text: await endByButton(home, passkey, waits, caller) };
  return { done: true, text: letCount(home, passkey, caller) };
}

async function passkeyOf(home: HomeContext, rule: string): Promise<StoredPasskey | undefined> {
  for (const { id } of passkeysOf(home).list())
    if ((await markOf(id)) === rule) return passkeysOf(home).get(id);
  return undefined;
}

/** @returns words for the person */
async function endByButton(
  home: HomeContext,
  passkey: StoredPasskey,
  waits: boolean,
  caller: Caller,
): Promise<string> {
  const { name, person, by } = passkey;
  if (by === "wait") passkeysOf(home).stopUntil(person, Date.now() + STOPPED_MS);
  // What the passkey's holder said yes to must not stay allowed.
  const ended = endGivenSince(home, person, passkey.createdAt, caller);
  await removePasskey(home, passkey, caller, "notMe");
  const given = ended === 0 ? "" : ` What ${person} allowed since then asks again (${ended}).`;
  return waits
    ? `The passkey “${name}” is stopped.${given} Sign ${person} out of browsers that others or programs use.`
    : `The passkey “${name}” is removed.${given} Replace the token of ${person} too: something had more than the browser's session.`;
}

/** The tap of an account that an owner named counts for everything; another one leaves an hour for what may do harm. @returns words for the person */
function letCount(home: HomeContext, passkey: StoredPasskey, caller: Caller): string {
  const now = Date.now();
  if (passkey.countsAt <= now && passkey.harmAt <= now)
    return `The passkey “${passkey.name}” counts already.`;
  const isNamed = passkeysOf(home).trustedTaps().includes(caller.principal);
  const harmAt = isNamed ? now : passkey.harmAt;
  passkeysOf(home).letCount(passkey.id, Math.min(passkey.countsAt, now), harmAt);
  auditDecision(home, "passkey_let", caller, { name: passkey.name, person: passkey.person });
  const time = phrasesOf().time(harmAt, clockOf(home).read().zone, now);
  return isNamed
    ? `The passkey “${passkey.name}” of ${passkey.person} counts now.`
    : `The passkey “${passkey.name}” of ${passkey.person} counts now; for what may do harm or gives more rights from ${time} on.`;
}

/** The passkey in a button, whose text is short. */
async function markOf(id: string): Promise<string> {
  return `p-${(await sha256Hex(id)).slice(0, 12)}`;
}

function refused(message: string): Refusal {
  return { ok: false, status: 400, code: "invalid_body", message };
}
