/**
 * Runs one tool call: finds the tool, repairs and parses the arguments, asks the policy, takes the lock, runs with time-out
 * and abort, catches errors, masks secrets, cuts and logs. The answer is always a ToolResult; nothing is thrown.
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
import { ABORT_GRACE_MS, type AskGateway, type Execution, execute } from "./execute.ts";
import type { KeepArtifact } from "./inline.ts";
import type { Locks } from "./locks.ts";
import { outgoing } from "./outgoing.ts";
import type { ToolRegistry } from "./registry.ts";
import { maskSecrets } from "./secrets.ts";

export { parseArguments } from "./arguments.ts";
export { cutText, RESULT_IMAGE_MAX_BYTES, RESULT_TEXT_MAX_BYTES } from "./outgoing.ts";

/** A call with its tool and parsed arguments. Exactly this is judged, shown, recorded and run. */
export type ParsedCall = { tool: Tool; input: Record<string, unknown> };

export type RunRequest = {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** The result of `parseCall`, when the call was judged or shown before; absent = it is parsed here. */
  parsed?: ParsedCall;
  /** The targets that the policy judged, if the tool has any. */
  targets?: readonly Target[];
  /** Wanted time-out; absent = the tool's default. The tool's maximum limits it. */
  timeoutMs?: number;
  caller: ToolContext["caller"];
  /** Aborted by a cancel. It also ends the wait for a lock, which no time-out limits. */
  signal?: AbortSignal;
  /** Gets output as it appears, without secrets. The caller decides how much to forward and how often. */
  update?: (text: string) => void;
  /** Asks the person a question of the tool; rejects with Unanswered. Absent = nobody can be asked. */
  ask?: (question: Question, signal: AbortSignal) => Promise<string>;
  /** Absent = jobs are not possible. */
  job?: ToolContext["job"];
  /** Absent = a tool cannot call another one. */
  call?: ToolContext["call"];
  /** Absent = the gateway cannot be asked. */
  gateway?: AskGateway;
  /** Stores a picture or file; rejects with Unstorable. Absent = only pictures that fit the result are kept. */
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
  /** Refuses a call with a fault, or allows it with undefined. Every call is checked, whoever made it. */
  policy?: (tool: Tool, input: unknown, caller: ToolContext["caller"]) => ToolResult | undefined;
  /** The locks of this device; without them calls run at once. */
  locks?: Locks;
  /** Replaced by `[secret]` in results, live output and the log; each has at least 8 characters. */
  secrets?: readonly string[];
  /** How long a stopped tool has to return what it got, in ms. */
  graceMs?: number;
  log?: (event: RunEvent) => void;
  now?: () => number;
};

/** `elapsedMs` does not include the wait for a lock. */
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
    timeoutMs: Math.min(
      Math.max(1, tool.timeoutIn?.(input) ?? request.timeoutMs ?? tool.timeoutMs),
      tool.maxTimeoutMs,
    ),
    what: typeof input.command === "string" ? `Command: '${input.command.slice(0, 200)}'.` : undefined,
    signal: request.signal,
    update: request.update,
    ask: request.ask,
    job: request.job,
    call: request.call,
    gateway: request.gateway,
    artifact: request.artifact,
    targets: request.targets,
    secrets: options.secrets ?? [],
    graceMs: options.graceMs ?? ABORT_GRACE_MS,
    onStart,
  };
  return options.locks ? await underLock(options.locks, execution) : await execute(execution).result;
}

/** Finds the tool and parses the arguments. This happens once for each call, before the policy judges it. */
export function parseCall(
  registry: ToolRegistry,
  { name, args }: Pick<RunRequest, "name" | "args">,
): ParsedCall | { fault: ToolResult } {
  const tool = registry.get(name);
  if (!tool) return { fault: faultResult("unknown_tool", errorText.unknownTool(name, registry.list())) };
  const parsed = parseArguments(tool, args);
  return parsed.ok ? { tool, input: parsed.input } : { fault: parsed.fault };
}

/** Returns when the result is there, and releases the lock when the tool has really stopped. */
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
