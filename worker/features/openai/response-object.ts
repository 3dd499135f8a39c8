/** Writes a turn as a `response` object. Calls to devices are `mcp_call` items, OpenAI's form for calls that a server made. */
import { type CallRecord, NO_TOOL_CALLED, type Usage } from "@edgecall/core/loop/history.ts";
import type { TurnResult } from "../../kernel/api/answers.ts";
import { callRef } from "../../kernel/api/turns.ts";
import { askedMark, finalText } from "./chat-reply.ts";
import { clientCallId, itemId, type ResponseRef, responseId } from "./conversation-key.ts";
import { OWN_NAME } from "./models.ts";
import type { Linker } from "./pictures.ts";
import { isRun } from "./trace.ts";

/** The data of a response that its turn does not have. */
export type About = {
  ref: ResponseRef;
  model: string | undefined;
  linker: Linker;
  /** From the request. They are not stored, so a later GET does not return them. */
  previous?: string | null | undefined;
  metadata?: Record<string, unknown> | null | undefined;
  background?: boolean | undefined;
  /** False: it cannot be fetched later. */
  stored?: boolean | undefined;
};

export type MessageItem = {
  id: string;
  type: "message";
  role: "assistant";
  status: "in_progress" | "completed";
  content: Array<{ type: "output_text"; text: string; annotations: never[] }>;
};
type CallItem = ReturnType<typeof callItem>;
export type ReasoningItem = {
  id: string;
  type: "reasoning";
  summary: Array<{ type: "summary_text"; text: string }>;
};
type FunctionItem = ReturnType<typeof functionItem>;
export type Item = MessageItem | CallItem | ReasoningItem | FunctionItem;

type Status = "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
const STATUS: Record<TurnResult["status"], Status> = {
  running: "in_progress",
  done: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** @param output the items that were streamed; by default the calls, and the answer if there is one */
export async function responseObject(about: About, result?: TurnResult, output?: readonly Item[]) {
  const { ref, background = false, stored = true, metadata, previous = null } = about;
  const { key } = ref.place;
  const { cut } = result ?? {};
  return {
    id: responseId(ref),
    object: "response",
    created_at: ref.createdAt,
    status: cut ? "incomplete" : STATUS[result?.status ?? "running"],
    background,
    error: result?.status === "failed" ? errorOf(result.answer ?? "") : null,
    incomplete_details: cut ? { reason: cut === "length" ? "max_output_tokens" : cut } : null,
    instructions: null,
    max_output_tokens: null,
    model: result?.model ?? about.model ?? OWN_NAME,
    output: output ?? (result ? await outputOf(ref, result, about.linker) : []),
    parallel_tool_calls: true,
    previous_response_id: previous,
    ...(key !== undefined && { conversation: { id: key } }),
    reasoning: { effort: null, summary: null },
    store: stored,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: result && result.status !== "running" ? usageOf(result.usage) : null,
    user: null,
    metadata: { ...shortTexts(metadata ?? {}), ...(key !== undefined && { conversation_id: key }) },
    ...askedMark(result),
    ...(result?.waiting && { edge: { status: result.status, waiting: result.waiting } }),
  };
}

/** OpenAI's own has no `type`, without which the AI SDK cannot read the response. */
export function errorOf(message: string) {
  return { code: "server_error", message, type: "server_error", param: null };
}

/** OpenAI's limits for metadata. */
function shortTexts(metadata: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(metadata).flatMap(
    ([name, value]): Array<[string, string]> =>
      typeof value === "string" && value.length <= 512 && name.length <= 64 ? [[name, value]] : [],
  );
  return Object.fromEntries(texts.slice(0, 16));
}

async function outputOf(ref: ResponseRef, result: TurnResult, linker: Linker): Promise<Item[]> {
  const calls = result.calls.filter(isRun).map(callItem);
  if (result.answer === null && result.meanwhile === undefined) return calls;
  const requested = (result.requested ?? []).map((call) => functionItem(ref, call));
  const text = await finalText(result, linker);
  const message = text === "" && requested.length > 0 ? [] : [messageItem(itemId("msg", ref, "0"), text)];
  return [...calls, ...message, ...requested];
}

export function messageItem(id: string, text: string): MessageItem {
  return {
    id,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

/** A call of one of the client's own tools, which the client runs. */
export function functionItem(ref: ResponseRef, { id, name, args }: CallRecord) {
  return {
    id: itemId("fc", ref, callRef(id)),
    type: "function_call" as const,
    status: "completed" as const,
    call_id: clientCallId(ref.place, id),
    name,
    arguments: JSON.stringify(args ?? {}),
  };
}

export function callItem(call: CallRecord) {
  const pending = call.status === "pending";
  return {
    id: `mcp_${call.id}`,
    type: "mcp_call" as const,
    server_label: call.agent ?? OWN_NAME,
    name: call.action ?? (call.query === undefined ? call.name : "prompt"),
    arguments: JSON.stringify(call.args ?? {}),
    approval_request_id: null,
    status: pending ? "in_progress" : call.status === "error" ? "failed" : "completed",
    output: (call.asked === false ? `[${NO_TOOL_CALLED}]\n` : "") + (call.result ?? "") || null,
    error: call.error ?? null,
  };
}

function usageOf({ input_tokens, output_tokens }: Usage) {
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
}
