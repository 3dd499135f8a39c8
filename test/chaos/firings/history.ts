/** What a season leaves to be judged, and the kinds of violation. */
import type { FiringFault } from "./fault-names.ts";
import type { SentText } from "./house.ts";
import type { Moment, PlannedFiring } from "./plan.ts";

export type FiringRecord = PlannedFiring & {
  /** The volley. */
  k: number;
  fault: FiringFault;
  moment: Moment;
  /** The step came, and the fault with it. */
  met: boolean;
  /** Epoch ms. */
  crossedAt: number;
  /** When its value went back, after it was told. */
  backAt?: number;
};

export type SeasonHistory = {
  season: number;
  firings: readonly FiringRecord[];
  /** Turns of the API's conversations that nobody asked, in their order. `at`: epoch ms. */
  noticed: ReadonlyArray<{ text: string; at: number; conversation: string }>;
  /** What the chats show. */
  shown: Record<"telegram" | "generic", readonly string[]>;
  /** What the platforms took, also what they recognised as repeated. */
  taken: Record<"telegram" | "generic", readonly SentText[]>;
  /** When the broker went away, and with it each device (epoch ms). */
  brokerAway: readonly number[];
  /** Times in which the answer to a message may have been lost (performance.now()). */
  lossy: ReadonlyArray<{ from: number; to: number }>;
  /** The firings that Home has of each rule that goes on, by its name. */
  occurrences: ReadonlyMap<string, number>;
  troubles: readonly string[];
};

export const FIRING_VIOLATIONS = {
  lost: "firings that were never told",
  twice:
    "firings that are in their conversation twice, or that a chat shows twice though it can tell repeats",
  again: "messages that a chat has twice though the answer to the first was not lost",
  invented: "firings that were told and never were, or not as they were told",
  over: "ends that were told twice, or without their firing",
  died: "programs that ended by themselves",
} as const;
export type FiringViolationKind = keyof typeof FIRING_VIOLATIONS;
export type FiringViolation = { kind: FiringViolationKind; season: number; rule?: string; what: string };
