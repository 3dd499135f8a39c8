import type { BridgeFrame, Refusal } from "@edgecall/core/protocol/frames.ts";
import type { BufferedReport } from "./report-buffer.ts";

/** Tells Home of calls and agents. The gateway's side sends that (gateway/outbox.ts). */
export type ToHome = {
  /** The broker has the call's command. */
  accepted(id: string): void;
  /** The agent has certainly not run the call. */
  refuse(call: { id: string; agent: string }, code: Refusal, message: string, retryAfterMs?: number): void;
  report(report: BufferedReport): void;
  /** @param isWhole it takes the place of what waits with this id */
  event(frame: Extract<BridgeFrame, { t: "event" }>, isWhole?: boolean): void;
};
