/**
 * Jobs: work that goes on after its call was answered. A job is a command of its own in the ledger, under a token. Its result
 * is stored and sent again until it is acknowledged, like any other. A job that a restart cut off is reported.
 */
import { randomUUID } from "node:crypto";
import {
  faultResult,
  type JobWork,
  jobResult,
  type Tool,
  type ToolResult,
} from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type ParsedCall, type RunnerOptions, runTool } from "@edgecall/core/tools/runner.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import type { Publisher } from "../link/publisher.ts";
import { isFailure, replyText, succeeded } from "../link/reports.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { CallEnded, type CommandCall } from "./command.ts";
import type { CommandLedger } from "./ledger.ts";
import { mediaOf, pack } from "./media.ts";
import { Progress } from "./progress.ts";
import { unrecordable } from "./refusals.ts";
import { replyOf } from "./tool-reply.ts";
import type { Uploads } from "./uploads.ts";

/** A week: the wire's bound for everything that waits. */
const JOB_MAX_MS = 604_800_000;
/** The number of jobs at once. More would be too much for a small device. */
const MAX_JOBS = 16;

export type JobsOptions = {
  settings: Settings;
  ledger: CommandLedger;
  runner: RunnerOptions;
  metrics: Metrics;
  uploads: Uploads;
  publisher: Publisher;
  log: Log;
};

/** The call that begins a job. */
export type JobCall = { call: CommandCall; parsed: ParsedCall };

/** A job of an earlier process. `work`: how its tool goes on with it. */
export type UnfinishedJob = {
  id: string;
  of: string;
  acks: boolean;
  tool: Tool;
  work: JobWork;
  route: string | undefined;
};

type Job = { of: string; control: AbortController; progress: Progress; ended: Promise<void> };

/** The work under a token. */
type Work = {
  token: string;
  of: string;
  tool: Tool;
  /** The arguments as approved. For a job of an earlier process they are no longer known. */
  input: Record<string, unknown>;
  caller: CommandCall["caller"];
  acks: boolean;
  /** Of the call that began it. */
  route: string | undefined;
  work: JobWork;
  maxMs: number;
  /** An earlier process began it, so the ledger has it already. */
  again: boolean;
};

/** The caller of a job of an earlier process is no longer known. The tool was allowed when the job began. */
const UNKNOWN_CALLER: CommandCall["caller"] = { principal: "gateway", role: "member", channel: "gateway" };

export class Jobs {
  readonly #options: JobsOptions;
  readonly #jobs = new Map<string, Job>();
  #stopping = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Begins a job. @returns the call's own result */
  begin(from: JobCall, work: JobWork, maxMs: number): ToolResult {
    const { call, parsed } = from;
    const { tool, input } = parsed;
    if (this.#jobs.size >= MAX_JOBS) {
      return faultResult("unavailable", {
        text: `Error: Tool '${tool.name}' was not run: ${MAX_JOBS} jobs are under way on this device.`,
        advice: "Try again later.",
      });
    }
    const token = randomUUID();
    this.#start(
      {
        token,
        of: call.command.request_id,
        tool,
        input,
        caller: call.caller,
        acks: call.command.n !== undefined,
        route: call.command.route,
        work,
        maxMs: Math.max(1, Math.min(maxMs, JOB_MAX_MS)),
        again: false,
      },
      call.command.watch === true,
    );
    return jobResult(
      `Accepted: '${tool.name}' goes on in the background. Its result is not known yet and comes later, as job ${token}.`,
      token,
    );
  }

  /** Goes on with a job that an earlier process of this agent began. */
  resume({ id: token, of, acks, tool, work, route }: UnfinishedJob): void {
    const job = {
      token,
      of,
      tool,
      input: {},
      caller: UNKNOWN_CALLER,
      acks,
      route,
      work,
      maxMs: JOB_MAX_MS,
      again: true,
    };
    this.#start(job, false);
  }

  #start(work: Work, watched: boolean): void {
    const { token, of, tool } = work;
    const control = new AbortController();
    const progress = new Progress({
      publish: (progress) =>
        this.#options.publisher.event({ type: "progress", request_id: token, ...progress }),
      watched,
      tool: tool.name,
      // A job may take hours, and its caller waits as long as the device is online.
      signsOfLife: false,
    });
    const ended = this.#run(work, control, progress)
      .catch((error: unknown) => {
        this.#options.log("error", "job.failed", { request_id: token, error: messageOf(error) });
      })
      .finally(() => {
        progress.end();
        this.#jobs.delete(token);
      });
    this.#jobs.set(token, { of, control, progress, ended });
  }

  async #run(
    { token, of, tool, input, caller, acks, route, work, maxMs, again }: Work,
    control: AbortController,
    progress: Progress,
  ): Promise<void> {
    const { ledger, settings, runner, metrics, uploads, publisher } = this.#options;
    const job = { of, maxMs };
    const begin = { id: token, command: "job", tool: tool.name, idempotent: false, acks, job, route };
    // Writes keep their order, so the job is recorded before the call's own result.
    const begun = again ? ({ do: "run" } as const) : await ledger.begin(begin);
    const { result, elapsedMs } =
      begun.do === "refuse"
        ? { result: faultResult("io", unrecordable(begun.reason)), elapsedMs: 0 }
        : await runTool(
            new ToolRegistry(),
            {
              callId: token,
              name: tool.name,
              args: input,
              parsed: { tool: asTool(tool, work, maxMs), input },
              timeoutMs: maxMs,
              caller,
              signal: control.signal,
              update: (text) => progress.output(text, tool.name),
              artifact: (bytes, mediaType, signal) => uploads.keep(token, bytes, mediaType, signal),
            },
            runner,
          );
    // A job that the next process goes on with has no end in this one.
    if (this.#stopping && tool.resume) return;
    const packed = await pack(mediaOf(result), token, uploads, control.signal);
    const reply = replyOf(tool.name, result, elapsedMs, tool.taints, packed);
    metrics.count(isFailure(reply) ? "failed" : "success");
    const text = replyText(settings, token, succeeded({ ...reply.payload, job_of: of }), route);
    await ledger.done(token, text);
    await publisher.report(text, token, acks);
  }

  /**
   * Cancels a job by its token, or the jobs of a call.
   * @returns true if there was one
   */
  cancel(id: string): boolean {
    const found = this.#of(id);
    for (const job of found) job.control.abort(new CallEnded("cancelled"));
    return found.length > 0;
  }

  /** A person watches a job, or the call that began it. */
  watch(id: string): void {
    for (const job of this.#of(id)) job.progress.watch();
  }

  #of(id: string): Job[] {
    return [...this.#jobs].filter(([token, job]) => token === id || job.of === id).map(([, job]) => job);
  }

  stop(): void {
    this.#stopping = true;
    for (const job of this.#jobs.values()) job.control.abort(new CallEnded("stopping"));
  }

  /** Resolves when no job is under way. */
  async idle(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map((job) => job.ended));
  }
}

/** Makes a tool of the job, so that the runner uses the same lock and filters, with a longer time-out. */
function asTool(tool: Tool, work: JobWork, maxMs: number): Tool {
  return {
    ...tool,
    timeoutMs: maxMs,
    maxTimeoutMs: maxMs,
    execute: (_input, { signal, update, callId }) => work(signal, update, callId),
  };
}
