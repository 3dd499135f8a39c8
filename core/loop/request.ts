/** Makes the body of a model request, and adapts it for endpoints that refuse a part of it. Pure. */

import type { ToolDefinition } from "../tools/registry.ts";
import type { ChatMessage } from "./messages.ts";

export type RequestBody = Record<string, unknown>;

export function requestBody(settings: ModelSettings, request: ModelRequest): RequestBody {
  return {
    model: settings.model,
    messages: request.messages,
    // Left out when empty: some endpoints refuse an empty list.
    ...(request.tools.length > 0 && {
      tools: request.tools,
      ...(request.toolChoice && { tool_choice: request.toolChoice }),
    }),
    max_tokens: request.maxTokens ?? settings.maxTokens,
    temperature: settings.temperature,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/**
 * Returns the request without the part that a 400 complains of: a parameter, or pictures for a model that takes none.
 * OpenAI's reasoning models want `max_completion_tokens` in place of `max_tokens` and refuse `temperature`; older servers
 * refuse `stream_options`. All other servers know only the forms of `requestBody`, so those are sent first.
 *
 * @param said the body of the refusal
 * @returns undefined when the refusal has another reason; each part is removed only once, so retrying ends
 */
export function withoutRefused(body: RequestBody, said: string): RequestBody | undefined {
  const { max_tokens, temperature, stream_options, ...rest } = body;
  if (/image|vision|multimodal|content type/i.test(said)) {
    const messages = withoutPictures(body.messages as ChatMessage[]);
    if (messages) return { ...body, messages };
  }
  // Some servers do not support a tool choice; the model then decides by itself.
  if (body.tool_choice !== undefined && /tool.choice/i.test(said)) {
    const { tool_choice: _, ...free } = body;
    return free;
  }
  if (max_tokens !== undefined && said.includes("max_completion_tokens"))
    return { ...rest, temperature, stream_options, max_completion_tokens: max_tokens };
  if (temperature !== undefined && said.includes("temperature"))
    return { ...rest, max_tokens, stream_options };
  if (stream_options !== undefined && said.includes("stream_options"))
    return { ...rest, max_tokens, temperature };
  return undefined;
}

/** @returns undefined when there are no pictures */
function withoutPictures(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  let any = false;
  const texts = messages.map((message): ChatMessage => {
    if (message.role !== "user" || typeof message.content === "string") return message;
    const content = message.content.map((part) => {
      if (part.type === "text") return part.text;
      any = true;
      return "[a picture that this model cannot see; say so if it matters]";
    });
    return { role: "user", content: content.join("\n") };
  });
  return any ? texts : undefined;
}

export type ModelSettings = {
  /** The address up to and including `/v1`, as OpenAI clients expect it. */
  baseUrl: string;
  /** A function is called before each model call, for keys that expire. */
  apiKey?: string | (() => string);
  model: string;
  maxTokens: number;
  temperature: number;
  timeouts?: Partial<ModelTimeouts>;
};

export type ModelTimeouts = {
  firstByteMs: number;
  betweenBytesMs: number;
  totalMs: number;
  /** The name of the setting behind `firstByteMs`, for error texts. */
  firstByteSetting?: string;
};

/** The model must call a tool: any tool, or the named one. */
export type ToolChoice = "required" | { type: "function"; function: { name: string } };

export type ModelRequest = {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  maxTokens?: number;
  signal?: AbortSignal;
  /** Gets each piece of text as it arrives. */
  onText?: (delta: string) => void;
};
