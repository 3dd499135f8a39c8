/** The end of a hosted device's call, in the words of a rule's run. */
import type { StepEnded } from "@edgecall/core/automations/state.ts";
import type { ActOutcome } from "@edgecall/core/protocol/automation.ts";
import type { Refusal } from "@edgecall/core/protocol/frames.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { readError } from "@edgecall/core/tools/advice.ts";
import type { CommandEntry } from "../devices/command-ledger.ts";
import type { Outcome } from "../devices/reports.ts";

export type Ending = Pick<StepEnded, "outcome" | "text" | "again" | "kept" | "pause">;

/** A text of `StepRun` has at most so many characters. */
const TEXT_MAX = 500;
/** The way to the device is closed, or the device is away: nothing left, and it is worth another try. */
const AWAY: readonly Refusal[] = ["agent_offline", "broker_offline", "not_listening", "agent_busy"];

/** A refusal says that nothing was sent. */
export function endingOfRefusal(code: Refusal, message: string): Ending {
  const again = AWAY.includes(code);
  return { outcome: "not_sent", text: cutText(message, TEXT_MAX), ...(again && { again }) };
}

/** The gateway's word on a step that it carried out. */
export function endingOfAct({ outcome, text }: ActOutcome): Ending {
  return { outcome: outcome === "late" ? "confirmed" : outcome, text };
}

/** The content of a call's report. */
export function endingOf({ payload }: Pick<Outcome, "payload">): Ending {
  const text = cutText(wordsOf(payload), TEXT_MAX);
  const { status, confirmed, error_type: type, corrects } = payload;
  if (status === "success") return { outcome: confirmed === true ? "confirmed" : "sent", text };
  // A command with another error has not left the bridge.
  if (type === "outcome_unknown") return { outcome: confirmed === false ? "unconfirmed" : "unknown", text };
  return { outcome: corrects === true ? "unconfirmed" : "not_sent", text };
}

/** A command that an earlier bridge began. @returns `begun` or `sent` where the ledger has no report: the state of now tells */
export function endingOfEntry({ begun, state, report }: CommandEntry): Ending | "begun" | "sent" {
  if (report !== undefined) return endingOf({ payload: payloadOf(report) });
  if (state !== "sent") return "begun";
  const { unconfirmable } = begun;
  return unconfirmable === undefined ? "sent" : { outcome: "sent", text: cutText(unconfirmable, TEXT_MAX) };
}

/** The bridge wrote it. */
function payloadOf(report: string): Record<string, unknown> {
  return (JSON.parse(report) as { payload: Record<string, unknown> }).payload;
}

/** Its advice to a model is left out. */
function wordsOf({ result, error, advice }: Record<string, unknown>): string {
  const words = typeof error === "string" ? readError(error, advice).text : result;
  return typeof words === "string" ? words.replace(/^Error: /, "") : "";
}
