/** The tool loop in memory, which a device runs for a `prompt`. The gateway runs the same steps over rows. */
import { forPerson } from "../tools/advice.ts";
import { errorText } from "../tools/errors.ts";
import type { ToolDefinition } from "../tools/registry.ts";
import { keepsTools } from "./api.ts";
import { askFitting } from "./ask-fitting.ts";
import { runBatch, type Slot } from "./batch.ts";
import { boundCalls, sharedOutcome } from "./bounded-calls.ts";
import { cutOf, withCutLine } from "./cut.ts";
import { shownArguments, type Waiting, waitingOf } from "./dependencies.ts";
import { fitHistory } from "./fit.ts";
import {
  addUsage,
  type Call,
  type CallRecord,
  type Cut,
  type Entry,
  type Outcome,
  type Usage,
} from "./history.ts";
import { type ChatMessage, toMessages } from "./messages.ts";
import { type CallTiming, type TurnMetrics, turnMetrics } from "./metrics.ts";
import { HISTORY_MAX_TOKENS, type ModelLimits } from "./model-limits.ts";
import type { ModelReply } from "./model-reply.ts";
import { type LoopLimits, limitNote, modelCalls, nextOf } from "./next.ts";
import type { ToolOffer } from "./offer.ts";
import { replayOf } from "./replay.ts";
import { toCalls } from "./reply.ts";
import type { ModelSettings } from "./request.ts";
import { ModelError, retryDelay } from "./retry.ts";
import { estimateTokens, tokensBeside } from "./tokens.ts";

export type LoopOptions = {
  system: string;
  prompt: string;
  /** Earlier results: the messages before this task. */
  history?: readonly Entry[];
  tools: ToolDefinition[];
  /** Offers some of the tools in place of all. */
  offer?: Pick<ToolOffer, "tools" | "run">;
  limits: LoopLimits;
  /** The model behind `model`, and what is known of how much fits it. */
  fit: { model: ModelSettings; limits: ModelLimits };
  model(request: {
    messages: ChatMessage[];
    tools: ToolDefinition[];
    toolChoice?: "none";
    maxTokens: number;
    signal: AbortSignal;
  }): Promise<ModelReply>;
  runCall(call: Call, signal: AbortSignal, slot: Slot): Promise<Outcome>;
  signal: AbortSignal;
};

export type LoopResult = {
  text: string;
  /** The answer is not whole, and its last line says so. */
  cut?: Cut;
  model: string;
  calls: CallRecord[];
  usage: Usage;
  modelCalls: number;
  metrics: TurnMetrics;
  /** The turn's entries, with the answer. */
  turn: Entry[];
};

/**
 * Runs one turn from the prompt to its answer.
 * @throws ModelError when the model gave no answer after the allowed retries; the reason of `signal` when that was aborted
 */
export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const { history = [] } = options;
  const turn: Entry[] = [{ role: "user", text: options.prompt }];
  let usage: Usage = { input_tokens: 0, output_tokens: 0 };
  let model = "";
  const startedAt = performance.now();
  const batches: CallTiming[][] = [];
  for (;;) {
    options.signal.throwIfAborted();
    const next = nextOf(turn, options.limits);
    if (next.do === "done") {
      const iterations = modelCalls(turn);
      const metrics = turnMetrics(batches, iterations, startedAt, performance.now());
      const last = turn.at(-1);
      const cut = last?.role === "assistant" ? last.cut : undefined;
      return {
        text: next.text,
        ...(cut && { cut }),
        model,
        calls: recordsOf(turn),
        usage,
        modelCalls: iterations,
        metrics,
        turn,
      };
    }
    if (next.do === "calls") {
      batches.push(await makeCalls(next.calls, batchOf(turn), options));
      continue;
    }
    const note = next.tools ? undefined : limitNote(next.limit, options.limits);
    const tools =
      next.tools || keepsTools(options.fit.model) ? (options.offer?.tools(turn) ?? options.tools) : [];
    const reply = await withRetries(options, () => ask(options, turn, tools, note));
    usage = addUsage(usage, reply.usage);
    model = reply.model;
    turn.push(assistantEntry(reply, [...history, ...turn], next.tools));
  }
}

/** Earlier results are left out where they do not fit the model, and results of this turn are shortened. */
function ask(
  { system, history = [], fit, model, signal }: LoopOptions,
  turn: readonly Entry[],
  tools: ToolDefinition[],
  note: string | undefined,
): Promise<ModelReply> {
  const all = [...history, ...turn];
  return askFitting({
    ...fit,
    history: { maxTokens: HISTORY_MAX_TOKENS, isOwn: false },
    beside: tokensBeside([system, note], tools),
    cut: (room) =>
      estimateTokens(all) <= room.maxTokens
        ? all
        : fitHistory(all, { ...room, keepFirst: 0, currentFrom: history.length }).entries,
    send: (entries, maxTokens) =>
      model({
        messages: toMessages(system, entries, note),
        tools,
        ...(note !== undefined && tools.length > 0 && { toolChoice: "none" }),
        maxTokens,
        signal,
      }),
  });
}

/**
 * Converts a reply to an entry. Calls are dropped when the request offered no tools, because nothing would run them.
 * @param isOthers true for a call that another program runs: it is not bounded here
 */
export function assistantEntry(
  reply: ModelReply,
  history: readonly Entry[],
  offeredTools: boolean,
  isOthers?: (call: Call) => boolean,
): Entry & { role: "assistant" } {
  const calls = offeredTools ? boundCalls(toCalls(reply.calls, usedCallIds(history)), isOthers) : [];
  const replay = replayOf(offeredTools ? reply : { ...reply, calls: [] }, calls);
  if (calls.length > 0) return { role: "assistant", text: reply.text, calls, ...(replay && { replay }) };
  const cut = cutOf(reply);
  const text = withCutLine(reply.text.trim() === "" ? "I could not sum this up." : reply.text, cut);
  return { role: "assistant", text, calls, ...(cut && { cut }), ...(replay && { replay }) };
}

function usedCallIds(history: readonly Entry[]): Set<string> {
  return new Set(
    history.flatMap((entry) =>
      entry.role === "assistant" ? entry.calls.map((call) => call.modelCallId) : [],
    ),
  );
}

/** Returns the calls of the last reply. */
function batchOf(turn: readonly Entry[]): readonly Call[] {
  const asked = turn.findLast((entry) => entry.role === "assistant");
  return asked?.calls ?? [];
}

/**
 * Runs the open calls of a reply and stores each outcome in its call as soon as it arrives.
 * @param batch all calls of the reply, which a call may depend on
 */
async function makeCalls(
  calls: readonly Call[],
  batch: readonly Call[],
  options: LoopOptions,
): Promise<CallTiming[]> {
  const { limits, signal, tools, offer, runCall } = options;
  const look = (call: Call) =>
    waitingOf(call, batch, (name) => Object.keys(schemaOf(name, tools).properties ?? {}));
  const batchOptions = {
    maxParallel: limits.maxParallel,
    signal,
    isReady: (call: Call) => look(call).state !== "waits",
  };
  const different = calls.filter(({ same }) => same === undefined);
  const timings = await runBatch(different, batchOptions, async (call, slot) => {
    const startedAt = performance.now();
    const waiting = look(call);
    const made = { ...call, args: waiting.state === "ready" ? waiting.args : call.args };
    const run = async () =>
      unreadable(call, tools) ?? neverRun(waiting) ?? (await runCall(made, signal, slot));
    const outcome = await (offer ? offer.run(made, run) : run());
    call.outcome = outcome;
    for (const other of batch) if (other.same === call.id) other.outcome = sharedOutcome(call, outcome);
    const { status, errorType, elapsedMs } = outcome;
    return { startedAt, endedAt: performance.now(), elapsedMs, status, ...(errorType && { errorType }) };
  });
  return timings.filter((timing) => timing !== undefined);
}

/**
 * Returns the outcome of a call whose arguments could not be read. Such a call must not run: its `args` are empty, which a
 * tool with only optional parameters would accept.
 */
function unreadable(call: Call, tools: readonly ToolDefinition[]): Outcome | undefined {
  if (call.problem === undefined) return undefined;
  const words = errorText.invalidParams(call.name, call.problem, schemaOf(call.name, tools));
  return { status: "error", ...words, errorType: "invalid_params", elapsedMs: 0 };
}

function neverRun(waiting: Waiting): Outcome | undefined {
  if (waiting.state !== "ended") return undefined;
  return { status: "error", ...waiting.words, errorType: waiting.errorType, elapsedMs: 0 };
}

function schemaOf(name: string, tools: readonly ToolDefinition[]): Record<string, unknown> {
  return tools.find((tool) => tool.function.name === name)?.function.parameters ?? {};
}

async function withRetries(options: LoopOptions, attempt: () => Promise<ModelReply>): Promise<ModelReply> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      const delay = error instanceof ModelError ? retryDelay(error, attempts) : undefined;
      if (delay === undefined) throw error;
      await pause(delay, options.signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, signal.aborted ? 0 : ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
    signal.addEventListener("abort", done);
  });
}

/** Returns the calls of a turn with their results, in order. */
export function recordsOf(turn: readonly Entry[]): CallRecord[] {
  return turn.flatMap((entry) =>
    entry.role === "assistant" ? entry.calls.map((call) => recordOf(call, entry.calls)) : [],
  );
}

function recordOf(call: Call, batch: readonly Call[]): CallRecord {
  const base = {
    id: call.id,
    name: call.name,
    args: call.outcome?.args ?? shownArguments(call, batch),
    ...(call.same !== undefined && { same_as: call.same }),
  };
  if (!call.outcome) return { ...base, status: "pending" };
  const { status, text, forUser, errorType, elapsedMs, waitedMs, calls, asked, media, routed } = call.outcome;
  const kept = media?.filter((item) => "id" in item) ?? [];
  return {
    ...base,
    ...(routed && { agent: routed.agent }),
    status,
    // A record is shown to people.
    ...(status === "error" ? { error: forPerson(call.outcome) } : { result: text }),
    ...(forUser !== undefined && !text.includes(forUser) && { for_user: forUser }),
    ...(errorType && { error_type: errorType }),
    elapsed_ms: elapsedMs,
    ...(waitedMs !== undefined && { waited_ms: waitedMs }),
    ...(kept.length > 0 && { media: kept }),
    ...(calls && { calls }),
    ...(asked === false && { asked }),
  };
}
