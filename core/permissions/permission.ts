/**
 * A standing permission: what a device may be told without a question, as a person allowed it on a card. Home keeps it as a row. A
 * command carries it inside the bytes that the gateway signs, and the device checks it once more.
 */
import { Instant } from "../protocol/instant.ts";
import { z } from "../protocol/parse.ts";
import { Bound } from "./bounds.ts";

const DAY_MS = 86_400_000;
/** The longest life of a permission, and the longest time without a use, which ends no rule's: a leak may never come. */
export const LIFE_MAX_MS = 90 * DAY_MS;
export const UNUSED_MAX_MS = 60 * DAY_MS;
/** One for a conversation ends after a day without a word in it. */
export const SILENT_MAX_MS = DAY_MS;
const ACTIONS_MAX = 32;
const PARAMETERS_MAX = 32;

const id = z.string().check(z.minLength(1), z.maxLength(200));

/** A record has no `__proto__`: zod leaves such a name out. */
const name = z.string().check(z.regex(/^[A-Za-z0-9_.-]{1,64}$/));

/** The bounds of one action's parameters. */
export const ActionBounds = z
  .record(name, Bound)
  .check(z.refine(few(PARAMETERS_MAX), `expected at most ${PARAMETERS_MAX} parameters`));
export type ActionBounds = z.infer<typeof ActionBounds>;

function few<T>(max: number): (all: Record<string, T>) => boolean {
  return (all) => Object.keys(all).length <= max;
}

/**
 * Whose calls are allowed. `person`: a principal (the name of a token, or the sender of a chat app). `program`: one that a person
 * connected, by its grant's id. `home`: another home to which a device is lent. `rule`: a rule of this home and its version.
 * `everybody`: this home's people, and never a program, a rule or another home.
 */
export const Who = z.union([
  z.strictObject({ person: id }),
  z.strictObject({ program: id }),
  z.strictObject({ home: id }),
  z.strictObject({ rule: id, version: z.int() }),
  z.literal("everybody"),
]);
export type Who = z.infer<typeof Who>;

/** The proof that a person was there: a press in the page's own session, from another device than the asking one, or by a passkey. */
const HOW = ["press", "tap", "verified"] as const;

const MINUTES_A_DAY = 1_440;
const minute = z.int().check(z.minimum(0), z.maximum(MINUTES_A_DAY));

/** From and to, in minutes of the home's day; the end is not within. From after to: over midnight. */
export const Hours = z
  .strictObject({ from: minute, to: minute })
  .check(z.refine(({ from, to }) => from !== to, "expected two different times"));

export const StandingPermission = z.strictObject({
  id,
  /** The device's id when it was allowed, for people. `key` is what counts. */
  device: id,
  /** The device's key: of a hosted device, or the fingerprint of a paired agent's. */
  key: id,
  /** The device's allow hash, or the hash of the action's advert, when it was allowed. */
  version: id,
  actions: z
    .record(name, ActionBounds)
    .check(z.refine(few(ACTIONS_MAX), `expected at most ${ACTIONS_MAX} actions`)),
  who: Who,
  /** It holds in this conversation alone; null: in each. */
  conversation: z.nullable(id),
  /** It holds for calls over these front doors alone (`console`, `telegram`); null: over each. */
  channels: z.nullable(z.array(id).check(z.minLength(1), z.maxLength(16))),
  /** A stranger's text may have led to the call. */
  tainted: z.boolean(),
  /** Another agent may have asked for the call. */
  chain: z.boolean(),
  /** Null: all day. */
  hours: z.nullable(Hours),
  until: Instant,
  /** The person who allowed it, the proof, and the question. */
  by: id,
  how: z.enum(HOW),
  question: z.nullable(id),
  at: Instant,
});
export type StandingPermission = z.infer<typeof StandingPermission>;

/** @returns why the permission is over at this time; undefined: it is not */
export function overBy(
  { until, at, conversation, who }: Pick<StandingPermission, "until" | "at" | "conversation" | "who">,
  usedAt: number | null,
  now: number,
): "date" | "unused" | "silent" | undefined {
  if (now >= Math.min(until, at + LIFE_MAX_MS)) return "date";
  const last = usedAt ?? at;
  if (conversation !== null && now >= last + SILENT_MAX_MS) return "silent";
  const isRules = typeof who === "object" && "rule" in who;
  return !isRules && now >= last + UNUSED_MAX_MS ? "unused" : undefined;
}
