/**
 * A tool that is made of other tools of this device. Each step gets the parameters, and results of steps before it. One
 * approval shows all steps (calls/run-action.ts), and the strictest of them counts for the whole.
 */
import { randomUUID } from "node:crypto";
import type { CallRecord, Outcome } from "@edgecall/core/loop/history.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import {
  type Content,
  defineTool,
  type Effect,
  faultResult,
  type Permission,
  type PlannedStep,
  type Tool,
  type ToolContext,
  type ToolResult,
  textOf,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { namesOfPointer, resolveReferences, resultDocument } from "@edgecall/core/tools/references.ts";
import { cutText, parseArguments } from "@edgecall/core/tools/runner.ts";
import { innerOutcome, innerRecord } from "../calls/inner-outcome.ts";
import type { ToolDefinition } from "./skill-file.ts";
import { PARAMS } from "./steps.ts";
import { inputOf } from "./tool-schema.ts";

/** The longest time-out of a skill's tool. */
const TIMEOUT_MAX_MS = 300_000;
/** Bytes of an earlier step's result in the words of a failure. */
const DONE_BYTES = 200;
/** A task is a loop of its own, whose calls nobody could show before. */
const NO_STEP = ["task"];

const MILDEST_FIRST = ["read", "network", "write", "device", "exec"] as const satisfies readonly Effect[];

export type Composition = ToolDefinition & { steps: readonly PlannedStep[] };

type Bound = { step: PlannedStep; tool: Tool };

/**
 * @param find returns a tool of this device that is not itself made of others
 * @returns the tool, or why it cannot be offered
 */
export function composedTool(
  definition: Composition,
  find: (name: string) => Tool | undefined,
): Tool | { reason: string } {
  const bound: Bound[] = [];
  for (const step of definition.steps) {
    const tool = find(step.tool);
    const reason = tool ? unfit(step, tool) : `there is no tool '${step.tool}' here that a step may call`;
    if (!tool || reason !== undefined) return { reason: `step '${step.id}': ${reason}` };
    bound.push({ step, tool });
  }
  const tools = bound.map(({ tool }) => tool);
  const effect = MILDEST_FIRST.findLast((one) => tools.some((tool) => tool.effect === one)) ?? "read";
  const permission = tools.find(
    (tool) => tool.effect === effect && tool.permission !== undefined,
  )?.permission;
  const permissions = [...new Set(tools.flatMap(needsOf))];
  const timeoutMs = Math.min(
    TIMEOUT_MAX_MS,
    tools.reduce((sum, tool) => sum + tool.timeoutMs, 0),
  );
  const plan = (input: Record<string, unknown>) =>
    definition.steps.map((step) => withParameters(step, input));
  return defineTool({
    name: definition.name,
    description: definition.description,
    input: inputOf(definition.parameters),
    effect,
    ...(permission !== undefined && { permission }),
    permissions,
    idempotent: tools.every(({ idempotent }) => idempotent),
    taints: tools.some((tool) => tool.taints === true || tool.taintsIn !== undefined),
    timeoutMs,
    maxTimeoutMs: timeoutMs,
    plan,
    async execute(input, context): Promise<ToolResult> {
      const { call } = context;
      return call
        ? await runSteps(plan(input), { params: input, call, signal: context.signal })
        : faultResult(
            "unavailable",
            `Error: Tool '${definition.name}' is made of tools, and cannot call them here.`,
          );
    },
  });
}

/** Stands for the tool in a set of skills, before the tools of its steps are known. */
export function unboundTool(definition: Composition): Tool {
  const { name, description, parameters, timeoutMs } = definition;
  const times = { timeoutMs, maxTimeoutMs: timeoutMs };
  const execute = async () => faultResult("unavailable", `Error: The tools of '${name}' are not known.`);
  return defineTool({
    name,
    description,
    input: inputOf(parameters),
    effect: "exec",
    idempotent: false,
    ...times,
    execute,
  });
}

function unfit({ params }: PlannedStep, tool: Tool): string | undefined {
  if (NO_STEP.includes(tool.name) || tool.own) return `a step cannot call '${tool.name}'`;
  // It would wait until this call has ended, and this call waits for it.
  if (tool.runs === "alone") return `'${tool.name}' runs alone, and a step runs within another call`;
  // With references the arguments are known only at the call.
  if (JSON.stringify(params).includes('"$ref"')) return undefined;
  const parsed = parseArguments(tool, params);
  return parsed.ok
    ? undefined
    : textOf(parsed.fault)
        .replace(/^Error: /, "")
        .split("\n")[0];
}

function needsOf({ permission, permissions }: Tool): readonly Permission[] {
  return permissions ?? (permission === undefined ? [] : [permission]);
}

/** The step as a person sees it: with the values of the parameters, while results of other steps stay references. */
function withParameters(step: PlannedStep, params: Record<string, unknown>): PlannedStep {
  const isParameter = (pointer: string) => namesOfPointer(pointer)[0] === PARAMS;
  const resolved = resolveReferences(step.params, { [PARAMS]: params }, isParameter);
  // One that is too large is refused where its step would run.
  return resolved.ok ? { ...step, params: resolved.value as Record<string, unknown> } : step;
}

type Run = {
  params: Record<string, unknown>;
  call: NonNullable<ToolContext["call"]>;
  signal: AbortSignal;
};

/** A step that failed. @property at its place, from 0 */
type Failed = { at: number; step: PlannedStep; result: ToolResult };

async function runSteps(steps: readonly PlannedStep[], { params, call, signal }: Run): Promise<ToolResult> {
  const document: Record<string, unknown> = { [PARAMS]: params };
  const records: Array<CallRecord & { at: number }> = [];
  const handled: string[] = [];
  let failed: Failed | undefined;
  let last: ToolResult | undefined;
  for (const [at, step] of steps.entries()) {
    if (signal.aborted) break;
    if (step.when !== "always" && (step.when === "failure") !== (failed !== undefined)) continue;
    const { id, name, args, ...ended } = await runStep(step, document, call);
    const { result, outcome } = ended;
    records.push({ ...innerRecord({ id, name, args }, outcome), at });
    document[step.id] = stepDocument(result);
    if (result.fault) failed = { at, step, result };
    else {
      if (failed && step.when === "failure") {
        handled.push(failureText(failed, steps));
        failed = undefined;
      }
      last = result;
    }
  }
  const calls = records.map(({ at: _, ...record }) => record);
  if (signal.aborted) return textResult(doneText(records, steps), { calls });
  if (failed) return failureOf(failed, steps, records, calls);
  return succeeded(last, handled, calls);
}

async function runStep(
  step: PlannedStep,
  document: Record<string, unknown>,
  call: Run["call"],
): Promise<{
  id: string;
  name: string;
  args: Record<string, unknown>;
  result: ToolResult;
  outcome: Outcome;
}> {
  const id = randomUUID();
  const resolved = resolveReferences(step.params, document);
  // SAFETY: params are an object, and so is what a reference may stand for in their place (checked below).
  const args = (resolved.ok ? resolved.value : step.params) as Record<string, unknown>;
  const problem = resolved.ok ? notAnObject(args) : resolved.error;
  const inner =
    problem === undefined
      ? await call({ callId: id, name: step.tool, args })
      : {
          result: faultResult("invalid_params", `Error: Invalid parameters for '${step.tool}': ${problem}.`),
          elapsedMs: 0,
        };
  return { id, name: step.tool, args, result: inner.result, outcome: innerOutcome(inner) };
}

function notAnObject(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? undefined
    : "what stands for all of them is not an object";
}

function stepDocument(result: ToolResult): Record<string, unknown> {
  const { fault, details } = result;
  return {
    status: fault ? "error" : "success",
    ...resultDocument(textOf(result)),
    ...(details?.data !== undefined && { data: details.data }),
    ...(fault && { error: fault.message }),
    ...(details?.exit_code !== undefined && { exit_code: details.exit_code }),
  };
}

function failureOf(
  failed: Failed,
  steps: readonly PlannedStep[],
  records: ReadonlyArray<CallRecord & { at: number }>,
  calls: CallRecord[],
): ToolResult {
  const { fault } = failed.result;
  const before = records.filter(({ at }) => at < failed.at);
  const after = records.filter(({ at }) => at > failed.at);
  const words = [
    `Error: ${failureText(failed, steps)}`,
    doneText(before, steps),
    ...(after.length > 0 ? [`After it: ${listed(after, steps)}.`] : []),
  ];
  return faultResult(
    fault?.code ?? "tool_failed",
    { text: words.join("\n"), advice: fault?.advice },
    { details: { calls } },
  );
}

function failureText({ at, step, result }: Failed, steps: readonly PlannedStep[]): string {
  return `Step ${at + 1} of ${steps.length} ('${step.id}': ${step.tool}) failed: ${forPerson({ text: textOf(result) })}`;
}

function doneText(
  records: ReadonlyArray<CallRecord & { at: number }>,
  steps: readonly PlannedStep[],
): string {
  return records.length === 0 ? "Nothing was done before it." : `Done before it: ${listed(records, steps)}.`;
}

function listed(records: ReadonlyArray<CallRecord & { at: number }>, steps: readonly PlannedStep[]): string {
  return records
    .map(({ at, name, status, result, error }) => {
      const text = cutText((result ?? error ?? "").trim(), DONE_BYTES).replace(/\s*\n\s*/g, " ");
      return `${at + 1} '${steps[at]?.id}' (${name})${status === "error" ? " failed" : ""}: ${text}`;
    })
    .join("; ");
}

/** The last step's result is the tool's, as in a pipe. */
function succeeded(
  last: ToolResult | undefined,
  handled: readonly string[],
  calls: CallRecord[],
): ToolResult {
  const note: Content[] = handled.map((text) => ({
    type: "text",
    text: `${text}\nThe steps for that case ran:`,
  }));
  const { content, forUser, details } = last ?? textResult("No step had to run.");
  return {
    content: [...note, ...content],
    ...(forUser !== undefined && { forUser }),
    details: { ...details, calls },
  };
}
