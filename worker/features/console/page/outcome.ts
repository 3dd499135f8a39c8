/** The outcome of a command in words. "Done" is said only where the device did it. Pure. */
import type { CommandReport } from "@edgecall/client/routes.ts";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";

/** @property style of the card: `partial` is neither a success nor a failure */
export type Outcome = { style: "success" | "error" | "partial"; words: string; text: string };

export function outcomeOf({ report_type, payload }: CommandReport): Outcome {
  const failed = report_type === "error" || payload.status === "error";
  const said = payload.silent === true ? undefined : payload.for_user;
  const text = [payload.error, said === payload.result ? undefined : said, payload.result, payload.stderr]
    .filter((part): part is string => typeof part === "string" && part !== "")
    .map((part) => forPerson({ text: part }))
    .join("\n");
  return { ...standing(failed, payload), text: text || JSON.stringify(payload, null, 2) };
}

function standing(failed: boolean, payload: Record<string, unknown>): Pick<Outcome, "style" | "words"> {
  const { error_type, confirmed } = payload;
  if (failed && error_type === "outcome_unknown") return { style: "partial", words: NOT_CONFIRMED };
  if (failed) return { style: "error", words: `failed${error_type ? `: ${String(error_type)}` : ""}` };
  if (payload.asked === false) return { style: "partial", words: NO_TOOL_CALLED };
  if (confirmed === false) return { style: "partial", words: NOT_CONFIRMED };
  return { style: "success", words: confirmed === true ? "done, and confirmed by its state" : "done" };
}

const NOT_CONFIRMED = "sent, not confirmed";
