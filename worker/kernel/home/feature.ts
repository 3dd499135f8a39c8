/**
 * What a feature adds to a home's object. worker/home.ts lists the features. The kernel calls what they give here, and imports
 * none of them.
 */
import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import type { StandingPermission, Who } from "@edgecall/core/permissions/permission.ts";
import type { AutomationCondition } from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import type { SettledOutcome } from "../api/calls.ts";
import type { CallTarget } from "../api/edge-call.ts";
import type { HomeToolRequest, HomeTools } from "../api/home-tools.ts";
import type { Viewer } from "../api/may-see.ts";
import type { Notice, Pressed, RulePress } from "../api/notices.ts";
import type { EndReason } from "../api/permissions.ts";
import type { PlannedReply } from "../api/plan.ts";
import type { Asker, RosterAgent, RosterQuestion, SpokenRule } from "../api/roster.ts";
import type { ToolReply } from "../api/tool-answer.ts";
import { logError } from "../log.ts";
import type { Migration } from "../migrate.ts";
import type { Topics } from "../rpc-topics.ts";
import type { Connection } from "../settings/chat.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { HomeContext } from "./context.ts";
import type { LedgerCall } from "./ledger/ledger.ts";
import type { HomeAccess } from "./part.ts";

export type AlarmPart = {
  /** Changes nothing. @returns epoch ms; undefined: the part waits for nothing */
  nextDue(home: HomeContext, now: number): number | undefined;
  /** Does what is due, which may be nothing. */
  onAlarm(home: HomeContext, now: number): Promise<void> | void;
};

/** @property text what the device prints @property waits_for a person is asked about the call, or no longer (`nothing`) */
type CallProgress = { text?: string; waits_for?: "approval" | "an answer" | "nothing" };

/** What happens in a home. */
export type HomeEvents = {
  /** Agents or devices came, went or changed, or the bridge did. */
  presence(home: HomeContext): Promise<void>;
  /** Agents or devices were taken off the list. */
  agentsGone(home: HomeContext): Promise<void>;
  /** @param goneAt epoch ms since when the bridge was gone; undefined: it was not */
  bridgeWelcomed(
    home: HomeContext,
    hello: BridgeFrame & { t: "hello" },
    goneAt: number | undefined,
  ): Promise<void>;
  /** An agent came online that this home serves. */
  agentServed(home: HomeContext, agent: string): void;
  /** An agent has another key now. Both names are as `nameOfKey` gives them. */
  keyReplaced(home: HomeContext, before: string, after: string): void;
  /** Agents are to evaluate other conditions than before. */
  conditionsChanged(home: HomeContext, agents: readonly string[]): void;
  /** An event of an agent that belongs to no call. It was verified to be the agent's. */
  agentEvent(home: HomeContext, agent: string, event: AgentEvent & { type: "event" }): Promise<void>;
  /** A call goes on. Nothing of it is stored. */
  progress(home: HomeContext, call: LedgerCall, news: CallProgress): void;
  /** A conversation asks for the plan of a turn. */
  turnPlanned(home: HomeContext, now: number): void;
  /** A standing permission has ended. */
  permissionEnded(home: HomeContext, permission: StandingPermission, why: EndReason): void;
  /** A notice was written for these recipients. */
  noticeMade(home: HomeContext, notice: Notice, recipients: readonly string[]): void;
  /**
   * A recipient takes no notices.
   * @param rules that it was about @param instead recipients in its place @param why in words
   */
  notDelivered(
    home: HomeContext,
    rules: readonly string[],
    lost: { recipient: string; instead: readonly string[]; why: string },
  ): void;
};

/** Agents that are not at this home's bridge. */
export type OtherAgents = {
  /** Rises with each change of what a roster says of one. */
  readonly version: number;
  /** Called with the id of one whose words changed, or that came or went. */
  onChange: (id: string) => void;
  ids(now: number): string[];
  has(id: string, now: number): boolean;
  target(id: string, now: number): CallTarget | undefined;
  rosterAgent(id: string, now: number): RosterAgent | undefined;
  searchable(id: string, now: number): IndexedAgent | undefined;
};

/** Browsers and topics where a person is told what happens. */
export type Subscriptions = {
  all(home: HomeContext): ReadonlyArray<{ id: string; principal: string }>;
  /** What the person who turned this one on may do now, by the token that they did it with. @returns undefined: nothing any more */
  viewer(home: HomeContext, id: string): Viewer | undefined;
  /** @param opens the conversation that a notification opens @throws DeliverLaterError, or another error: try again later */
  deliver(home: HomeContext, id: string, opens: string | null, notice: Notice): Promise<void>;
};

/** Does what a frame of the bridge asks for. */
export type FrameHandler<Frame> = (
  home: HomeContext,
  frame: Frame,
  socket: WebSocket,
) => Promise<void> | void;

/** A table of frames. */
export type FrameHandlers = {
  readonly [Kind in BridgeFrame["t"]]?: FrameHandler<BridgeFrame & { t: Kind }>;
};

export type PrivateChat = { conversation: string; needsWord: boolean };

export type HomeFeature = {
  /** Its methods over RPC, by topic. */
  readonly rpc?: Topics<HomeAccess>;
  /** Its tables beside those of schema.ts. `part` of each step is the feature's name. */
  readonly migrations?: ReadonlyArray<Migration & { part: string }>;
  readonly alarm?: AlarmPart;
  /** Deletes what is old. Once an hour. */
  prune?(home: HomeContext, now: number): void;
  readonly on?: Partial<HomeEvents>;
  /** Frames of the bridge that the kernel does not know. */
  readonly frames?: FrameHandlers;
  /** A text of an agent that belongs to no call and is no event. @returns false: it means nothing to this feature */
  unsolicited?(home: HomeContext, agent: string, text: string): Promise<boolean>;
  /** Tools that the home runs, for models and for programs. */
  readonly tools?: HomeTools;
  /** Runs a tool of the home's. @returns undefined: the tool is not this feature's */
  tool?(home: HomeContext, request: HomeToolRequest): Promise<ToolReply> | undefined;
  /** Calls of agents that are not at this home's bridge. */
  readonly elsewhere?: {
    agents(home: HomeContext): OtherAgents;
    /** The call is to be stopped there. It may be lost. */
    cancel(home: HomeContext, call: LedgerCall): void;
  };
  /** Brings an outcome to another home that asked for the call. @returns false: it does not have it yet */
  answerHome?(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): boolean;
  /** Brings the outcome of a rule's step to where the rule runs. @returns false: it does not have it, and asks again */
  answerRule?(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): boolean;
  /** @returns true: the id means something else here, so no device gets it */
  claimsId?(home: HomeContext, id: string, now: number): boolean;
  /** A program uses what a person granted it. @returns undefined: there is no such grant */
  useGrant?(home: HomeContext, id: string): ApiToken | undefined;
  /** @returns true: this program, other home or rule of the feature is still there, as a permission names it */
  hasAsker?(home: HomeContext, who: Exclude<Who, "everybody">): boolean;
  /** Conditions that agents evaluate for the bridge, of any agent. */
  conditions?(home: HomeContext): AutomationCondition[];
  readonly subscriptions?: Subscriptions;
  /** Answers the question's sentence without a model. @returns undefined: it has none, or nothing is to be said about it */
  planReply?(home: HomeContext, question: RosterQuestion, now: number): Promise<PlannedReply | undefined>;
  /** Rules that this person may change, as a sentence may mean them. */
  spokenRules?(home: HomeContext, asker: Asker): SpokenRule[];
  /** A person pressed a button of a notice. @returns undefined: the rule is none of this feature's */
  press?(home: HomeContext, press: RulePress): Promise<Pressed> | undefined;
  /** The rules of `spokenRules`, in words: for the list of all rules. */
  listRules?(home: HomeContext, request: HomeToolRequest): Promise<string[]>;
  /** What of this feature changed a device then (epoch ms), in words. @returns undefined: nothing that it knows of */
  causeOf?(home: HomeContext, agent: string, at: number, viewer: Viewer): Promise<string | undefined>;
  /**
   * @returns the conversation of a person's private chat, and whether it takes messages only when the person has written there;
   * undefined: the platform has none that the gateway could name
   */
  privateChat?(connection: Connection, sender: string): PrivateChat | undefined;
};

const lists = new WeakMap<HomeContext, readonly HomeFeature[]>();

/** Before anything else happens in a home's object. */
export function setFeatures(home: HomeContext, features: readonly HomeFeature[]): void {
  lists.set(home, features);
}

/** The features of a home, in the order of the list. */
export function featuresOf(home: HomeContext): readonly HomeFeature[] {
  return lists.get(home) ?? [];
}

/** Tools of these features, that a home runs. */
export function homeToolsOf(features: readonly HomeFeature[]): HomeTools[] {
  return features.flatMap(({ tools }) => tools ?? []);
}

/** Rules that this person may change, of all features. */
export function spokenRules(home: HomeContext, asker: Asker): SpokenRule[] {
  return featuresOf(home).flatMap((feature) => feature.spokenRules?.(home, asker) ?? []);
}

/** Rules of features that list their own, in words. */
export async function listedElsewhere(home: HomeContext, request: HomeToolRequest): Promise<string[]> {
  const lists = featuresOf(home).map(({ listRules }) => listRules?.(home, request) ?? []);
  return (await Promise.all(lists)).flat();
}

/** What of the features changed a device then (epoch ms), in words. */
export async function causeOf(
  home: HomeContext,
  ...what: Tail<Parameters<NonNullable<HomeFeature["causeOf"]>>>
): Promise<string | undefined> {
  for (const feature of featuresOf(home)) {
    const cause = await feature.causeOf?.(home, ...what);
    if (cause !== undefined) return cause;
  }
  return undefined;
}

/** The first feature that answers without a model. One that fails answers nothing: the question is left to a model. */
export async function plannedReply(
  home: HomeContext,
  question: RosterQuestion,
  now: number,
): Promise<PlannedReply | undefined> {
  for (const { planReply } of featuresOf(home)) {
    try {
      const reply = await planReply?.(home, question, now);
      if (reply) return reply;
    } catch (error) {
      logError("sentence.failed", error, {});
    }
  }
  return undefined;
}

/**
 * Tells all features of it, in the order of the list. What a handler does before it waits is done when this returns, and what it
 * throws until then is thrown here.
 * @returns resolves when all handlers have ended
 */
export function emit<Name extends keyof HomeEvents>(
  name: Name,
  home: HomeContext,
  ...args: Tail<Parameters<HomeEvents[Name]>>
): Promise<void> {
  const ended = featuresOf(home).map(({ on }) => {
    // SAFETY: `args` are those of this event.
    const handle = on?.[name] as ((home: HomeContext, ...all: unknown[]) => Promise<void> | void) | undefined;
    return handle?.(home, ...args);
  });
  return Promise.all(ended).then(() => {});
}

type Tail<All extends unknown[]> = All extends [unknown, ...infer Rest] ? Rest : never;
