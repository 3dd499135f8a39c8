/** Home's list of its agents, for the model (edge-call.ts) and for `GET /v1/agents`. */
import { agentSource, firstUseSource, type Source } from "@edgecall/core/loop/taint.ts";
import type { Viewer } from "./may-see.ts";

export { oneLine } from "@edgecall/core/tools/one-line.ts";

export type RosterAgent = {
  id: string;
  online: boolean;
  /** The reason why it is offline. */
  reason: string | undefined;
  /** Epoch ms of its last sign of life; null when there never was one. */
  lastSeen: number | null;
  /** What it is called, where that says more than its id, as of names in Chinese. A label, or a person has accepted it. */
  name?: string;
  /** Its advert, cut and on one line. The text is untrusted. */
  line: string;
  /** Names of the actions it advertises. */
  actions: string[];
  /** The actions that may wait for it while it is offline. */
  queues: string[];
  /** True when it can be asked in words. Foreign agents do not say, so it is always true for them. */
  hasModel: boolean;
  foreign: boolean;
  /** Agents of one group do the same work. An owner has accepted its name. */
  group?: string;
  /** No owner has accepted its texts about itself yet. */
  newText?: true;
  /** Its texts count by their first use: nothing but ALLOW_UNSIGNED_AGENTS=* lets it in. */
  firstUse?: true;
  /** A device of the broker that the bridge plays. Whether a person is asked is decided by Home. */
  hosted?: true;
};

/** @returns "device-87c0de (浴室窗户)": an id of a name in other letters says nothing */
export function idWithName({ id, name }: Pick<RosterAgent, "id" | "name">): string {
  return name === undefined ? id : `${id} (${name})`;
}

/** Returns the sources of words that a list shows although no person has accepted them. */
export function unreadSources(agents: readonly RosterAgent[]): Source[] {
  return agents.flatMap(({ id, newText, firstUse }) =>
    newText ? [agentSource(id)] : firstUse ? [firstUseSource(id)] : [],
  );
}

/** A home of so many agents has all of them listed for a model. Of a larger one it is told those that fit the question. */
export const LISTED_MAX = 20;

export type Roster = {
  bridgeOnline: boolean;
  agents: RosterAgent[];
  /** The bridge keeps values of devices, or it is away and may. */
  history?: true;
  /** The bridge runs rules that act. */
  acts?: true;
  /** Set in a home of more than LISTED_MAX agents: `agents` are then the few that fit the question, the best first. */
  excerptOf?: HomeCounts;
};

/** Of the agents in a caller's reach. `kinds` and `areas`: how many agents of each, the most first. `kindsIn`: the kinds of each area, in their order. */
export type HomeCounts = {
  known: number;
  online: number;
  kinds: Array<[string, number]>;
  areas: Array<[string, number]>;
  kindsIn: Array<Array<[string, number]>>;
};

/** What a turn is about, for the excerpt of a large home. */
export type RosterQuestion = {
  /** The person's words. */
  text: string;
  /** Agents that the conversation used before this turn, the latest first. */
  used: string[];
  /** The only agents that the caller may reach; absent: all. */
  reach?: readonly string[] | undefined;
  /** The person's sentence, where it may be answered without a model. */
  sentence?: PersonsSentence;
};

/** A sentence that a person wrote, alone in its turn. */
export type PersonsSentence = {
  text: string;
  /** The language that the conversation was in last. */
  language?: string;
  /** The agents that this person's last turn was about, where "it" may mean them. */
  earlier?: string[];
  /** No model answers: the person is told what works here in its place. */
  alone?: true;
  /** What the feature noted when it asked this person back, just before. */
  back?: unknown;
  /** Names of the home's tools that a model of the conversation has. */
  tools: string[];
  /** Whose rules may be meant, and in which conversation. */
  asker: Asker;
};

export type Asker = { viewer: Viewer; conversation: string };

/** A rule as a sentence may mean it. @property agent the id of what it is about */
export type SpokenRule = {
  id: string;
  name: string;
  of: "watch" | "reminder" | "briefing" | "automation";
  isPaused: boolean;
  agent?: string;
};

/** @returns the time since an agent's last sign of life, in words: "3 min ago", "never" */
export function ago(then: number | null, now: number): string {
  if (then === null) return "never";
  const seconds = Math.max(0, Math.round((now - then) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}
