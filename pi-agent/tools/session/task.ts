/** task: a sub-agent with its own history and fewer tools. It returns only its answer, not what it read. */
import type { Call, CallRecord, Outcome } from "@edgecall/core/loop/history.ts";
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { SUB_AGENT_WORDS } from "@edgecall/core/text/sub-agent.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { innerOutcome, innerRecord } from "../../calls/inner-outcome.ts";
import type { CurrentState } from "../../toolbox/places.ts";

const PROMPT_CHARS = 20_000;
/** Time for its model calls; its tool calls have time-outs of their own. */
const TASK_MS = 300_000;
/** Tools that a task does not get: tasks do not nest, and the person and the to-do list belong to the conversation. */
const WITHHELD = ["task", "question", "todowrite", "todoread"];

/** @param state read at each task */
export function task(state: Pick<CurrentState, "llm" | "limits" | "tools">): Tool {
  return defineTool({
    name: "task",
    description:
      "Give a task of several steps to a sub-agent on this device, which has a history of its own and tools, but knows nothing of this conversation. You get only its answer. For work that would fill this conversation, like a search through many files.",
    input: z.strictObject({
      prompt: z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(PROMPT_CHARS),
          z.describe("The task, with all that is needed to know, and what to answer"),
        ),
    }),
    // The policy judges each inner call by its own effect.
    effect: "read",
    idempotent: false,
    timeoutMs: TASK_MS,
    maxTimeoutMs: TASK_MS,
    async execute({ prompt }, context): Promise<ToolResult> {
      const { llm, limits, tools } = state;
      const { call } = context;
      if (!llm) return unavailable(await taskMissing(llm));
      if (!call) return unavailable("a task cannot give a task");
      const records: CallRecord[] = [];
      try {
        return await work({ prompt, llm, call, limits, tools: offered(tools) }, context, records);
      } catch (error) {
        // The runner's text says why it was stopped; what it had done is listed below.
        const why = context.signal.aborted ? "it was stopped" : messageOf(error);
        return faultResult("tool_failed", `Error: The task was not done: ${why}.${doneSoFar(records)}`, {
          cause: error,
          details: { calls: records },
        });
      }
    },
  });
}

/** @returns why the tool is not advertised */
export async function taskMissing(llm: ModelSettings | undefined): Promise<string | undefined> {
  return llm ? undefined : "no model: set LLM_BASE_URL and LLM_MODEL, or [llm] in agent.toml";
}

/** Leaves out tools that run alone: such a tool would wait for the task, and the task for it. */
export function offered(tools: readonly Tool[]): ToolRegistry {
  return new ToolRegistry(tools.filter(({ name, runs }) => !WITHHELD.includes(name) && runs !== "alone"));
}

type Work = {
  prompt: string;
  llm: ModelSettings;
  call: NonNullable<ToolContext["call"]>;
  limits: LoopLimits;
  tools: ToolRegistry;
};

async function work(
  { prompt, llm, call, limits, tools }: Work,
  { signal, update }: ToolContext,
  records: CallRecord[],
): Promise<ToolResult> {
  // Loaded only when needed, because the model client takes most of this program's memory.
  const [{ runLoop }, { callModel }] = await Promise.all([
    import("@edgecall/core/loop/run.ts"),
    import("@edgecall/core/loop/model.ts"),
  ]);
  const result = await runLoop({
    system: SUB_AGENT_WORDS,
    prompt,
    tools: tools.definitions(),
    limits,
    model: (request) => callModel(llm, { ...request, onText: update }),
    runCall: async (inner) => {
      const outcome = await runCall(inner, tools, call);
      records.push(innerRecord(inner, outcome));
      return outcome;
    },
    signal,
  });
  return textResult(result.text, { model: result.model, calls: records, usage: result.usage });
}

async function runCall(inner: Call, tools: ToolRegistry, call: Work["call"]): Promise<Outcome> {
  if (!tools.get(inner.name)) {
    const words = errorText.unknownTool(inner.name, tools.list());
    return { status: "error", ...words, errorType: "not_found", elapsedMs: 0 };
  }
  return innerOutcome(await call({ callId: inner.id, name: inner.name, args: inner.args }));
}

function doneSoFar(records: readonly CallRecord[]): string {
  if (records.length === 0) return " It had called no tool.";
  const calls = records.map(({ name, status }) => `${name} (${status})`).join(", ");
  return ` It had called: ${calls}.`;
}

function unavailable(why: string | undefined): ToolResult {
  return faultResult("unavailable", {
    text: `Error: Tool 'task' cannot run: ${why}.`,
    advice: "Do the work yourself, step by step.",
  });
}
