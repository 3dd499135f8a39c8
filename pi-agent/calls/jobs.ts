/**
 * Jobs: work that goes on after its call was answered. A job is a command of its own in the ledger, under a token. Its result
 * is stored and sent again until it is acknowledged, like any other. The program of a job goes on when the agent ends, and the
 * next agent follows it. A job that a restart cut off is reported.
 */
import { randomUUID } from "node:crypto";
import {
  faultResult,
  type JobWork,
  jobResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textOf,
} from "@edgecall/core/tools/contract.ts";
import { OutputTail } from "@edgecall/core/tools/output-tail.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type ParsedCall, type RunnerOptions, runTool } from "@edgecall/core/tools/runner.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import { treeOfDetached } from "../env/detached.ts";
import { LeftRunning } from "../env/environment.ts";
import { killTree } from "../env/process-tree.ts";
import type { Publisher } from "../link/publisher.ts";
import { isFailure, replyText, succeeded } from "../link/reports.ts";
import { CallEnded, type CommandCall } from "./command.ts";
import { JobFiles, type JobOutput, type JobRecord } from "./job-files.ts";
import type { CommandLedger } from "./ledger.ts";
import { mediaOf, pack } from "./media.ts";
import type { Metrics } from "./metrics.ts";
import type { ProgramEvents } from "./program-events.ts";
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
  events: ProgramEvents;
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
  /** Absent when it was not recorded who began it and how long it may take. */
  caller?: ToolContext["caller"] | undefined;
  maxMs?: number | undefined;
};

/** A job as its people see it. */
export type JobView = JobRecord & { running: boolean };

/** The jobs of this device, for its tools. */
export type JobList = {
  /** The newest first. */
  list(): Promise<JobView[]>;
  get(token: string): Promise<JobView | undefined>;
  /** @param from the first line, from 1; absent: the last ones */
  output(token: string, lines: number, from?: number): Promise<JobOutput | undefined>;
  /** @returns true if there was one under way */
  cancel(token: string): boolean;
};

type Job = {
  of: string;
  control: AbortController;
  progress: Progress;
  /** The end of what it said, for a look at a job without a program. */
  tail: OutputTail;
  goesOn: boolean;
  /** Settles when its record is written. Never rejects. */
  recorded: Promise<unknown>;
  ended: Promise<void>;
};

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
  /** It goes on when this process ends. */
  goesOn: boolean;
  /** An earlier process began it, so the ledger has it already. */
  again: boolean;
};

/** The caller of a job of an earlier process is no longer known. The tool was allowed when the job began. */
const UNKNOWN_CALLER: CommandCall["caller"] = { principal: "gateway", role: "member", channel: "gateway" };

export class Jobs implements JobList {
  readonly #options: JobsOptions;
  readonly #files: JobFiles;
  readonly #jobs = new Map<string, Job>();
  #stopping = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#files = new JobFiles(options.settings.stateDir);
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
        goesOn: tool.resume !== undefined,
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
  resume({ id: token, of, acks, tool, work, route, caller, maxMs }: UnfinishedJob): void {
    const job = {
      token,
      of,
      tool,
      input: {},
      caller: caller ?? UNKNOWN_CALLER,
      acks,
      route,
      work,
      maxMs: maxMs ?? JOB_MAX_MS,
      goesOn: true,
      again: true,
    };
    this.#start(job, false);
  }

  #start(work: Work, watched: boolean): void {
    const { token, of, tool, goesOn } = work;
    const tail = new OutputTail();
    const control = new AbortController();
    const progress = new Progress({
      publish: (progress) =>
        this.#options.publisher.event({ type: "progress", request_id: token, ...progress }),
      watched,
      tool: tool.name,
      // A job may take hours, and its caller waits as long as the device is online.
      signsOfLife: false,
    });
    const events = this.#options.events.reader(tool, token);
    const said = (text: string) => {
      tail.add(text);
      progress.output(text, tool.name);
      events?.add(text);
    };
    const { caller, maxMs, again } = work;
    const record = { of, tool: tool.name, caller, maxMs };
    // Beside the ledger's own write, since an SD card is slow.
    const recorded = again ? Promise.resolve() : this.#files.begin(token, record).catch(this.#unkept(token));
    const ended = this.#run(work, control, said, recorded)
      .catch((error: unknown) => {
        this.#options.log("error", "job.failed", { request_id: token, error: messageOf(error) });
      })
      .finally(() => {
        progress.end();
        if (!this.#stopping || !goesOn) events?.end();
        this.#jobs.delete(token);
      });
    this.#jobs.set(token, { of, control, progress, tail, goesOn, recorded, ended });
  }

  async #run(
    { token, of, tool, input, caller, acks, route, work, maxMs, goesOn, again }: Work,
    control: AbortController,
    update: (text: string) => void,
    recorded: Promise<unknown>,
  ): Promise<void> {
    const { ledger, settings, runner, metrics, uploads, publisher } = this.#options;
    const job = { of, maxMs };
    const started = { id: token, command: "job", tool: tool.name, idempotent: false, acks, job, route };
    // Writes keep their order, so the job is recorded before the call's own result.
    const begun = again ? ({ do: "run" } as const) : await ledger.begin(started);
    let isBegun = again;
    const begin: JobWork = (...args) => {
      isBegun = true;
      return work(...args);
    };
    const { result, elapsedMs } =
      begun.do === "refuse"
        ? { result: faultResult("io", unrecordable(begun.reason)), elapsedMs: 0 }
        : await runTool(
            new ToolRegistry(),
            {
              callId: token,
              name: tool.name,
              args: input,
              parsed: { tool: asTool(tool, begin, maxMs), input },
              timeoutMs: maxMs,
              caller,
              signal: control.signal,
              update,
              artifact: (bytes, mediaType, signal) => uploads.keep(token, bytes, mediaType, signal),
            },
            runner,
          );
    await recorded;
    // A job that the next process goes on with has no end in this one.
    if (this.#stopping && goesOn && isBegun) return;
    const packed = await pack(mediaOf(result), token, uploads, control.signal);
    const reply = replyOf(tool.name, result, elapsedMs, tool.taints, packed);
    metrics.count(isFailure(reply) ? "failed" : "success");
    const text = replyText(settings, token, succeeded({ ...reply.payload, job_of: of }), route);
    await ledger.done(token, text);
    const exitCode = result.details?.exit_code;
    await this.#files
      .end(token, {
        status: result.fault ? "error" : "success",
        ...(typeof exitCode === "number" && { exitCode }),
        text: textOf(result),
      })
      .catch(this.#unkept(token));
    await publisher.report(text, token, acks);
    await this.#pruneFiles();
  }

  /** A job runs and is reported even where its files cannot be written. */
  #unkept(token: string): (error: unknown) => void {
    return (error) => this.#options.log("warn", "job.unkept", { request_id: token, error: messageOf(error) });
  }

  async #pruneFiles(): Promise<void> {
    await this.#files.prune(new Set(this.#jobs.keys())).catch((error: unknown) => {
      this.#options.log("warn", "job.unpruned", { error: messageOf(error) });
    });
  }

  /** The record of a job that an earlier process began. */
  async recorded(token: string): Promise<Pick<UnfinishedJob, "caller" | "maxMs"> & { isProgram: boolean }> {
    const [record, maxMs, tree] = await Promise.all([
      this.#files.get(token),
      this.#files.restOf(token),
      treeOfDetached(this.#files.dir(token)),
    ]);
    return { caller: record?.caller, maxMs, isProgram: tree !== undefined };
  }

  /** Ends programs of jobs that the ledger has no more, and removes old files. Call it when all jobs are resumed. */
  async prune(): Promise<void> {
    for (const token of await this.#files.tokens()) {
      const record = await this.#files.get(token);
      if (this.#jobs.has(token) || record?.ended) continue;
      const tree = await treeOfDetached(this.#files.dir(token));
      if (tree) await killTree(tree);
    }
    await this.#pruneFiles();
  }

  async list(): Promise<JobView[]> {
    await this.#allRecorded();
    const records = await this.#files.list();
    return records.map((record) => ({ ...record, running: this.#jobs.has(record.token) }));
  }

  async get(token: string): Promise<JobView | undefined> {
    await this.#allRecorded();
    const record = await this.#files.get(token);
    return record && { ...record, running: this.#jobs.has(token) };
  }

  /** A job that has just begun is listed too. */
  async #allRecorded(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map(({ recorded }) => recorded));
  }

  async output(token: string, lines: number, from?: number): Promise<JobOutput | undefined> {
    const kept = await this.#files.output(token, lines, from);
    const text = this.#jobs.get(token)?.tail.text();
    if (kept || text === undefined) return kept;
    const shown = text.split("\n").slice(-lines);
    return { text: shown.join("\n"), first: 1, last: shown.length, total: shown.length, stderr: "" };
  }

  /** Cancels a job by its token, or the jobs of a call. @returns true if there was one */
  cancel(id: string): boolean {
    const found = this.#jobsOf(id);
    for (const job of found) job.control.abort(new CallEnded("cancelled"));
    return found.length > 0;
  }

  /** A person watches a job, or the call that began it. */
  watch(id: string): void {
    for (const job of this.#jobsOf(id)) job.progress.watch();
  }

  #jobsOf(id: string): Job[] {
    return [...this.#jobs].filter(([token, job]) => token === id || job.of === id).map(([, job]) => job);
  }

  stop(): void {
    this.#stopping = true;
    for (const { control, goesOn } of this.#jobs.values())
      control.abort(goesOn ? new LeftRunning("the agent was stopped") : new CallEnded("stopping"));
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
