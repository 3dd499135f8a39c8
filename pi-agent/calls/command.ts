/** What a command of the wire is to the agent: how it is checked, recorded and run. */
import type { TurnCounts } from "@edgecall/core/metrics/tally.ts";
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { RunnerOptions } from "@edgecall/core/tools/runner.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import type { Profile } from "../evoclaw/profile.ts";
import type { Trades } from "../evoclaw/trades.ts";
import type { Reply } from "../link/reports.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ToolMetrics } from "../metrics/tool-metrics.ts";
import type { Offer } from "../toolbox/offer.ts";
import type { AuditLog } from "./audit.ts";
import type { Budget } from "./budget.ts";
import type { JobDesk } from "./jobs.ts";
import type { Ledger } from "./ledger.ts";
import type { Progress } from "./progress.ts";
import type { Questions } from "./questions.ts";
import type { Slots } from "./slots.ts";
import type { Uploads } from "./uploads.ts";

/** What commands act upon. */
export type Device = {
  settings: Settings;
  /** What is offered now; it changes with the skills and the genome. */
  readonly registry: ToolRegistry;
  offer: Offer;
  /** Tools that it could have, and what each one lacks. */
  unavailable(): readonly { name: string; why: string }[];
  runner: RunnerOptions;
  metrics: Metrics;
  toolMetrics: ToolMetrics;
  /** Questions in words since the start. */
  turns: TurnCounts;
  trades: Trades;
  audit: AuditLog;
  profile: Profile;
  ledger: Ledger;
  questions: Questions;
  jobs: JobDesk;
  uploads: Uploads;
  promptSlots: Slots;
  log: Log;
  /** Ends the agent once the reply is out. */
  shutdown(): void;
};

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

export type CommandKind = {
  /**
   * - `look`: changes nothing and is quick; asked again, it is simply answered again.
   * - `work`: goes through the ledger, and says `accepted` first.
   */
  kind: "look" | "work";
  /** Safe to run again after a crash. Left out: yes for a look, no for work. */
  idempotent?(command: Command, device: Device): boolean;
  /** What is wrong with the payload, in words. */
  problem?(command: Command): string | undefined;
  run(call: CommandCall, device: Device): Promise<Reply> | Reply;
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
