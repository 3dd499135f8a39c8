/** task: a sub-agent with its own history and fewer tools. It returns only its answer, not what it read. */
import { join } from "node:path";
import type { Call, CallRecord, Entry, Outcome } from "@edgecall/core/loop/history.ts";
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import type { LoopResult } from "@edgecall/core/loop/run.ts";
import { TooLongError } from "@edgecall/core/loop/too-long-error.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { SUB_AGENT_TEXT } from "@edgecall/core/text/sub-agent.ts";
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
import type { CurrentState } from "../../calls/current-state.ts";
import { innerOutcome, innerRecord } from "../../calls/inner-outcome.ts";
import { TaskSessions } from "./task-sessions.ts";

const PROMPT_CHARS = 20_000;
/** Time for its model calls; its tool calls have time-outs of their own. */
const TASK_MS = 300_000;
/** Tools that a task does not get: tasks do not nest, and the person and the to-do list belong to the conversation. */
const WITHHELD = ["task", "question", "todowrite", "todoread"];

const NEW = "new";

/** @param state read at each task @param place.stateDir the folder that holds `task-sessions/` */
export function task(
  state: Pick<CurrentState, "llm" | "limits" | "tools">,
  place: { stateDir: string },
): Tool {
  const sessions = new TaskSessions(join(place.stateDir, "task-sessions"));
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
      session: z
        .optional(z.string().check(z.regex(/^(new|[0-9a-f]{12})$/, "expected 'new' or a session's id")))
        .check(z.describe("'new' keeps the sub-agent's history and answers an id, with which it goes on")),
    }),
    // The policy judges each inner call by its own effect.
    effect: "read",
    idempotent: false,
    // A history that was kept may hold the words of anybody.
    taintsIn: ({ session }) => session !== undefined && session !== NEW,
    timeoutMs: TASK_MS,
    maxTimeoutMs: TASK_MS,
    async execute({ prompt, session }, context): Promise<ToolResult> {
      const { llm, limits, tools } = state;
      const { call } = context;
      if (!llm) return unavailable(await taskMissing(llm));
      if (!call) return unavailable("a task cannot give a task");
      const goesOn = session !== undefined && session !== NEW;
      const history = goesOn ? await sessions.read(session, context.caller) : [];
      if (typeof history === "string") return noSession(history);
      const records: CallRecord[] = [];
      try {
        const asked = { prompt, llm, call, limits, tools: offered(tools), history, tainted: goesOn };
        const { text, model, usage, turn } = await work(asked, context, records);
        const details = { model, calls: records, usage, ...(records.length === 0 && { asked: false }) };
        if (session === undefined) return textResult(text, details);
        const id = goesOn ? session : sessions.newId();
        const problem = await problemOf(sessions.write(id, context.caller, [...history, ...turn]));
        return textResult(`${text}\n[${problem ?? `Session ${id}: give it to task to go on.`}]`, details);
      } catch (error) {
        // The runner's text says why it was stopped; what it had done is listed below.
        const advice =
          error instanceof TooLongError ? ` (${error.advice({ reply: "[llm] max_tokens" })})` : "";
        const why = context.signal.aborted ? "it was stopped" : messageOf(error) + advice;
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
  history: readonly Entry[];
  /** The history may have caused its calls. */
  tainted: boolean;
  llm: ModelSettings;
  call: NonNullable<ToolContext["call"]>;
  limits: LoopLimits;
  tools: ToolRegistry;
};

async function work(
  { prompt, llm, call, limits, tools, history, tainted }: Work,
  { signal, update }: ToolContext,
  records: CallRecord[],
): Promise<LoopResult> {
  // Loaded only when needed, because the model client takes most of this program's memory.
  const [{ runLoop }, { callModel }, { ToolOffer }, { modelLimits }] = await Promise.all([
    import("@edgecall/core/loop/run.ts"),
    import("@edgecall/core/loop/model.ts"),
    import("@edgecall/core/loop/offer.ts"),
    import("../../calls/model-limits.ts"),
  ]);
  const definitions = tools.definitions();
  return await runLoop({
    system: SUB_AGENT_TEXT,
    prompt,
    history,
    tools: definitions,
    offer: new ToolOffer({ tools: definitions, question: prompt, history }),
    limits,
    fit: { model: llm, limits: modelLimits },
    model: (request) => callModel(llm, { ...request, onText: update }),
    runCall: async (inner) => {
      const outcome = await runCall(inner, tools, call, tainted);
      records.push(innerRecord(inner, outcome));
      return outcome;
    },
    signal,
  });
}

/** @returns words on why a history could not be stored */
async function problemOf(write: Promise<void>): Promise<string | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    return `The session cannot be kept: ${messageOf(error)}.`;
  }
}

function noSession(why: string): ToolResult {
  return faultResult("invalid_params", {
    text: `Error: The task was not begun: ${why}.`,
    advice: "Give session 'new', with all that the sub-agent has to know.",
  });
}

async function runCall(
  inner: Call,
  tools: ToolRegistry,
  call: Work["call"],
  tainted: boolean,
): Promise<Outcome> {
  if (!tools.get(inner.name)) {
    const words = errorText.unknownTool(inner.name, tools.list());
    return { status: "error", ...words, errorType: "not_found", elapsedMs: 0 };
  }
  return innerOutcome(await call({ callId: inner.id, name: inner.name, args: inner.args, tainted }));
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
