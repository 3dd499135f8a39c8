/**
 * Runs one call of a tool: find, mend, parse, policy, lock, time-out and abort, run, catch, filter secrets,
 * cap, log. Whatever happens, the answer is a ToolResult; nothing is thrown.
 */
import { parseArguments } from "./arguments.ts";
import {
  faultResult,
  type Question,
  type Target,
  type Tool,
  type ToolContext,
  type ToolResult,
  Unanswered,
  Unstorable,
} from "./contract.ts";
import { errorText } from "./errors.ts";
import { ABORT_GRACE_MS, type Execution, execute } from "./execute.ts";
import type { KeepArtifact } from "./inline.ts";
import type { Locks } from "./locks.ts";
import { outgoing } from "./outgoing.ts";
import type { ToolRegistry } from "./registry.ts";
import { maskSecrets } from "./secrets.ts";

export { parseArguments } from "./arguments.ts";
export { cutText, RESULT_IMAGE_MAX_BYTES, RESULT_TEXT_MAX_BYTES } from "./outgoing.ts";

/** A call whose tool was found and whose arguments have their one form: what is judged, shown and recorded is what runs. */
export type ParsedCall = { tool: Tool; input: Record<string, unknown> };

export type RunRequest = {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** From `parseCall`, for whoever judged or showed the call; absent: it is parsed here. */
  parsed?: ParsedCall;
  /** The targets that were judged, for a tool that has some. */
  targets?: readonly Target[];
  /** Wanted time-out; the tool's own when absent, never above its greatest. */
  timeoutMs?: number;
  caller: ToolContext["caller"];
  /** A cancel. It also bounds the wait for a lock, which no time-out does. */
  signal?: AbortSignal;
  /** Output as it comes, without secrets; how much of it goes on, and how often, is up to the caller. */
  update?: (text: string) => void;
  /** Puts a question of the tool to the person; rejects with Unanswered. Absent: nobody can be asked. */
  ask?: (question: Question, signal: AbortSignal) => Promise<string>;
  /** Absent: no jobs here. */
  job?: ToolContext["job"];
  /** Absent: a tool can call no other. */
  call?: ToolContext["call"];
  /** Keeps a picture or file; rejects with Unstorable. Absent: only pictures that fit the result. */
  artifact?: KeepArtifact;
};

export type RunEvent =
  | { event: "tool.start"; callId: string; tool: string }
  | { event: "tool.end"; callId: string; tool: string; ms: number; job?: string }
  | {
      event: "tool.error";
      callId: string;
      tool: string;
      ms: number;
      code: string;
      message: string;
      cause?: string;
    };

export type RunnerOptions = {
  /** Says no with a fault, or lets the call pass with undefined. Asked on every call, whoever made it. */
  policy?: (tool: Tool, input: unknown, caller: ToolContext["caller"]) => ToolResult | undefined;
  /** The locks of this device; without them calls run as they come. */
  locks?: Locks;
  /** Each occurrence in a result, in live output and in the log becomes `[secret]`; at least 8 characters each. */
  secrets?: readonly string[];
  /** How long a stopped tool has to give back what it got, in ms. */
  graceMs?: number;
  log?: (event: RunEvent) => void;
  now?: () => number;
};

/** `elapsedMs` is the tool's own time, without the wait for a lock. */
export type RunOutcome = { result: ToolResult; elapsedMs: number };

export async function runTool(
  registry: ToolRegistry,
  request: RunRequest,
  options: RunnerOptions = {},
): Promise<RunOutcome> {
  const now = options.now ?? (() => performance.now());
  let startedAt = now();
  options.log?.({ event: "tool.start", callId: request.callId, tool: request.name });
  const secrets = options.secrets ?? [];
  const onStart = () => {
    startedAt = now();
  };
  const result = await attempt(registry, request, options, onStart)
    .then((given) => outgoing(given, secrets))
    .catch((error: unknown) => outgoing(failed(request.name, error), secrets));
  const elapsedMs = Math.max(0, Math.round(now() - startedAt));
  options.log?.(endEvent(request, result, elapsedMs, secrets));
  return { result, elapsedMs };
}

async function attempt(
  registry: ToolRegistry,
  request: RunRequest,
  options: RunnerOptions,
  onStart: () => void,
): Promise<ToolResult> {
  const parsed = request.parsed ?? parseCall(registry, request);
  if ("fault" in parsed) return parsed.fault;
  const { tool, input } = parsed;

  const refusal = options.policy?.(tool, input, request.caller);
  if (refusal) return refusal;
  if (request.signal?.aborted) return notStarted(tool.name);

  const execution: Execution = {
    callId: request.callId,
    tool,
    input,
    caller: request.caller,
    timeoutMs: Math.min(Math.max(1, wantedMs(tool, input, request)), tool.maxTimeoutMs),
    what: whatTimedOut(input),
    signal: request.signal,
    update: request.update,
    ask: request.ask,
    job: request.job,
    call: request.call,
    artifact: request.artifact,
    targets: request.targets,
    secrets: options.secrets ?? [],
    graceMs: options.graceMs ?? ABORT_GRACE_MS,
    onStart,
  };
  return options.locks ? await underLock(options.locks, execution) : await execute(execution).result;
}

/** Finds the tool and brings the arguments into their one form; done once for a call, before anybody judges it. */
export function parseCall(
  registry: ToolRegistry,
  { name, args }: Pick<RunRequest, "name" | "args">,
): ParsedCall | { fault: ToolResult } {
  const tool = registry.get(name);
  if (!tool) return { fault: faultResult("unknown_tool", errorText.unknownTool(name, registry.list())) };
  const parsed = parseArguments(tool, args);
  return parsed.ok ? { tool, input: parsed.input } : { fault: parsed.fault };
}

/** What the call asks for is more to the point than what comes with every call. */
function wantedMs(tool: Tool, input: unknown, { timeoutMs }: RunRequest): number {
  return tool.timeoutIn?.(input) ?? timeoutMs ?? tool.timeoutMs;
}

/** The call is answered when its result is there; the lock is free when the tool has let go. */
async function underLock(locks: Locks, execution: Execution): Promise<ToolResult> {
  const { tool, input, signal } = execution;
  const key = tool.lock?.(input);
  const need = { alone: tool.runs === "alone", ...(key !== undefined && { key }) };
  return await new Promise<ToolResult>((resolve) => {
    locks
      .run(need, signal, () => {
        const { result, released } = execute(execution);
        resolve(result);
        return released;
      })
      .catch(() => resolve(notStarted(tool.name)));
  });
}

function whatTimedOut(args: Record<string, unknown>): string | undefined {
  return typeof args.command === "string" ? `Command: '${args.command.slice(0, 200)}'.` : undefined;
}

function failed(name: string, error: unknown): ToolResult {
  if (error instanceof Unanswered) return faultResult("unanswered", error.words);
  if (error instanceof Unstorable) return faultResult("unavailable", error.words);
  const message = error instanceof Error ? error.message : String(error);
  return faultResult("tool_failed", `Error: Tool '${name}' failed: ${message}`, { cause: error });
}

function notStarted(name: string): ToolResult {
  return faultResult("aborted", errorText.cancelled(name, false));
}

function endEvent(request: RunRequest, result: ToolResult, ms: number, secrets: readonly string[]): RunEvent {
  const common = { callId: request.callId, tool: request.name, ms };
  if (!result.fault) return { event: "tool.end", ...common, ...(result.job && { job: result.job }) };
  const { code, message, cause } = result.fault;
  return {
    event: "tool.error",
    ...common,
    code,
    message,
    ...(cause instanceof Error && { cause: maskSecrets(cause.message, secrets) }),
  };
}
