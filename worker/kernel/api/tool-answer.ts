/** Answers of the tools that Home runs. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { HomeToolReply } from "./home-tools.ts";

/** An answer before its time is known. */
export type ToolAnswer = Omit<Outcome, "elapsedMs"> & Partial<Pick<Outcome, "elapsedMs">>;

/** The answer, or when it comes. */
export type ToolReply = ToolAnswer | Extract<HomeToolReply, { waitsUntil: number }>;

/** @param words a text alone is a sentence that is completed: nothing was done */
export function refused(
  errorType: ErrorType,
  words: Advised | string,
  advice = "Explain this to the user.",
): ToolAnswer {
  const own = typeof words === "string" ? { text: `Error: ${words} Nothing was done.`, advice } : words;
  return { status: "error", errorType, ...own, sources: [] };
}

/** @param error names the field and what would be right */
export function invalid(error: string): ToolAnswer {
  return refused("invalid_params", { text: `Error: ${error.replace(/\.$/, "")}. Nothing was done.` });
}

/** The same for one that this caller may not see. */
export function noSession(session: string): ToolAnswer {
  return refused("not_found", `There is no session '${session}'.`, "sessions_list has those that there are.");
}
