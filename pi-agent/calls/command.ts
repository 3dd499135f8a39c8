/** A command while it is carried out. */
import type { Slot } from "@edgecall/core/loop/batch.ts";
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import type { SpanContext } from "@edgecall/core/trace/context.ts";
import type { Budget } from "./budget.ts";
import type { Progress } from "./progress.ts";

/** Tells whether a stranger's text (a file, the web, a picture) is present. Because of it, whatever is not a read asks. */
type Taint = {
  /** Such a text is in the conversation that the command comes from. */
  readonly inConversation: boolean;
  /** Such a text is in the results of this command's tools. */
  inResults: boolean;
};

/** One command under way. */
export type CommandCall = {
  command: Command;
  caller: ToolContext["caller"];
  budget: Budget;
  /** Aborted by `cancel`, by the end of the budget and by the end of the agent. */
  signal: AbortSignal;
  taint: Taint;
  /** Publishes progress before the end; undefined for a look. */
  progress: Progress | undefined;
  /** Its place among the prompts that run at once. */
  place?: Place;
  /** Of a call that a prompt's own loop makes: its place among those of its reply. */
  slot?: Slot;
  /** Its span; undefined: it is not recorded. */
  span?: SpanContext | undefined;
};

/** `leave` frees the place. What it returns waits for a place again, and rejects when the command ends first. */
type Place = { leave(): () => Promise<void> };

/** The reason why a call was aborted, as its signal's `reason`. */
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
