/** A run's history, which is judged: questions, answers, effects and records; and the kinds of violation. */
import type { Asked, SeenCall, SeenTurn } from "./client.ts";
import { placeOf } from "./model.ts";
import { callsOf, type PlacedCall, type PlannedTurn, type TurnScript } from "./plan.ts";
import type { CallsRecord } from "./record.ts";
import type { Effect } from "./stack.ts";

/** A turn, and everything that was seen of it. */
export type AskedTurn = {
  conversation: string;
  key: string;
  client: PlannedTurn["client"];
  script: TurnScript;
  asked: Asked;
  /**
   * Each later look: directly after the answer with the same key, and at the end. Undefined: the turn was not found.
   */
  looks: Array<SeenTurn | undefined>;
};

export type History = {
  turns: readonly AskedTurn[];
  /** The gateway's turns in each conversation, with their questions. */
  conversations: ReadonlyMap<string, ReadonlyArray<SeenTurn & { text: string }>>;
  /** The effects of the calls, per agent, in order. */
  effects: ReadonlyMap<string, readonly Effect[]>;
  /** Of the home that was asked, and of the one that lends. */
  records: { own: CallsRecord; lender: CallsRecord };
  /** Histories that the model endpoint refused. */
  breaches: readonly string[];
  /** Programs that ended by themselves, in words. */
  died: readonly string[];
};

export const VIOLATIONS = {
  lost: "turns lost",
  again: "turns answered twice, or not always the same",
  twice: "calls executed twice",
  claimed: "successes claimed without a result",
  denied: "calls that ran, though it was said that nothing was run",
  stray: "effects that belong to no call of their agent",
  open: "finished turns with an open call",
  wrong: "answers that are not the turn's own",
  told: "ends of jobs that were not told once",
  record: "lines of the record that are missing or untrue",
  client: "things that no client should see",
  history: "histories that no model endpoint would take",
  died: "programs that ended by themselves",
} as const;
export type ViolationKind = keyof typeof VIOLATIONS;
export type Violation = { kind: ViolationKind; turn?: string; what: string };

/** The ids under which each place of the plan took effect. */
export type Effects = ReadonlyMap<string, readonly string[]>;

/** The calls that take effect: of a question in words those of the agents' own models. */
export function leavesOf(call: PlacedCall): PlacedCall[] {
  return typeof call.does === "object" ? callsOf(call.does).flatMap(leavesOf) : [call];
}

/** Returns what was shown of a planned call. */
export function seenAt({ place }: PlacedCall, calls: readonly SeenCall[]): SeenCall | undefined {
  return calls.find(({ args }) => placeOf(args) === place);
}
