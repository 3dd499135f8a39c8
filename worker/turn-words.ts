/** What a person is told of a turn that did not end well. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { StoredEntry } from "./transcript.ts";

export const INTERNAL_ERROR =
  "Something went wrong in the gateway itself; its log has the reason. Please ask again.";

/** What a person can do after a failure, and what was already done by then. */
export function tryAgain(history: readonly StoredEntry[]): string {
  const turn = history.at(-1)?.turn;
  const done = history
    .filter((entry) => entry.turn === turn && entry.role === "assistant")
    .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []))
    .filter((call) => call.outcome?.status === "success");
  if (done.length === 0) return "Nothing was done. Please try again later.";
  return `Before that I got: ${done
    .map((call) => call.outcome?.text ?? "")
    .join("\n")
    .slice(0, 2_000)}`;
}

export function cancelledOutcome(sent: boolean): Outcome {
  if (!sent)
    return {
      status: "error",
      errorType: "execution_failed",
      text: "Cancelled before it was sent. Nothing was run.",
      elapsedMs: 0,
    };
  return {
    status: "error",
    errorType: "outcome_unknown",
    text: "Cancelled while the device was at it: it may or may not have run.",
    elapsedMs: 0,
  };
}

export function cancelledAnswer(sent: number): string {
  if (sent === 0) return "Cancelled.";
  return `Cancelled. ${sent === 1 ? "One call was" : `${sent} calls were`} with a device already; whether it ran is unknown.`;
}
