/**
 * The tool contract: one for the gateway's tools and the device's.
 *
 * A tool holds nothing but its own work. What every tool needs (finding it, mending and parsing its
 * arguments, policy, time-out, abort, size, log) belongs to the runner.
 */
import type { z } from "../protocol/parse.ts";
import { type Advised, asAdvised, forModel } from "./advice.ts";
import type { ErrorCode } from "./errors.ts";

export type Content =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string }
  | { type: "artifact"; id: string; mediaType: string; bytes: number; sha256: string };

/** Why a call failed. `advice` is for the model alone; `cause` is for the log alone and never serialised. */
export type Fault = { code: ErrorCode; message: string; advice?: string | undefined; cause?: unknown };

export type ToolResult = {
  /** What the model reads, and the advice of a fault after it. */
  content: Content[];
  /** What the person reads; absent = silent. */
  forUser?: string;
  /** Absent = success. */
  fault?: Fault;
  /** For the interface and the log, kept on failure too: exit code, diff, elapsed time. */
  details?: Record<string, unknown>;
  /** Accepted; the real result follows later under this token, which outlives the process. */
  job?: string;
};

/** What a tool does to the world; everything but `read` may need an approval. */
export type Effect = "read" | "write" | "exec" | "network" | "device";

/** The seed's permissions, `device` for sensors and actuators, and `system` for the agent's own program. */
export const PERMISSIONS = [
  "file_read",
  "file_write",
  "shell",
  "network",
  "git",
  "session",
  "device",
  "system",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A question to the person in the middle of a call. Without options, any text answers it. */
export type Question = { text: string; options?: string[]; expiresInMs?: number };

/** Work that goes on after its call was answered; its result is the job's, which has this token. */
export type JobWork = (
  signal: AbortSignal,
  update: (text: string) => void,
  token: string,
) => Promise<ToolResult>;

/** Made for each call and handed to the tool: nothing is set on the tool itself, so calls cannot race. */
export type ToolContext = {
  callId: string;
  /** Who asked, and in which conversation; a peer that names none has one for each channel. */
  caller: { principal: string; role: string; channel: string; conversation?: string | undefined };
  /** The targets (`Tool.targets`) that were judged; absent where nobody judged them. */
  targets?: readonly Target[];
  /** Aborted at the time-out or a cancel; its `reason` says which. */
  signal: AbortSignal;
  /**
   * Output as it comes, in pieces, for a person who watches; nothing waits for it. The end of it is in the
   * result when the call times out or is cancelled, unless the tool then gives back something of its own.
   */
  update(text: string): void;
  /**
   * Asks the person and waits; the call's time-out stands still meanwhile.
   * @throws Unanswered when nobody answers in time, or there is nobody to ask
   */
  ask(question: Question): Promise<string>;
  /**
   * Goes on with `work` for at most `maxMs` after this call is answered.
   * @returns what `execute` has to return: accepted, with the token under which the result comes later; or a
   *   fault, where there are no jobs
   */
  job(work: JobWork, options: { maxMs: number }): ToolResult;
  /**
   * Calls another tool as a part of this call: under the same policy, approvals, locks and record as any
   * other; this call's time-out stands still meanwhile. Absent: not possible here, as within such a call.
   */
  call?(inner: InnerCall): Promise<{ result: ToolResult; elapsedMs: number; args?: Record<string, unknown> }>;
  /**
   * A picture or file as content of the result: within the report where it is a picture and fits, else brought
   * to the gateway first.
   *
   * @param bytes at most MEDIA_MAX_BYTES of core/protocol/media.ts
   * @throws Unstorable in words when nobody takes it; a tool that does not catch it ends with a fault that says so
   */
  artifact(bytes: Uint8Array, mediaType: string): Promise<Content>;
};

/**
 * A file that a call would write: `path` as the call has it, `real` where it leads. `link`: a link is on the way.
 * `git`: git may run what is written there.
 */
export type Target = { path: string; real: string; link: boolean; git: boolean };

/** `callId` names it in the log and the record. */
export type InnerCall = { callId: string; name: string; args: Record<string, unknown> };

/** Alias → the parameter's own name; or parameter → the aliases within it, or within each object of its list. */
export type Aliases = { readonly [name: string]: string | Aliases };

export type Tool<Input extends z.ZodMiniType = z.ZodMiniType> = {
  name: string;
  description: string;
  /** A strict object: an argument that is not there is an error, not ignored. */
  input: Input;
  effect: Effect;
  permission?: Permission;
  /** All that it needs, where `permission` (the gravest) is not the whole: the strictest rule of them counts. */
  permissions?: readonly Permission[];
  /** Safe to run again after a crash between start and end. */
  idempotent: boolean;
  /** `alone`: nothing else runs on this machine meanwhile. */
  runs?: "alone";
  /** Calls with the same key go one after another: a canonical path, a pin, a bus. */
  lock?(input: z.output<Input>): string;
  /** Its result is a stranger's text: a file, the web, a picture. */
  taints?: boolean;
  /** Whether this very call's result is, where `taints` does not hold for all: a page that the model wrote itself. */
  taintsIn?(input: z.output<Input>): boolean;
  /** May wait this long, in ms, for its agent to come online. */
  queueMs?: number;
  timeoutMs: number;
  maxTimeoutMs: number;
  /** The time-out, in ms, that the arguments themselves ask for; never more than `maxTimeoutMs`. */
  timeoutIn?(input: z.output<Input>): number | undefined;
  /** What this very call does, where that is less than `effect`: a tool of several actions may only look. */
  effectIn?(input: z.output<Input>): Effect;
  /**
   * The paths that this call would write, links and all, looked up before it is judged. What is in a folder of git's
   * needs `shell` as well, since git runs it.
   */
  targets?(input: z.output<Input>, signal: AbortSignal): Promise<Target[]>;
  /** Why this very call asks the person even where the rule allows it: `it deletes what it finds`. */
  danger?(input: z.output<Input>, caller: ToolContext["caller"]): string | undefined;
  /** Other names that models know its parameters by; two names of one parameter in a call are refused. */
  aliases?: Aliases;
  /** Mends known slips of models in values before the strict parse; names are for `aliases`. */
  prepare?(raw: Record<string, unknown>): Record<string, unknown>;
  execute(input: z.output<Input>, context: ToolContext): Promise<ToolResult>;
  /**
   * Goes on with a job that an earlier process began, under the same token. Such a job is no failure when the process
   * ends; those of other tools are stopped then, and their outcome is unknown. Arguments are not kept: none are needed.
   */
  resume?: JobWork;
};

/** An error whose words are a result's. */
export class AdvisedError extends Error {
  readonly advice: string | undefined;

  constructor(words: string | Advised, options?: ErrorOptions) {
    const { text, advice } = asAdvised(words);
    super(text, options);
    this.advice = advice;
  }

  get words(): Advised {
    return { text: this.message, advice: this.advice };
  }
}

/** No answer to a question; a tool that does not catch it ends with a fault that says so. */
export class Unanswered extends AdvisedError {
  override readonly name = "Unanswered";
}

/** A picture or file that could not be brought to the gateway. */
export class Unstorable extends AdvisedError {
  override readonly name = "Unstorable";
}

/** Fixes the input's type, so that `execute` is checked against the schema. */
export function defineTool<Input extends z.ZodMiniType>(tool: Tool<Input>): Tool {
  // SAFETY: the runner parses with this very schema before it calls execute.
  return tool as unknown as Tool;
}

/** Text for the model; the person sees nothing of it. */
export function textResult(text: string, details?: Record<string, unknown>): ToolResult {
  return { content: [{ type: "text", text }], ...(details && { details }) };
}

/** The same text for the model and the person. */
export function sharedResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], forUser: text };
}

/** Accepted, with the result to come under `job`. */
export function jobResult(text: string, job: string): ToolResult {
  return { content: [{ type: "text", text }], forUser: text, job };
}

/** A failure. What tells the model what to do next is its advice. */
export function faultResult(
  code: ErrorCode,
  words: string | Advised,
  more: { cause?: unknown; details?: Record<string, unknown> } = {},
): ToolResult {
  const { text, advice } = asAdvised(words);
  const fault: Fault = {
    code,
    message: text,
    ...(advice !== undefined && { advice }),
    ...(more.cause !== undefined && { cause: more.cause }),
  };
  return {
    content: [{ type: "text", text }],
    fault,
    ...(more.details && { details: more.details }),
  };
}

/** The text of a result without words for what else it holds, which travels beside it. */
export function wordsOf(result: ToolResult): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** All text of a result, with a word in place of what is not text. */
export function textOf(result: ToolResult): string {
  return result.content
    .map((part) =>
      part.type === "text"
        ? part.text
        : part.type === "image"
          ? `[image ${part.mediaType}]`
          : `[file ${part.mediaType}, ${part.bytes} bytes]`,
    )
    .join("\n");
}

/** The words of a result as an outcome has them. */
export function advisedOf(result: ToolResult): Advised {
  return {
    text: wordsOf(result),
    ...(result.fault?.advice !== undefined && { advice: result.fault.advice }),
  };
}

/** All text of a result as a model reads it. */
export function modelTextOf(result: ToolResult): string {
  return forModel({ text: textOf(result), advice: result.fault?.advice });
}

/** The shape that EvoClaw's callers know: `{tool, status, result}`. */
export function toLegacyResult(
  tool: string,
  result: ToolResult,
): { tool: string; status: "success" | "error"; result: string; error?: string } {
  const text = textOf(result);
  return result.fault
    ? { tool, status: "error", result: text, error: result.fault.message }
    : { tool, status: "success", result: text };
}
