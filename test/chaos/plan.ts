/** Plans each turn from the seed: the called agents, the fault, and its moment. */
import { type Dice, dice } from "./dice.ts";
import { FAULTS, type FaultName } from "./fault-names.ts";

export const AGENTS = ["alder", "birch", "cedar"] as const;
export type AgentId = (typeof AGENTS)[number];

/** One call of `append`: the agent, and the milliseconds that it works before it takes effect. */
type PlannedCall = { agent: AgentId; wait: number };

/** The model endpoint's part in a turn. The question carries it. */
export type TurnScript = {
  turn: string;
  /** The calls of each step. The answer follows the last step. */
  steps: PlannedCall[][];
  /** Milliseconds before each reply of the model. */
  delay: number;
};

export type PlannedFault = {
  name: FaultName;
  /** Milliseconds after the question was sent. */
  at: number;
  /** The agent of a fault that concerns an agent or its link. */
  agent: AgentId;
  /** Milliseconds, for faults with a duration: a freeze, a cut, a delay, a window in which messages are doubled. */
  lasts: number;
  /** Milliseconds that a slow link adds to each piece. */
  slow: number;
  /**
   * No other fault starts until everything works again, because otherwise the recovery time would not be this fault's
   * own.
   */
  alone: boolean;
};

export type PlannedTurn = {
  k: number;
  conversation: string;
  key: string;
  client: "json" | "events";
  /** The turn waits until the agents answer; otherwise most turns would only learn that the bridge is away. */
  patient: boolean;
  script: TurnScript;
  fault: PlannedFault;
};

/** The tool waits between no time and longer than any hop takes. */
const WAIT_MAX_MS = 800;
const DELAY_MAX_MS = 120;
const FAULT_MIN_MS = 200;
const FAULT_MAX_MS = 3_000;
/** The time of a turn in addition to its waits: three hops in each direction, and two model calls. */
const TURN_MS = 60;
/** A message normally crosses all hops in this time. */
const NEAR_MS = 40;
/** This share of the kills is timed. */
const ALONE = 0.5;
/** This share of the turns waits until the agents answer; the others are asked during any fault. */
const PATIENT = 0.8;
/** Two of each four turns share one conversation, and queue there. */
const SHARED_OF_FOUR = 2;

/** @param faults those that the machine can inject, or that were requested */
export function planTurn(seed: number, k: number, faults: readonly FaultName[]): PlannedTurn {
  const throws = dice(seed, `turn ${k}`);
  const name = faultOf(seed, k, faults);
  const steps = planSteps(throws, name);
  const isFill = FAULTS[name].kind === "fill";
  // An agent meets a full disk when it records a call, so half of these faults come before that.
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
      // A strike waits for its message.
      at:
        FAULTS[name].kind === "strike" || (isFill && throws.chance(0.5))
          ? 0
          : momentOf(throws, delay, longest[0] ?? 0, about),
      agent: steps[0]?.[0]?.agent ?? AGENTS[0],
      lasts: throws.whole(FAULT_MIN_MS, FAULT_MAX_MS),
      slow: throws.whole(50, 800),
      // It hits two targets.
      alone: (FAULTS[name].timed && throws.chance(ALONE)) || name === "strike:both",
    },
  };
}

/** Half of the faults come at any moment, the others while a message (a call or its result) is on its way. */
function momentOf(throws: Dice, delay: number, wait: number, about: number): number {
  const form = throws.next();
  if (form < 0.5) return throws.whole(0, about);
  const sent = throws.whole(delay, delay + NEAR_MS);
  return form < 0.75 ? sent : sent + wait;
}

/** In each round every fault comes once and each kill twice, in the round's own order. */
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
    // Some calls do not wait: then the result is on its way when the fault comes.
    wait: throws.chance(0.25) ? 0 : throws.whole(0, WAIT_MAX_MS),
  });
  const [one, other] = throws.shuffled(AGENTS);
  // Reordering needs a second message to the same agent.
  if (FAULTS[fault].kind === "reorder") return [[call(one), call(one), call(other)]];
  const form = throws.next();
  if (form < 0.6) return [[call()]];
  if (form < 0.75) return [[call(one), call(other)]];
  if (form < 0.9) return [[call(one), call(other), call(one)]];
  return [[call()], [call()]];
}
