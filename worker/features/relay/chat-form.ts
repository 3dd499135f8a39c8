/**
 * A model of another form than OpenAI's, asked in OpenAI's: that is the form that devices know. Like Workers AI it is a `fetch`, so the
 * relay treats it as any endpoint.
 */
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { ChatMessage } from "@edgecall/core/loop/messages.ts";
import { callModel, type Fetch } from "@edgecall/core/loop/model.ts";
import type { ModelReply, RequestedCall } from "@edgecall/core/loop/model-reply.ts";
import { sourceOf } from "@edgecall/core/loop/replay.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import { ModelError } from "@edgecall/core/loop/retry.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";

/** LiteLLM's name for thoughts in OpenAI's form. A device sends back what has such a name (core/loop/replay.ts). */
type WithThoughts = { thinking_blocks?: unknown };

/** The request that the relay sends on. */
type Asked = {
  messages: Array<ChatMessage & WithThoughts>;
  tools?: ToolDefinition[];
  max_tokens?: number;
  max_completion_tokens?: number;
  stream?: boolean;
};

/**
 * The temperature is the gateway's matter, since newer models refuse any.
 * @returns a fetch that fails like one when the endpoint is not reached, and answers with the endpoint's status when that refuses
 */
export function inChatForm(model: ModelSettings): Fetch {
  return async (_url, { body, signal }) => {
    const asked = JSON.parse(String(body)) as Asked;
    const maxTokens = asked.max_completion_tokens ?? asked.max_tokens ?? model.maxTokens;
    const encoder = new TextEncoder();
    const hungUp = new AbortController();
    const begun = Promise.withResolvers<void>();
    let out: ReadableStreamDefaultController<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        out = controller;
      },
      cancel: () => hungUp.abort(),
    });
    const write = (chunk: object | string) => {
      const data = typeof chunk === "string" ? chunk : JSON.stringify(chunk);
      if (!hungUp.signal.aborted) out?.enqueue(encoder.encode(`data: ${data}\n\n`));
    };
    const replied = callModel(model, {
      messages: asked.messages.map((message) => withReplay(message, model)),
      tools: asked.tools ?? [],
      maxTokens,
      signal: AbortSignal.any([hungUp.signal, ...(signal ? [signal] : [])]),
      onText(content) {
        write(chunkOf(model, { content }));
        begun.resolve();
      },
    });
    try {
      await (asked.stream ? Promise.race([begun.promise, replied]) : replied);
    } catch (error) {
      return refusalOf(error);
    }
    if (!asked.stream) return Response.json(completionOf(model, await replied));
    void replied
      .then(
        (reply) => {
          write(chunkOf(model, membersOf(reply)));
          write(chunkOf(model, {}, reply.finish ?? "stop"));
          write({ ...chunkOf(model, {}), choices: [], usage: usageOf(reply.usage) });
          write("[DONE]");
        },
        (error: unknown) => write({ error: { message: messageOf(error), type: "upstream_error" } }),
      )
      .finally(() => !hungUp.signal.aborted && out?.close());
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
}

function chunkOf({ model }: ModelSettings, delta: object, finish_reason: string | null = null) {
  return { object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason }] };
}

function completionOf({ model }: ModelSettings, { text, calls, finish, usage, replay }: ModelReply) {
  const message = {
    role: "assistant",
    content: text || null,
    ...membersOf({ calls, ...(replay && { replay }) }),
  };
  const choices = [{ index: 0, message, finish_reason: finish ?? "stop" }];
  return { object: "chat.completion", model, choices, usage: usageOf(usage) };
}

/** Members of a reply besides its text. */
function membersOf({ calls, replay }: Pick<ModelReply, "calls" | "replay">) {
  return {
    ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
    ...(replay?.content !== undefined && { thinking_blocks: replay.content }),
  };
}

function withReplay(
  { thinking_blocks, ...message }: Asked["messages"][number],
  model: ModelSettings,
): ChatMessage {
  if (!Array.isArray(thinking_blocks)) return message;
  return { ...message, replay: { from: sourceOf(model), content: thinking_blocks } };
}

function toolCall({ id, name, rawArguments }: RequestedCall, index: number) {
  const named = { name, arguments: rawArguments || "{}" };
  return { index, id: id ?? `call_${crypto.randomUUID()}`, type: "function", function: named };
}

function usageOf({ input_tokens, output_tokens }: Usage = { input_tokens: 0, output_tokens: 0 }) {
  const total_tokens = input_tokens + output_tokens;
  return { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens };
}

/** @throws ModelError when it has no status: the endpoint was not reached */
function refusalOf(error: unknown): Response {
  if (!(error instanceof ModelError) || error.status === undefined) throw error;
  const wait = error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs / 1_000);
  const headers = wait === undefined ? undefined : { "retry-after": String(wait) };
  const words = error.words || error.message;
  return Response.json({ error: { message: words } }, { status: error.status, ...(headers && { headers }) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
