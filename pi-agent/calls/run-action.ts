/** Makes one call of a tool, from any source: policy, approval, then the runner. */

import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { InnerCall, Question, Target, Tool, ToolResult } from "@edgecall/core/tools/contract.ts";
import { faultResult, Unanswered } from "@edgecall/core/tools/contract.ts";
import { blockedAction, errorTypeOf } from "@edgecall/core/tools/errors.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import {
  type ParsedCall,
  parseCall,
  type RunnerOptions,
  type RunOutcome,
  runTool,
} from "@edgecall/core/tools/runner.ts";
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { Log } from "@edgecall/node/log.ts";
import { QUESTION_EXPIRES_MS, QUESTION_MAX_MS } from "../config/question-times.ts";
import type { Settings } from "../config/settings.ts";
import { type Approval, type ApprovalParts, askForApproval } from "./approvals.ts";
import type { AuditLog } from "./audit.ts";
import type { Budget } from "./budget.ts";
import { callGateway } from "./call-gateway.ts";
import type { CommandCall } from "./command.ts";
import type { GatewayCalls } from "./gateway-calls.ts";
import type { Jobs } from "./jobs.ts";
import { Journal } from "./journal.ts";
import type { OfferedTools } from "./offered-tools.ts";
import { decide, decidePlan } from "./policy.ts";
import type { ProfileInForce } from "./profile-in-force.ts";
import type { ProgramEvents } from "./program-events.ts";
import { addToolSpan, traceOfTool } from "./spans.ts";
import { type StandingParts, standingApproval } from "./standing.ts";
import type { ToolMetrics } from "./tool-metrics.ts";
import { innerCalls } from "./tool-reply.ts";
import type { Uploads } from "./uploads.ts";
import { withWrites, writesOf } from "./writes.ts";

/** The wire's bounds for a question. */
const QUESTION_CHARS = 4_000;
const OPTION_CHARS = 200;
const MAX_OPTIONS = 20;
/** The record has this many characters of an error. */
const ERROR_CHARS = 500;

type Action = {
  /** The id of this call in the tool, the log and the record. */
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** The time-out that the caller wants, in ms. */
  timeoutMs?: number;
  /** True if a tool makes this call as a part of its own. */
  inner?: true;
  /** The tools among which its tool is looked up; absent = those that the device offers. */
  registry?: ToolRegistry;
  /** A step of a tool that was judged with all its steps. Only this file sets it. */
  step?: true;
};

/** `args`: the arguments with which it ran; absent when they were refused. `ran`: false when the tool certainly did not start. */
type ActionOutcome = RunOutcome & { ran: boolean; args?: Record<string, unknown> };

/** What a call of a tool uses. */
export type ActionParts = ApprovalParts & {
  settings: Pick<Settings, "policy" | "permissions">;
  tools: Pick<OfferedTools, "registry">;
  runner: RunnerOptions;
  profile: Pick<ProfileInForce, "blocks">;
  gatewayCalls: GatewayCalls;
  jobs: Jobs;
  uploads: Uploads;
  /** Hears what programs of skills say. */
  events: ProgramEvents;
  audit: AuditLog;
  /** Undefined: this device has no gateway of its own, and honours no permission. */
  standing: StandingParts | undefined;
  toolMetrics: ToolMetrics;
  log: Log;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
};

/** @param starting called right before the tool runs; if it returns a result, that is a refusal */
export type RunAction = (
  action: Action,
  call: CommandCall,
  starting?: (call: ParsedCall) => Promise<ToolResult | undefined>,
) => Promise<ActionOutcome>;

/** Makes the function by which every command calls tools. */
export function actionRunner(parts: ActionParts): RunAction {
  return (action, call, starting) => runAction(action, call, parts, starting);
}

async function runAction(
  action: Action,
  call: CommandCall,
  parts: ActionParts,
  starting?: (call: ParsedCall) => Promise<ToolResult | undefined>,
): Promise<ActionOutcome> {
  // Parsed once, before all else. Skills may be read again while the call waits for an approval: what was approved runs.
  const registry = action.registry ?? parts.tools.registry;
  const found = parseCall(registry, action);
  const parsed = "fault" in found ? undefined : found;
  const startMs = Date.now();
  const { approval, ...outcome } = await attempt(action, { parsed, registry }, call, parts, starting);
  const { fault } = outcome.result;
  const error = fault && errorTypeOf(fault.code);
  addToolSpan(parts, call.span, { callId: action.callId, name: action.name, startMs, error });
  const isPlanned = parsed?.tool.plan !== undefined;
  record({ ...action, args: parsed?.input ?? action.args }, { ...outcome, approval, isPlanned }, call, parts);
  return { ...outcome, ...(parsed && { args: parsed.input }) };
}

/**
 * Adds a call to the record and the figures, whatever its result. A refusal is a call too. A step is a part of its tool's
 * line, and has its own only if a person was asked for it.
 */
function record(
  action: Action,
  {
    result,
    elapsedMs,
    approval,
    isPlanned,
  }: RunOutcome & { approval: Approval | undefined; isPlanned: boolean },
  call: CommandCall,
  parts: ActionParts,
): void {
  const { fault, details } = result;
  parts.toolMetrics.count(
    action.name,
    elapsedMs,
    fault && { text: fault.message, errorType: errorTypeOf(fault.code) },
  );
  if (action.step && !approval) return;
  parts.audit.record({
    agent_id: parts.settings.agentId,
    tool: action.name.slice(0, 128),
    parameters: action.args,
    result: fault ? "error" : "success",
    ...(fault && { error_type: errorTypeOf(fault.code), error: cutText(fault.message, ERROR_CHARS) }),
    exit_code: Number.isInteger(details?.exit_code) ? (details?.exit_code as number) : null,
    elapsed_ms: elapsedMs,
    call_id: action.callId.slice(0, 128),
    request_id: call.command.request_id,
    caller: call.caller,
    ...(approval && { approval }),
    ...(isPlanned && { parts: innerCalls(result).map(partOf) }),
  });
}

/** A step in the line of its tool. */
function partOf({ name, status, error_type, elapsed_ms }: CallRecord) {
  return { tool: name, result: status, ...(error_type && { error_type }), elapsed_ms };
}

/** @param parsed absent when there is no such tool or its arguments are wrong: then nobody has to be asked */
async function attempt(
  action: Action,
  { parsed, registry }: { parsed: ParsedCall | undefined; registry: ToolRegistry },
  call: CommandCall,
  parts: ActionParts,
  starting?: (call: ParsedCall) => Promise<ToolResult | undefined>,
): Promise<RunOutcome & { ran: boolean; approval: Approval | undefined }> {
  const permitted: Permitted = parsed ? await permit(parsed, { ...action, registry }, call, parts) : {};
  const { refusal: refused, approval, targets } = permitted;
  const refusal = refused ?? (parsed && (await starting?.(parsed)));
  if (refusal) return { result: refusal, elapsedMs: 0, ran: false, approval };
  let askedMs = 0;
  const events = parsed && parts.events.reader(parsed.tool);
  const outcome = await runTool(
    registry,
    {
      callId: action.callId,
      name: action.name,
      args: action.args,
      ...(parsed && { parsed }),
      ...(targets && { targets }),
      timeoutMs: timeoutOf(parsed?.tool, call.budget, action.timeoutMs),
      caller: call.caller,
      signal: call.signal,
      update: (text) => {
        call.progress?.output(text, action.name);
        events?.add(text);
      },
      ask: async (question, signal) => {
        const askedAt = performance.now();
        try {
          return await ask(question, action.name, signal, call, parts);
        } finally {
          askedMs += performance.now() - askedAt;
        }
      },
      artifact: (bytes, mediaType, signal) =>
        parts.uploads.keep(call.command.request_id, bytes, mediaType, signal),
      ...(parsed && {
        // The result of a job would come after the steps that need it.
        ...(!action.step && { job: (work, { maxMs }) => parts.jobs.begin({ call, parsed }, work, maxMs) }),
        // A call within a call makes no further calls, except a tool's steps, which were judged with it.
        ...(parsed.tool.plan
          ? { call: (inner) => callWithin(inner, call, parts, { registry, step: true }) }
          : !action.inner && { call: (inner) => callWithin(inner, call, parts) }),
        ...(parsed.tool.own &&
          parts.gatewayCalls.areOffered && {
            gateway: (name, args, signal) => {
              const { request_id: requestId } = call.command;
              const trace = traceOfTool(call.span, action.callId);
              const asked = { requestId, callId: action.callId, name, args, ...trace };
              return callGateway(asked, signal, call, parts);
            },
          }),
      }),
    },
    parts.runner,
  );
  events?.end();
  // A job's taint comes with the job's own result.
  if (parsed && taints(parsed) && outcome.result.job === undefined) call.taint.inResults = true;
  // The time that a person takes to answer does not count as the tool's.
  const elapsedMs = Math.max(0, Math.round(outcome.elapsedMs - askedMs));
  return { ...outcome, elapsedMs, ran: parsed !== undefined, approval };
}

function taints({ tool, input }: ParsedCall): boolean {
  return tool.taintsIn?.(input) ?? tool.taints === true;
}

/** Makes a call for a tool. It is recorded like the calls of a prompt, in case the process is killed. */
async function callWithin(
  { callId, name, args, tainted }: InnerCall,
  call: CommandCall,
  parts: ActionParts,
  step: Pick<Action, "registry" | "step"> = {},
): Promise<ActionOutcome> {
  if (tainted) call.taint.inResults = true;
  call.progress?.setTool(name);
  const journal = new Journal({ id: callId, name }, call.command.request_id, parts.ledger);
  // Not the whole object, in which a tool could claim to be a step.
  const action: Action = { callId, name, args, inner: true, ...step };
  const outcome = await runAction(action, call, parts, (it) => journal.starting(it));
  await journal.ended(outcome.result, outcome.elapsedMs);
  return outcome;
}

/** Without a `refusal` the call may run. `approval` is there when a person was asked. */
type Permitted = { refusal?: ToolResult; approval?: Approval; targets?: readonly Target[] };

async function permit(
  { tool, input }: ParsedCall,
  action: Action & { registry: ToolRegistry },
  call: CommandCall,
  parts: ActionParts,
): Promise<Permitted> {
  const { policy, permissions } = parts.settings;
  const targets = await tool.targets?.(input, call.signal);
  const writes = writesOf(targets);
  const steps = tool.plan?.(input);
  const stepTools = steps?.flatMap((step) => action.registry.get(step.tool) ?? []) ?? [];
  // The genome comes before the policy and before anybody is asked. It can only forbid.
  if ([tool, ...stepTools, ...writes.needs].some((one) => parts.profile.blocks(one, action.name))) {
    parts.log("info", "policy.refused", {
      request_id: call.command.request_id,
      tool: tool.name,
      rule: "genome",
    });
    return { refusal: faultResult("blocked", blockedAction(action.name)) };
  }
  const effect = tool.effectIn?.(input) ?? tool.effect;
  const tainted = call.taint.inConversation || call.taint.inResults;
  const danger = tool.danger?.(input, call.caller);
  const own = steps
    ? decidePlan(tool, stepTools, policy, tainted)
    : decide({ ...tool, effect }, policy, { tainted, danger });
  // A step was approved, or allowed, with its tool. But nobody has seen what a result made of its arguments.
  const wasJudged = action.step !== undefined && own.do === "ask" && danger === undefined;
  const decision = withWrites(wasJudged ? { do: "allow" } : own, writes, {
    tool,
    policy,
    held: permissions,
    tainted,
  });
  if (decision.do === "allow") return { ...(targets && { targets }) };
  const isWhole = !action.inner && !action.step && action.callId === call.command.request_id;
  const plain = writes.git === undefined && writes.links.length === 0;
  const standing =
    decision.do === "ask" && isWhole
      ? await standingApproval({ tool, input, effect, tainted, danger, plain }, call, parts.standing)
      : undefined;
  if (standing) {
    parts.log("info", "policy.standing", {
      request_id: call.command.request_id,
      tool: tool.name,
      permission: standing.permission,
    });
    return { approval: standing, ...(targets && { targets }) };
  }
  const permitted: Permitted =
    decision.do === "deny"
      ? { refusal: faultResult("blocked", decision) }
      : await askForApproval(
          {
            tool,
            args: steps ? { ...input, steps } : input,
            reason: decision.reason,
            mayHarm: danger !== undefined,
          },
          call,
          parts,
        );
  const log = { request_id: call.command.request_id, tool: tool.name, rule: decision.do };
  parts.log("info", permitted.refusal ? "policy.refused" : "policy.approved", log);
  return { ...permitted, ...(targets && { targets }) };
}

/** @throws Unanswered */
async function ask(
  { text, options, expiresInMs }: Question,
  tool: string,
  signal: AbortSignal,
  call: CommandCall,
  { ledger, questions }: ActionParts,
): Promise<string> {
  const resume = call.budget.pause();
  await ledger.questionAsked(
    call.command.request_id,
    Math.min(expiresInMs ?? QUESTION_EXPIRES_MS, QUESTION_MAX_MS),
  );
  try {
    const answered = await questions.ask(
      {
        requestId: call.command.request_id,
        text: cutText(text, QUESTION_CHARS),
        ...(options && { options: options.slice(0, MAX_OPTIONS).map((it) => cutText(it, OPTION_CHARS)) }),
        ...(expiresInMs !== undefined && { expiresInMs }),
      },
      signal,
    );
    if (answered.by === "person") return answered.text;
    if (answered.by === "gateway") throw new Unanswered(`Error: Tool '${tool}': ${answered.why}`);
    const why = answered.by === "nobody" ? "nobody answered it in time" : "the call ended first";
    throw new Unanswered({
      text: `Error: Tool '${tool}' asked the user a question, and ${why}.`,
      advice: "Explain to the user.",
    });
  } finally {
    resume();
  }
}

/** @returns the wanted time-out, or the tool's own, at most the rest of the call's budget, in ms */
function timeoutOf(tool: Tool | undefined, budget: Budget, wanted?: number): number {
  const timeout = Math.min(wanted ?? tool?.timeoutMs ?? Number.POSITIVE_INFINITY, budget.remainingMs());
  return Math.max(1, Math.floor(timeout));
}
