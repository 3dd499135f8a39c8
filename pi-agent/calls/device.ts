/** The parts of the agent that commands use. */
import type { TurnCounts } from "@edgecall/core/metrics/tally.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { RunnerOptions } from "@edgecall/core/tools/runner.ts";
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import type { Profile } from "../evoclaw/profile.ts";
import type { Trades } from "../evoclaw/trades.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ToolMetrics } from "../metrics/tool-metrics.ts";
import type { ToolCatalog } from "../toolbox/tool-catalog.ts";
import type { ProgramEvents } from "../watching/program-events.ts";
import type { Watching } from "../watching/watching.ts";
import type { AuditLog } from "./audit.ts";
import type { GatewayCalls } from "./gateway-calls.ts";
import type { Jobs } from "./jobs.ts";
import type { CommandLedger } from "./ledger.ts";
import type { PersonQuestions } from "./questions.ts";
import type { Semaphore } from "./semaphore.ts";
import type { Uploads } from "./uploads.ts";

export type Device = {
  settings: Settings;
  /** The tools that are offered now. They change with the skills and the genome. */
  readonly registry: ToolRegistry;
  catalog: ToolCatalog;
  runner: RunnerOptions;
  metrics: Metrics;
  toolMetrics: ToolMetrics;
  /** Counts of prompts since the start. */
  turns: TurnCounts;
  trades: Trades;
  audit: AuditLog;
  profile: Profile;
  ledger: CommandLedger;
  questions: PersonQuestions;
  gatewayCalls: GatewayCalls;
  /** Hears what programs of skills say. */
  events: ProgramEvents;
  /** The rules that this agent watches. */
  readonly watching: Watching;
  /** The tools of a prompt: those that are offered, and those of this agent's own model. */
  readonly promptTools: ToolRegistry;
  jobs: Jobs;
  uploads: Uploads;
  promptSemaphore: Semaphore;
  log: Log;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
  /** Ends the agent once the reply is published. */
  shutdown(): void;
};
