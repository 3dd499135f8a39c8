/** What a command of the wire is to the agent: how it is checked, recorded and run. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import type { Budget } from "./budget.ts";
import type { Progress } from "./progress.ts";

/** Where a stranger's text (a file, the web, a picture) is: whatever is not a read asks because of it. */
export type Taint = {
  /** In the conversation that the command comes from. */
  readonly came: boolean;
  /** In what the tools of this command gave back. */
  brought: boolean;
};

/** One command under way. */
export type CommandCall = {
  command: Command;
  caller: ToolContext["caller"];
  budget: Budget;
  /** Aborted by `cancel`, by the end of the budget and at the end of the agent. */
  signal: AbortSignal;
  taint: Taint;
  /** What it says before its end; a look says nothing. */
  progress: Progress | undefined;
};

/** Why a call was aborted, in its signal's `reason`. */
export class CallEnded extends Error {
  override readonly name = "CallEnded";
  readonly why: "cancelled" | "expired" | "stopping";

  constructor(why: "cancelled" | "expired" | "stopping") {
    const words = {
      cancelled: "it was cancelled",
      expired: "its time was over",
      stopping: "the agent was stopped",
    };
    super(words[why]);
    this.why = why;
  }
}
