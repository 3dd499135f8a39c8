/** What happens in each turn: who is called, what breaks, and when. All of it follows from the seed. */
import { type Dice, dice } from "./dice.ts";
import { FAULTS, type FaultName } from "./fault-names.ts";

export const AGENTS = ["alder", "birch", "cedar"] as const;
export type AgentId = (typeof AGENTS)[number];

/** One call of `append`: which agent, and how long it works before it takes effect, in ms. */
export type PlannedCall = { agent: AgentId; wait: number };

/** What the model endpoint does in a turn; it stands in the question itself. */
export type TurnScript = {
  turn: string;
  /** The calls of each step; after the last one comes the answer. */
  steps: PlannedCall[][];
  /** ms before each reply of the model. */
  delay: number;
};

export type PlannedFault = {
  name: FaultName;
  /** ms after the question was sent. */
  at: number;
  /** The agent that a fault at an agent or its link is for. */
  agent: AgentId;
  /** ms, for what lasts: a freeze, a cut, a delay, a window in which messages are doubled. */
  lasts: number;
  /** ms that a slow link adds to each piece. */
  slow: number;
  /** Nothing else breaks until everything works again: only then is a recovery time this fault's own. */
  alone: boolean;
};

export type PlannedTurn = {
  k: number;
  conversation: string;
  key: string;
  client: "json" | "events";
  /** Asked when the agents answer: else most turns would only hear that the bridge is away. */
  patient: boolean;
  script: TurnScript;
  fault: PlannedFault;
};

/** Waits of the tool, as in the brief of the exercise: from "at once" to longer than any hop. */
const WAIT_MAX_MS = 800;
const DELAY_MAX_MS = 120;
const FAULT_MIN_MS = 200;
const FAULT_MAX_MS = 3_000;
/** What a turn takes beside waiting: three hops there and back, and two model calls. */
const TURN_MS = 60;
/** A message crosses all hops in this time, as a rule. */
const NEAR_MS = 40;
/** This share of the kills is timed. */
const ALONE = 0.5;
/** The others are asked whatever is broken at that moment. */
const PATIENT = 0.8;
/** Turns that queue behind each other in one conversation: two of each four. */
const SHARED_OF_FOUR = 2;

/** @param faults those that the machine can do, or that were asked for */
export function planTurn(seed: number, k: number, faults: readonly FaultName[]): PlannedTurn {
  const throws = dice(seed, `turn ${k}`);
  const name = faultOf(seed, k, faults);
  const steps = planSteps(throws, name);
  const isFill = FAULTS[name].kind === "fill";
  // A full disk is met when a call is written down: half of them are to come before it.
  const delay = isFill ? throws.whole(100, 400) : throws.whole(0, DELAY_MAX_MS);
  const longest = steps.map((calls) => Math.max(...calls.map((call) => call.wait)));
  const about = longest.reduce((sum, wait) => sum + wait, TURN_MS) + delay * (steps.length + 1);
  const key = `chaos-${seed}-${k}`;
  const shared = k % 4 < SHARED_OF_FOUR && throws.chance(0.5);
  return {
    k,
    conversation: shared ? `chaos-${seed}-shared-${Math.floor(k / 4)}` : key,
    key,
    client: throws.chance(0.5) ? "events" : "json",
    patient: throws.chance(PATIENT),
    script: { turn: key, steps, delay },
    fault: {
      name,
      at: isFill && throws.chance(0.5) ? 0 : momentOf(throws, delay, longest[0] ?? 0, about),
      agent: steps[0]?.[0]?.agent ?? AGENTS[0],
      lasts: throws.whole(FAULT_MIN_MS, FAULT_MAX_MS),
      slow: throws.whole(50, 800),
      alone: FAULTS[name].timed && throws.chance(ALONE),
    },
  };
}

/** Half of the faults come at any moment, the others when a message is on its way: a call, or its result. */
function momentOf(throws: Dice, delay: number, wait: number, about: number): number {
  const form = throws.next();
  if (form < 0.5) return throws.whole(0, about);
  const sent = throws.whole(delay, delay + NEAR_MS);
  return form < 0.75 ? sent : sent + wait;
}

/** In each round every fault comes once, the kills twice, in an order of its own. */
function faultOf(seed: number, k: number, faults: readonly FaultName[]): FaultName {
  const round = faults.flatMap((name) => (FAULTS[name].timed ? [name, name] : [name]));
  const shuffled = dice(seed, `round ${Math.floor(k / round.length)}`).shuffled(round);
  const name = shuffled[k % round.length];
  if (name === undefined) throw new Error("no faults to choose from");
  return name;
}

function planSteps(throws: Dice, fault: FaultName): PlannedCall[][] {
  const call = (agent: AgentId = throws.pick(AGENTS)): PlannedCall => ({
    agent,
    // Some at once: then the result is on its way when the fault comes.
    wait: throws.chance(0.25) ? 0 : throws.whole(0, WAIT_MAX_MS),
  });
  const [one, other] = throws.shuffled(AGENTS);
  // Without a second message to the same agent there is nothing to change places with.
  if (FAULTS[fault].kind === "reorder") return [[call(one), call(one), call(other)]];
  const form = throws.next();
  if (form < 0.6) return [[call()]];
  if (form < 0.75) return [[call(one), call(other)]];
  if (form < 0.9) return [[call(one), call(other), call(one)]];
  return [[call()], [call()]];
}
