/**
 * The tool contract, which the gateway's and the device's tools share.
 *
 * A tool contains only its own work. The runner does what every tool needs: finding the tool, repairing and parsing its
 * arguments, policy, time-out, abort, size limits and log.
 */
import type { z } from "../protocol/parse.ts";
import { type Advised, asAdvised, forModel } from "./advice.ts";
import type { ErrorCode } from "./errors.ts";

export type Content =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string }
  | { type: "artifact"; id: string; mediaType: string; bytes: number; sha256: string };

/** Why a call failed. `advice` is only for the model. `cause` is only for the log and never serialised. */
type Fault = { code: ErrorCode; message: string; advice?: string | undefined; cause?: unknown };

export type ToolResult = {
  /** What the model reads; the advice of a fault follows it. */
  content: Content[];
  /** What the person reads; absent = silent. */
  forUser?: string;
  /** Absent = success. */
  fault?: Fault;
  /** Data for the interface and the log, also kept on failure: exit code, diff, elapsed time. */
  details?: Record<string, unknown>;
  /** The call was accepted; the final result follows under this token, which outlives the process. */
  job?: string;
};

/** The kind of effect that a tool has; everything but `read` may need an approval. */
export type Effect = "read" | "write" | "exec" | "network" | "device";

/** The seed's permissions, plus `device` for sensors and actuators and `system` for the agent's own program. */
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

/** A question to the person during a call. Without options, any text is an answer. */
export type Question = { text: string; options?: string[]; expiresInMs?: number };

/** Work that continues after its call was answered. Its result is the result of the job with this token. */
export type JobWork = (
  signal: AbortSignal,
  update: (text: string) => void,
  token: string,
) => Promise<ToolResult>;

/** Made for each call and passed to the tool. Tools hold no state of a call, so calls cannot race. */
export type ToolContext = {
  callId: string;
  /** Who asked, and in which conversation; absent when the peer names none, which then counts as one for each channel. */
  caller: { principal: string; role: string; channel: string; conversation?: string | undefined };
  /** The targets (`Tool.targets`) that the policy judged; absent when it judged none. */
  targets?: readonly Target[];
  /** Aborted at the time-out or a cancel; its `reason` says which. */
  signal: AbortSignal;
  /**
   * Sends a piece of output to a person who watches, without waiting. When the call times out or is cancelled, the result
   * holds the end of this output, unless the tool returns a result of its own.
   */
  update(text: string): void;
  /**
   * Asks the person and waits; the call's time-out pauses meanwhile.
   * @throws Unanswered when nobody answers in time, or nobody can be asked
   */
  ask(question: Question): Promise<string>;
  /**
   * Runs `work` for at most `maxMs` after this call is answered.
   * @returns the result that `execute` must return: accepted, with the token of the later result, or a fault where jobs are
   *   not possible
   */
  job(work: JobWork, options: { maxMs: number }): ToolResult;
  /**
   * Calls another tool as part of this call, with the same policy, approvals, locks and record as any call. This call's
   * time-out pauses meanwhile. Absent where it is not possible, such as within such a call.
   */
  call?(inner: InnerCall): Promise<{ result: ToolResult; elapsedMs: number; args?: Record<string, unknown> }>;
  /**
   * Has the gateway run one of its tools, or call another agent, as a part of this call. The time of this call pauses
   * meanwhile. Absent where it is not possible: the gateway is too old, or a job asks.
   */
  gateway?(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  /**
   * Makes content for the result from a picture or file. A picture that fits travels in the report; anything else is uploaded
   * to the gateway first.
   * @param bytes at most MEDIA_MAX_BYTES of core/protocol/media.ts
   * @throws Unstorable when it cannot be stored; a tool that does not catch it ends with a fault that says so
   */
  artifact(bytes: Uint8Array, mediaType: string): Promise<Content>;
};

/**
 * A file that a call would write. `path`: as the call names it; `real`: the resolved path; `link`: whether a link is on the
 * way; `git`: whether git may run what is written there.
 */
export type Target = { path: string; real: string; link: boolean; git: boolean };

/** A call within a call. `callId` names it in the log and the record. `tainted`: a stranger's text that the tool kept may have caused it. */
export type InnerCall = { callId: string; name: string; args: Record<string, unknown>; tainted?: boolean };

/** One step of a tool that is made of others. `when` refers to the steps before. */
export type PlannedStep = {
  id: string;
  tool: string;
  params: Record<string, unknown>;
  when: "success" | "failure" | "always";
};

/** Maps an alias to the parameter's own name, or a parameter to the aliases within it (or within each object of its list). */
export type Aliases = { readonly [name: string]: string | Aliases };

export type Tool<Input extends z.ZodMiniType = z.ZodMiniType> = {
  name: string;
  description: string;
  /** A strict object: an unknown argument is an error. */
  input: Input;
  effect: Effect;
  permission?: Permission;
  /** All permissions that it needs, when `permission` (the gravest) is not the only one. The strictest rule applies. */
  permissions?: readonly Permission[];
  /** Only the device's own model gets it: it is not advertised, and nobody else can call it by name. */
  own?: true;
  /** The steps of a tool that is made of others. They are judged, and approved by a person, all at once before it runs. */
  plan?(input: z.output<Input>): readonly PlannedStep[];
  /** Whether it may run again after a crash between start and end. */
  idempotent: boolean;
  /** `alone`: no other tool runs on this machine at the same time. */
  runs?: "alone";
  /** Calls with the same key run one after another. A key is a canonical path, a pin or a bus. */
  lock?(input: z.output<Input>): string;
  /** Whether its result is a stranger's text: a file, the web, a picture. */
  taints?: boolean;
  /** The same for a single call, when `taints` does not apply to all: a page that the model wrote itself. */
  taintsIn?(input: z.output<Input>): boolean;
  /** How long a call may wait for its agent to come online, in ms. */
  queueMs?: number;
  timeoutMs: number;
  maxTimeoutMs: number;
  /** Its programs run in a sandbox. */
  sandbox?: true;
  /** The name of the MCP server that it belongs to. */
  server?: string;
  /** Returns the time-out in ms that the arguments ask for, if any; `maxTimeoutMs` limits it. */
  timeoutIn?(input: z.output<Input>): number | undefined;
  /** Returns the effect of this call when it is less than `effect`: one action of several may only read. */
  effectIn?(input: z.output<Input>): Effect;
  /**
   * Looks up the paths that this call would write, before the policy judges it. A path in one of git's folders also needs
   * `shell`, since git may run the file.
   */
  targets?(input: z.output<Input>, signal: AbortSignal): Promise<Target[]>;
  /** Returns why this call must ask the person even when the rule allows it: `it deletes what it finds`. */
  danger?(input: z.output<Input>, caller: ToolContext["caller"]): string | undefined;
  /** Names of the events that lines of its output may say (docs/guides/skill.md). A rule can wait for them. */
  events?: readonly string[];
  /** Other names that models use for its parameters. A call with two names of one parameter is refused. */
  aliases?: Aliases;
  /** Repairs known mistakes of models in values, before the strict parse. `aliases` handles names. */
  prepare?(raw: Record<string, unknown>): Record<string, unknown>;
  execute(input: z.output<Input>, context: ToolContext): Promise<ToolResult>;
  /**
   * Continues, under the same token, a job that an earlier process began. Such a job survives the end of the process. Jobs of
   * other tools stop then, and their outcome is unknown. Arguments are not stored, because no such tool needs them.
   */
  resume?: JobWork;
};

/** An error whose text can be shown as a result. */
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

/** A question got no answer. A tool that does not catch it ends with a fault that says so. */
export class Unanswered extends AdvisedError {
  override readonly name = "Unanswered";
}

/** A picture or file could not be stored at the gateway. */
export class Unstorable extends AdvisedError {
  override readonly name = "Unstorable";
}

/** Infers the input's type, so that `execute` is checked against the schema. */
export function defineTool<Input extends z.ZodMiniType>(tool: Tool<Input>): Tool {
  // SAFETY: the runner parses with this schema before it calls execute.
  return tool as unknown as Tool;
}

/** A result only for the model; the person does not see it. */
export function textResult(text: string, details?: Record<string, unknown>): ToolResult {
  return { content: [{ type: "text", text }], ...(details && { details }) };
}

/** A result with the same text for the model and the person. */
export function sharedResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], forUser: text };
}

/** An accepted call, whose final result follows under the token `job`. */
export function jobResult(text: string, job: string): ToolResult {
  return { content: [{ type: "text", text }], forUser: text, job };
}

/** A failed result. `advice` tells the model what to do next. */
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

/** Returns the text of a result, without placeholders for other content, which travels separately. */
export function toolResultText(result: ToolResult): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Returns all text of a result, with placeholders for other content. */
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

/** Returns the text and advice of a result, as an outcome stores them. */
export function advisedOf(result: ToolResult): Advised {
  return {
    text: toolResultText(result),
    ...(result.fault?.advice !== undefined && { advice: result.fault.advice }),
  };
}

/** Returns all text of a result for a model. */
export function modelTextOf(result: ToolResult): string {
  return forModel({ text: textOf(result), advice: result.fault?.advice });
}

/** Converts a result to EvoClaw's shape `{tool, status, result}`. */
export function toLegacyResult(
  tool: string,
  result: ToolResult,
): { tool: string; status: "success" | "error"; result: string; error?: string } {
  const text = textOf(result);
  return result.fault
    ? { tool, status: "error", result: text, error: result.fault.message }
    : { tool, status: "success", result: text };
}
