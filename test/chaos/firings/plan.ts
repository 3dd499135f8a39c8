/** Plans each season of the run from the seed: what fires, with which fault around it, and at which step of the firing. */
import { type Dice, dice } from "../dice.ts";
import { FIRING_FAULTS, type FiringFault } from "./fault-names.ts";

/**
 * Where a rule is evaluated: on a hosted device's reading in the bridge, on an agent's own reading, in Home by presence, in Home by
 * the time.
 */
type FiringKind = "hosted" | "agent" | "presence" | "reminder";
/** Where it is told: in a conversation of the API, or in a chat app. */
type Told = "api" | "telegram" | "generic";

export type PlannedFiring = {
  /** Of its rule, unique in a run: `F0312`. */
  name: string;
  kind: FiringKind;
  told: Told;
  /** The value with which it crosses its limit; each firing has its own. */
  value: number;
  /** The rule ends with its firing. */
  once: boolean;
  /** The value goes back, or the device comes back, when the firing was told. */
  recovers: boolean;
};

/** A step of a firing at which its fault comes. */
export const MOMENTS = ["crosses", "on disk", "leaves", "acked", "sent", "answered", "due"] as const;
export type Moment = (typeof MOMENTS)[number];

export type PlannedVolley = {
  /** It names the volley within a run. */
  k: number;
  /** They cross together. The fault waits for the step of the first. */
  firings: PlannedFiring[];
  /** It waits until everything is connected; otherwise it may come while the fault before still lasts. */
  patient: boolean;
  fault: {
    name: FiringFault;
    moment: Moment;
    /** Milliseconds after the step. */
    jitter: number;
    /** Milliseconds, of a fault with a duration. */
    lasts: number;
  };
};

/** A home of its own: bounds of an hour begin anew. */
export type PlannedSeason = {
  season: number;
  volleys: PlannedVolley[];
  /** Rules whose values come near their limits and never cross them. */
  quiet: string[];
};

/**
 * What fires in a season. With the ends of some it stays below what a home says in an hour: 60 messages, 20 of them not critical,
 * 30 firings of an agent. What is beyond would be told an hour later.
 */
const OF_FIFTEEN: ReadonlyArray<readonly [FiringKind, Told]> = [
  ...times(5, "hosted", "api"),
  ...times(4, "agent", "api"),
  ...times(2, "presence", "api"),
  ...times(1, "hosted", "telegram"),
  ...times(1, "agent", "telegram"),
  ...times(1, "hosted", "generic"),
  ...times(1, "reminder", "api"),
];
const PER_SEASON = 3 * OF_FIFTEEN.length;
const RECOVERIES = 6;
const QUIET = 4;
const PATIENT = 0.85;
const LASTS_MIN_MS = 300;
const LASTS_MAX_MS = 3_500;
/** What happens between two steps takes about this long. */
const STEP_MS = 40;

function times(count: number, kind: FiringKind, told: Told): ReadonlyArray<readonly [FiringKind, Told]> {
  return Array.from({ length: count }, () => [kind, told] as const);
}

/** How often a fault was planned. */
type Used = Map<FiringFault, number>;

/** @param firings so many in all */
export function planSeasons(seed: number, firings: number, faults: readonly FiringFault[]): PlannedSeason[] {
  const count = Math.ceil(firings / PER_SEASON);
  let k = 0;
  let left = firings;
  const used: Used = new Map();
  return Array.from({ length: count }, (_, season) => {
    const size = Math.min(left, Math.ceil(firings / count));
    left -= size;
    const planned = planSeason(dice(seed, `season ${season}`), season, size, faults, k, used);
    k += planned.volleys.length;
    return planned;
  });
}

function planSeason(
  throws: Dice,
  season: number,
  size: number,
  faults: readonly FiringFault[],
  from: number,
  used: Used,
): PlannedSeason {
  const named = (n: number) => `F${String(season).padStart(2, "0")}${String(n).padStart(2, "0")}`;
  const kinds = Array.from(
    { length: size },
    (_, n) => OF_FIFTEEN[n % OF_FIFTEEN.length] ?? (["hosted", "api"] as const),
  );
  const all = kinds.map(
    ([kind, told], n): PlannedFiring => ({
      name: named(n),
      kind,
      told,
      value: 100 + n,
      once: kind !== "reminder" && throws.chance(0.25),
      recovers: false,
    }),
  );
  const reminders = all.filter(({ kind }) => kind === "reminder");
  const others = inOrder(
    throws,
    all.filter(({ kind }) => kind !== "reminder"),
  );
  // An end is told after a minute: the early ones have the time for it.
  for (const one of others.filter(({ told, once }) => !once && told === "api").slice(0, RECOVERIES))
    one.recovers = true;
  const groups: PlannedFiring[][] = [];
  while (others.length > 0) groups.push(others.splice(0, throws.whole(2, 3)));
  const volleys = [...groups, ...reminders.map((one) => [one])].map((group, n) => {
    const mixed = throws.shuffled(group);
    const patient = throws.chance(PATIENT);
    return { k: from + n, firings: mixed, patient, fault: planFault(throws, mixed, faults, used) };
  });
  return { season, volleys, quiet: Array.from({ length: QUIET }, (_, n) => named(size + n)) };
}

/** Those of chat apps come early: messages to one chat are gathered for half a minute. */
function inOrder(throws: Dice, firings: readonly PlannedFiring[]): PlannedFiring[] {
  const chats = firings.filter(({ told }) => told !== "api");
  const others = throws.shuffled(firings.filter(({ told }) => told === "api"));
  return [...throws.shuffled([...chats, ...others.splice(0, chats.length)]), ...others];
}

function planFault(
  throws: Dice,
  firings: PlannedFiring[],
  faults: readonly FiringFault[],
  used: Used,
): PlannedVolley["fault"] {
  const fitting = faults.filter((name) => firings.some((one) => isOf(name, one)));
  const usable = fitting.length > 0 ? fitting : faults;
  // Those that came least often before.
  const least = Math.min(...usable.map((name) => used.get(name) ?? 0));
  const name = throws.pick(usable.filter((one) => (used.get(one) ?? 0) === least));
  used.set(name, least + 1);
  // The fault comes at a step of what it concerns.
  const lead = firings.find((one) => isOf(name, one));
  if (lead) firings.sort((a, b) => Number(b === lead) - Number(a === lead));
  const moment = throws.pick(momentsOf(name, firings[0]));
  return {
    name,
    moment,
    jitter: throws.whole(0, STEP_MS) - (moment === "due" ? STEP_MS / 2 : 0),
    lasts: throws.whole(LASTS_MIN_MS, LASTS_MAX_MS),
  };
}

function isOf(name: FiringFault, { kind, told }: PlannedFiring): boolean {
  const { needs } = FIRING_FAULTS[name];
  if (needs === "agent") return kind === "agent";
  if (needs === "chat") return told !== "api";
  if (needs === "broker") return kind !== "reminder";
  return true;
}

function momentsOf(name: FiringFault, lead: PlannedFiring | undefined): Moment[] {
  if (!lead || lead.kind === "reminder") return ["due"];
  const { needs } = FIRING_FAULTS[name];
  const chat: Moment[] = lead.told === "api" ? [] : ["sent", "answered"];
  // A platform that is away when the message is sent.
  if (needs === "chat") return ["crosses", "leaves", "sent"];
  const steps: Moment[] =
    lead.kind === "presence" ? ["crosses", "leaves", "acked"] : ["crosses", "on disk", "leaves", "acked"];
  return [...steps, ...chat];
}
