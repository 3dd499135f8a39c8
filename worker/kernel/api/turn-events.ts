/** The events of a turn, as its conversation sends them to clients. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import type { PastTurn, TurnQuestion, TurnResult } from "./answers.ts";

export type CallProgress = { call: string; tool?: string | undefined; text: string };

/**
 * An event for a client that waits for a turn. `id` is the conversation's seq: a client that re-attaches with the last one
 * misses nothing that counts. Deltas carry none: the whole message follows them.
 */
export type TurnEvent =
  | { event: "turn"; data: { turn: string; status: "running" } }
  /** `at`: how many characters of this step came before it; a client that came late sees the gap. */
  | { event: "delta"; data: { text: string; at: number } }
  /** The model's endpoint is asked again at `until` (epoch ms); `text` says why, for a person. Stands in no row. */
  | { event: "waiting"; data: { until: number; text: string } }
  /** The step is tried again: what the deltas since the last message said is void. */
  | { event: "reset"; data: Record<string, never> }
  /** Somebody asks whether this client is still there: it is written to. */
  | { event: "probe"; data: Record<string, never> }
  | { id: number; event: "message"; data: { text: string; calls: CallRecord[] } }
  | { id: number; event: "call"; data: CallRecord }
  /** A device has the call and works on it. One that is done at once says so by its result alone. `at`: epoch ms. */
  | { event: "accepted"; data: { call: string; at: number } }
  /** Output of a device as it comes; what counts comes with the call's result. */
  | { event: "progress"; data: CallProgress }
  | { id: number; event: "question"; data: TurnQuestion }
  | { id: number; event: "done"; data: TurnResult };

/** An event for a client that follows the whole conversation: with the turn that it is of. */
export type FollowedEvent =
  | {
      turn: string;
      event: "turn";
      data: { turn: string; status: "running" } & Pick<PastTurn, "text" | "images" | "created_at">;
    }
  | (Exclude<TurnEvent, { event: "turn" }> & { turn: string });

/** An event of `GET /v1/conversations/{id}/events`: `data` names the turn that it is of. `open` comes first. */
export type ConversationEvent = { event: "open"; data: Record<string, never> } | WithTurn<FollowedEvent>;

type WithTurn<E> = E extends { event: infer Name; data: infer Data }
  ? { event: Name; data: Data extends { turn: string } ? Data : Data & { turn: string } }
  : never;
