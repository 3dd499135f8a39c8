/** Plans each house of the run from the seed: rules that act, what sets each off, and the fault around it. */
import { type Dice, dice } from "../dice.ts";
import { ACTING_FAULT_NAMES, type ActingFault, isOfAgent } from "./fault-names.ts";

/** `plain`: a switch that reports its state. `blind`: one that has no state, so nothing ever confirms a command. */
export type DeviceKind = "plain" | "blind";
/** `agent`: an action of the paired agent, in place of a switch. */
type PlannedStep = {
  device: DeviceKind | "agent";
  /** Before it, in ms. */
  waitMs: number;
};

/** A rule that acts only if this is so. */
export type PlannedPresence = {
  needs: "nobody_home" | "somebody_home";
  /** What decides it: a sensor that the bridge's settings name, or a person's word. */
  by: "sensor" | "word";
  /** It is so when the value crosses. Otherwise the rule must not act. */
  isSo: boolean;
  /** It is no longer so once the first action was done. */
  turns: boolean;
};

/** A rule with one firing. */
export type PlannedRule = {
  /** Unique in a run: `A0312`. */
  name: string;
  /** The firing's number in the run: `--only` takes it. */
  k: number;
  /** `number`: above a limit. `contact`: open. `both`: two conditions. `event`: a press of a button, a moment. */
  trigger: "number" | "contact" | "both" | "event";
  /** How long the value has to last. */
  holdMs: number;
  steps: PlannedStep[];
  over: "leave" | "off" | "undo";
  /** Absent: none. */
  atMostMs?: number;
  says: boolean;
  presence?: PlannedPresence;
  /** The value goes back when its run is over. */
  recovers: boolean;
  fault: PlannedFault;
};

/**
 * Rows of the table of where a run lives: before the firing is on the disk, after it, when an action is begun, when it is sent, when its
 * device reported, during a wait, when the run's end is on the disk, when the news leaves, and when the end begins.
 */
export const ACTING_MOMENTS = [
  "crosses",
  "fired",
  "begun",
  "sent",
  "reported",
  "waits",
  "ended",
  "news",
  "over",
] as const;
export type ActingMoment = (typeof ACTING_MOMENTS)[number];

export type PlannedFault = {
  name: ActingFault;
  moment: ActingMoment;
  /** Milliseconds after the moment. */
  jitter: number;
  /** Milliseconds, of a fault with a duration. */
  lasts: number;
  /** It waits until everything is connected and quiet is over; otherwise it may come while the fault before still lasts. */
  patient: boolean;
};

export type PlannedHouse = {
  house: number;
  /** In the order in which they are set off. */
  rules: PlannedRule[];
  /** Rules that must never act, and why. */
  quiet: QuietRule[];
};

/**
 * `never`: its value stays below the limit. `from the start`: it is so when the rule is made, and stays so. `later`: it has a time in two
 * hours, which no set clock brings nearer. `dropped`: it is taken away before its value crosses. `unknown`: its value comes and goes.
 */
const QUIET_KINDS = ["never", "from the start", "later", "dropped", "unknown"] as const;
export type QuietRule = { name: string; kind: (typeof QUIET_KINDS)[number] };

/** A home has room for 50. */
const PER_HOUSE = 42;
const PATIENT = 0.85;
const LASTS_MIN_MS = 300;
const LASTS_MAX_MS = 3_500;
/**
 * What rules have more, by the last digit of a firing's number: an agent's action, a look at who is at home, a moment. It is thrown with
 * dice of its own, so that the other rules of a seed are what they were.
 */
const MORE: readonly ("agent" | "presence" | "event" | undefined)[] = [
  ...[undefined, "agent", undefined, undefined, "agent"],
  ...[undefined, undefined, "presence", undefined, "event"],
] as const;
/** What happens between two steps takes about this long. */
const STEP_MS = 40;

/** @param only these firings; each is planned alike, whatever else is run @param isPlayed there are no agent and no words of persons */
export function planHouses(
  seed: number,
  count: number,
  faults: readonly ActingFault[] = ACTING_FAULT_NAMES,
  only?: readonly number[],
  isPlayed = false,
): PlannedHouse[] {
  const met = isPlayed ? faults.filter((one) => !isOfAgent(one)) : faults;
  const all = (only ?? Array.from({ length: count }, (_, k) => k)).map((k) =>
    planRule(seed, k, met, isPlayed),
  );
  const houses = Math.max(1, Math.ceil(all.length / PER_HOUSE));
  const size = Math.ceil(all.length / houses);
  return Array.from({ length: houses }, (_, house) => {
    const rules = all.slice(house * size, (house + 1) * size);
    return { house, rules: dice(seed, `acting house ${house}`).shuffled(rules), quiet: quietOf(house) };
  });
}

function quietOf(house: number): QuietRule[] {
  return QUIET_KINDS.map((kind, n) => ({ name: `Q${String(house).padStart(2, "0")}${n + 1}0`, kind }));
}

type Unfaulted = Omit<PlannedRule, "fault">;

function planRule(seed: number, k: number, faults: readonly ActingFault[], isPlayed: boolean): PlannedRule {
  const throws = dice(seed, `acting ${k}`);
  const over = throws.pick(["leave", "off", "off", "undo"] as const);
  const steps = Array.from(
    { length: throws.pick([1, 1, 2, 2, 3]) },
    (_, n): PlannedStep => ({
      // Nothing says what a blind one was before.
      device: throws.chance(0.12) && over !== "undo" ? "blind" : "plain",
      waitMs: n > 0 && throws.chance(0.35) ? throws.whole(1_000, 2_500) : 0,
    }),
  );
  const atMostMs = over !== "leave" && throws.chance(0.25) ? throws.whole(4_000, 8_000) : undefined;
  const plain: Unfaulted = {
    name: `A${String(k).padStart(4, "0")}`,
    k,
    trigger: throws.pick(["number", "number", "contact", "both"]),
    holdMs: throws.chance(0.2) ? throws.whole(1_000, 2_500) : 0,
    steps,
    over,
    ...(atMostMs !== undefined && { atMostMs }),
    says: throws.chance(0.3),
    // Each run has an end.
    recovers: over === "leave" ? throws.chance(0.2) : atMostMs === undefined || throws.chance(0.5),
  };
  const name = faultOf(seed, k, faults);
  const rule = isPlayed ? plain : withMore(seed, plain, isOfAgent(name));
  return { ...rule, fault: planFault(throws, name, rule) };
}

/** Each fault comes as often as each other one, whatever the size of the run; those of the agent in place of some, where it has a part. */
function faultOf(seed: number, k: number, faults: readonly ActingFault[]): ActingFault {
  const others = faults.filter((one) => !isOfAgent(one));
  const own = faults.filter(isOfAgent);
  const isOwn = MORE[k % MORE.length] === "agent" && Math.floor(k / others.length) % 2 === 1;
  const from = others.length === 0 || (isOwn && own.length > 0) ? own : others;
  // Every fifth firing is the agent's.
  const place = isOwn ? Math.floor((k + 1) / 5) : k;
  return from[(place + seed) % from.length] ?? "none";
}

function withMore(seed: number, rule: Unfaulted, hasAgent: boolean): Unfaulted {
  const throws = dice(seed, `acting more ${rule.k}`);
  const more = MORE[rule.k % MORE.length];
  const chosen = more === "event" ? ofEvent(rule, throws) : rule;
  const after = more === "presence" ? { ...chosen, presence: presenceOf(throws) } : chosen;
  const isAgents = hasAgent || more === "agent" || (more !== undefined && throws.chance(0.3));
  return isAgents ? withAgent(after, throws) : after;
}

/** A moment lasts for no time, and only a time ends it. */
function ofEvent(rule: Unfaulted, throws: Dice): Unfaulted {
  const atMostMs = throws.whole(4_000, 8_000);
  const ends = rule.over === "leave" ? {} : { atMostMs: rule.atMostMs ?? atMostMs };
  return { ...rule, ...ends, trigger: "event", holdMs: 0, recovers: false };
}

function presenceOf(throws: Dice): PlannedPresence {
  const isSo = throws.chance(0.7);
  return {
    needs: throws.pick(["nobody_home", "somebody_home"]),
    by: throws.pick(["sensor", "word"]),
    isSo,
    turns: isSo && throws.chance(0.3),
  };
}

/** Nothing brings an agent's action back. */
function withAgent(rule: Unfaulted, throws: Dice): Unfaulted {
  const { steps, over } = rule;
  const at = throws.whole(0, steps.length);
  const waitMs = at > 0 && throws.chance(0.35) ? throws.whole(1_000, 2_500) : 0;
  const own = { device: "agent", waitMs } as const;
  const isAlone = over === "leave" && throws.chance(0.3);
  return {
    ...rule,
    over: over === "undo" ? "off" : over,
    steps: isAlone ? [{ ...own, waitMs: 0 }] : [...steps.slice(0, at), own, ...steps.slice(at)],
  };
}

function planFault(
  throws: Dice,
  name: ActingFault,
  rule: Pick<PlannedRule, "steps" | "over" | "recovers" | "says">,
): PlannedFault {
  const moments: ActingMoment[] = ["crosses", "fired", "begun", "sent", "reported", "ended"];
  if (rule.steps.some(({ waitMs }) => waitMs > 0)) moments.push("waits", "waits");
  if (rule.says) moments.push("news", "news");
  if (rule.over !== "leave" && rule.recovers) moments.push("over", "over");
  return {
    name,
    // Devices that do not report are so from the beginning.
    moment: name.endsWith(":device") ? "crosses" : throws.pick(moments),
    jitter: throws.chance(0.5) ? 0 : throws.whole(0, STEP_MS),
    lasts: throws.whole(LASTS_MIN_MS, LASTS_MAX_MS),
    patient: throws.chance(PATIENT),
  };
}
