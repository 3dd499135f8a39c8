/**
 * Runs one call of a tool: find, mend, parse, policy, time-out and abort, run, catch, cap, log.
 * Whatever happens, the answer is a ToolResult; nothing is thrown.
 */
import { check, jsonSchema } from "../protocol/parse.ts";
import { type Content, faultResult, type Tool, type ToolContext, type ToolResult } from "./contract.ts";
import { errorText } from "./errors.ts";
import type { ToolRegistry } from "./registry.ts";

/** Text of one result, in bytes: more would push everything else out of the model's sight. */
export const RESULT_TEXT_MAX_BYTES = 50 * 1024;
/** An image of one result, in bytes of base64: it has to fit a frame and a row. */
export const RESULT_IMAGE_MAX_BYTES = 64 * 1024;

export type RunRequest = {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** Wanted time-out; the tool's own when absent, never above its greatest. */
  timeoutMs?: number;
  caller: ToolContext["caller"];
  signal?: AbortSignal;
  update?: (text: string) => void;
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
  log?: (event: RunEvent) => void;
  now?: () => number;
};

export type RunOutcome = { result: ToolResult; elapsedMs: number };

export async function runTool(
  registry: ToolRegistry,
  request: RunRequest,
  options: RunnerOptions = {},
): Promise<RunOutcome> {
  const now = options.now ?? (() => performance.now());
  const startedAt = now();
  options.log?.({ event: "tool.start", callId: request.callId, tool: request.name });
  const result = await attempt(registry, request, options)
    .then(capped)
    .catch((error: unknown) => capped(failed(request.name, error)));
  const elapsedMs = Math.max(0, Math.round(now() - startedAt));
  options.log?.(endEvent(request, result, elapsedMs));
  return { result, elapsedMs };
}

async function attempt(
  registry: ToolRegistry,
  request: RunRequest,
  options: RunnerOptions,
): Promise<ToolResult> {
  const tool = registry.get(request.name);
  if (!tool) return faultResult("unknown_tool", errorText.unknownTool(request.name, registry.list()));

  const parsed = parseArguments(tool, request.args);
  if (!parsed.ok) return parsed.fault;

  const refusal = options.policy?.(tool, parsed.input, request.caller);
  if (refusal) return refusal;
  if (request.signal?.aborted) return cancelled(tool.name);

  return await executeInTime(tool, parsed.input, request);
}

async function executeInTime(tool: Tool, input: unknown, request: RunRequest): Promise<ToolResult> {
  const timeoutMs = Math.min(Math.max(1, request.timeoutMs ?? tool.timeoutMs), tool.maxTimeoutMs);
  const clock = new AbortController();
  // Not AbortSignal.timeout: its timer lives on after the call, for an hour with some tools.
  const timer = setTimeout(() => clock.abort(new DOMException("timed out", "TimeoutError")), timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, clock.signal]) : clock.signal;
  const ended = new Promise<ToolResult>((resolve) => {
    signal.addEventListener("abort", () =>
      resolve(
        request.signal?.aborted
          ? cancelled(tool.name)
          : faultResult("timeout", errorText.timeout(tool.name, timeoutMs, whatTimedOut(request.args))),
      ),
    );
  });
  const context: ToolContext = {
    callId: request.callId,
    caller: request.caller,
    signal,
    update: request.update ?? (() => {}),
  };
  try {
    // A tool that ignores its signal must not hold the call: the first of the two answers counts.
    return await Promise.race([tool.execute(input, context), ended]);
  } finally {
    clearTimeout(timer);
  }
}

type ParsedArguments = { ok: true; input: unknown } | { ok: false; fault: ToolResult };

/** Mends and parses the arguments of a call; the fault names what is wrong and what the tool takes. */
export function parseArguments(
  tool: Pick<Tool, "name" | "input" | "prepare">,
  args: Record<string, unknown>,
): ParsedArguments {
  const schema = jsonSchema(tool.input);
  const mended = mendScalars(tool.prepare ? tool.prepare(args) : args, schema);
  const missing = (Array.isArray(schema.required) ? schema.required : []).find(
    (name) => mended[name] === undefined,
  );
  if (missing !== undefined) {
    return {
      ok: false,
      fault: faultResult(
        "invalid_params",
        errorText.invalidParams(tool.name, `missing '${missing}'`, schema),
      ),
    };
  }
  const parsed = check(tool.input, mended);
  if (parsed.ok) return { ok: true, input: parsed.value };
  return {
    ok: false,
    fault: faultResult("invalid_params", errorText.invalidParams(tool.name, parsed.error, schema)),
  };
}

type Property = { type?: unknown; anyOf?: Array<{ type?: unknown }> };

/** Models write `"5"` for 5, `"[1]"` for [1] and null for "left out"; the schema says when that was meant. */
function mendScalars(
  args: Record<string, unknown>,
  schema: Record<string, unknown>,
): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Property>;
  const mended = Object.entries(args).flatMap(([name, value]): Array<[string, unknown]> => {
    const types = typesOf(properties[name] ?? {});
    if (value === null && !types.includes("null")) return [];
    return [[name, typeof value === "string" && !types.includes("string") ? mendText(value, types) : value]];
  });
  return Object.fromEntries(mended);
}

function typesOf({ type, anyOf }: Property): unknown[] {
  return [type, ...(anyOf ?? []).map((option) => option.type)].flat();
}

function mendText(text: string, types: readonly unknown[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return types.includes(jsonType(value)) || (Number.isInteger(value) && types.includes("integer"))
    ? value
    : text;
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function whatTimedOut(args: Record<string, unknown>): string | undefined {
  return typeof args.command === "string" ? `Command: '${args.command.slice(0, 200)}'.` : undefined;
}

function failed(name: string, error: unknown): ToolResult {
  const message = error instanceof Error ? error.message : String(error);
  return faultResult("tool_failed", `Error: Tool '${name}' failed: ${message}`, { cause: error });
}

function cancelled(name: string): ToolResult {
  return faultResult("aborted", `Error: Tool '${name}' was cancelled.`);
}

function endEvent(request: RunRequest, result: ToolResult, ms: number): RunEvent {
  const common = { callId: request.callId, tool: request.name, ms };
  if (!result.fault) return { event: "tool.end", ...common, ...(result.job && { job: result.job }) };
  const { code, message, cause } = result.fault;
  return {
    event: "tool.error",
    ...common,
    code,
    message,
    ...(cause instanceof Error && { cause: cause.message }),
  };
}

/** Holds a result to its sizes, for each of its readers; what was cut is said in it. */
function capped(result: ToolResult): ToolResult {
  let left = RESULT_TEXT_MAX_BYTES;
  const content = result.content.map((part): Content => {
    if (part.type === "image" && part.data.length > RESULT_IMAGE_MAX_BYTES) {
      return {
        type: "text",
        text: `[image of ${part.data.length} bytes left out: over ${RESULT_IMAGE_MAX_BYTES}]`,
      };
    }
    if (part.type !== "text") return part;
    const text = cutText(part.text, left);
    left = Math.max(0, left - new TextEncoder().encode(text).length);
    return { type: "text", text };
  });
  const { forUser, fault } = result;
  return {
    ...result,
    content,
    ...(forUser !== undefined && { forUser: cutText(forUser, RESULT_TEXT_MAX_BYTES) }),
    ...(fault && { fault: { ...fault, message: cutText(fault.message, RESULT_TEXT_MAX_BYTES) } }),
  };
}

/** Cuts text at a whole character so that its UTF-8 form, without the notice, fits `maxBytes`. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  // In streaming mode the decoder keeps a character that is cut in two to itself instead of replacing it.
  const head = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(
    bytes.subarray(0, maxBytes),
    {
      stream: true,
    },
  );
  return `${head}\n[Cut: ${maxBytes} of ${bytes.length} bytes shown.]`;
}
