/** Plans each turn from the seed: the called agents, the fault, and its moment. */
import { type Dice, dice } from "./dice.ts";
import { FAULTS, type FaultName } from "./fault-names.ts";

/** The agents of the home that is asked. */
export const OWN_AGENTS = ["alder", "birch", "cedar"] as const;
/** The other home lends it, under this name. */
export const LENT_AGENT = "far/dogwood";
export const AGENTS = [...OWN_AGENTS, LENT_AGENT] as const;
export type AgentId = (typeof AGENTS)[number];

export type PlannedCall = {
  agent: AgentId;
  /** Milliseconds that it works before it takes effect. */
  wait: number;
  /** Absent: one call of `append`. `job`: a job of `bash`. A script: the agent is asked in words, and its own model plays this. */
  does?: "job" | TurnScript;
};

/** The model endpoint's part in a turn, or in the loop of an agent that is asked in words. The question carries it. */
export type TurnScript = {
  /** The turn's key, or the place of the call in which the agent is asked. */
  turn: string;
  /** The agent whose own model plays it. Absent: the gateway's model. */
  of?: AgentId;
  /** The calls of each step. The answer follows the last step. */
  steps: PlannedCall[][];
  /** Milliseconds before each reply of the model. */
  delay: number;
};

/** A call with its place in the plan, which is unique in a run. It is also the name of the file in which it leaves its effect. */
export type PlacedCall = PlannedCall & { place: string };

/** The calls of a script in their order, without those of the agents' own models. */
export function callsOf({ turn, steps }: TurnScript): PlacedCall[] {
  return steps.flatMap((_, step) => callsOfStep({ turn, steps }, step));
}

export function callsOfStep({ turn, steps }: Pick<TurnScript, "turn" | "steps">, step: number): PlacedCall[] {
  return (steps[step] ?? []).map((call, at) => ({ ...call, place: placeOf(turn, step, at) }));
}

function placeOf(turn: string, step: number, at: number): string {
  return `${turn}.${step}.${at}`;
}

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
  /** `program`: no turn, but a call that a connected program makes over MCP. */
  client: "json" | "events" | "program";
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
/**
 * One of so many turns has a job, so that a conversation has at most one. More jobs of an agent than 20 an hour begin no turn of
 * their own.
 */
const JOB_EVERY = 10;
const JOB_AT = 7;
/** One of so many is a call of the connected program. */
const PROGRAM_EVERY = 8;
const PROGRAM_AT = 3;
/** This share of the other turns asks an agent in words. */
const ASKS = 0.3;
/** This share of the calls goes to the lent agent, where the fault does not demand one. */
const LENT = 0.15;

/** @param faults those that the machine can inject, or that were requested */
export function planTurn(seed: number, k: number, faults: readonly FaultName[]): PlannedTurn {
  const throws = dice(seed, `turn ${k}`);
  const name = faultOf(seed, k, faults);
  const key = `chaos-${seed}-${k}`;
  const isProgram =
    k % PROGRAM_EVERY === PROGRAM_AT && k % JOB_EVERY !== JOB_AT && FAULTS[name].kind !== "reorder";
  const steps = planSteps(throws, name, key, k, isProgram);
  const isFill = FAULTS[name].kind === "fill";
  // An agent meets a full disk when it records a call, so half of these faults come before that.
  const delay = isFill ? throws.whole(100, 400) : throws.whole(0, DELAY_MAX_MS);
  const longest = steps.map(longestOf);
  const about = longest.reduce((sum, wait) => sum + wait, TURN_MS) + delay * (steps.length + 1);
  const shared = k % 4 < SHARED_OF_FOUR && throws.chance(0.5);
  return {
    k,
    conversation: shared ? `chaos-${seed}-shared-${Math.floor(k / 4)}` : key,
    key,
    client: isProgram ? "program" : throws.chance(0.5) ? "events" : "json",
    patient: throws.chance(PATIENT),
    script: { turn: key, steps, delay },
    fault: {
      name,
      // A strike waits for its message.
      at:
        FAULTS[name].kind === "strike" || (isFill && throws.chance(0.5))
          ? 0
          : momentOf(throws, delay, longest[0] ?? 0, about),
      agent: isAtLender(name) ? LENT_AGENT : throws.pick(agentsOf(steps[0]?.slice(0, 1) ?? [])),
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

/** True if only calls between the two homes meet the fault. */
function isAtLender(name: FaultName): boolean {
  const { target } = FAULTS[name];
  return target === "lender" || target === "link:peer";
}

/** The agents of these calls, also those that the agents' own models call. */
export function agentsOf(calls: readonly PlannedCall[]): AgentId[] {
  const agents = calls.flatMap(({ agent, does }) => [
    agent,
    ...(typeof does === "object" ? agentsOf(does.steps.flat()) : []),
  ]);
  return [...new Set(agents)];
}

function longestOf(calls: readonly PlannedCall[]): number {
  const one = ({ wait, does }: PlannedCall): number =>
    typeof does === "object" ? does.steps.reduce((sum, step) => sum + longestOf(step), TURN_MS) : wait;
  return Math.max(...calls.map(one));
}

/** @param isSingle one call of `append` */
function planSteps(
  throws: Dice,
  fault: FaultName,
  key: string,
  k: number,
  isSingle: boolean,
): PlannedCall[][] {
  const { kind, timed } = FAULTS[fault];
  const call = (agent: AgentId): PlannedCall => ({
    agent,
    // Some calls do not wait: then the result is on its way when the fault comes.
    wait: throws.chance(0.25) ? 0 : throws.whole(0, WAIT_MAX_MS),
  });
  const [one, other] = throws.shuffled(OWN_AGENTS) as [AgentId, AgentId];
  // Reordering needs a second message to the same agent.
  if (kind === "reorder") return [[call(one), call(one), call(other)]];
  // The recovery of our own programs is timed with our own agents.
  const isLent = isAtLender(fault) || (!timed && throws.chance(LENT));
  const first = isLent ? LENT_AGENT : one;
  if (k % JOB_EVERY === JOB_AT) return [[{ ...call(first), does: "job" }]];
  if (isSingle) return [[call(first)]];
  if (throws.chance(ASKS))
    return [[planAsked(throws, call, placeOf(key, 0, 0), first, throws.shuffled(OWN_AGENTS))]];
  const form = throws.next();
  if (form < 0.6) return [[call(first)]];
  if (form < 0.75) return [[call(first), call(other)]];
  if (form < 0.9) return [[call(first), call(other), call(first)]];
  return [[call(first)], [call(other)]];
}

/**
 * A call that asks an agent in words: its own model calls the last agent, or asks another agent to do so.
 * @param last the agent at which it takes effect
 */
function planAsked(
  throws: Dice,
  call: (agent: AgentId) => PlannedCall,
  place: string,
  last: AgentId,
  agents: readonly AgentId[],
): PlannedCall {
  const delay = throws.whole(0, DELAY_MAX_MS);
  const [first, next] = agents.filter((agent) => agent !== last);
  const form = throws.next();
  const asked = (agent: AgentId, inner: PlannedCall[][]): PlannedCall => ({
    agent,
    wait: 0,
    does: { turn: place, of: agent, steps: inner, delay },
  });
  // A lent agent calls only lent agents: itself.
  if (!first || form < 0.2) return asked(last, [[call(last)]]);
  if (!next || form < 0.6) return asked(first, [[call(last)]]);
  if (form < 0.75) return asked(first, [[call(last), call(next)]]);
  return asked(first, [[planAsked(throws, call, placeOf(place, 0, 0), last, [next])]]);
}
