/** The request to a model, and its body in the form of OpenAI's chat completions. Pure. */

import type { ToolDefinition } from "../tools/registry.ts";
import type { Api } from "./api.ts";
import type { Habit, HabitStore } from "./habits.ts";
import { inForm } from "./message-forms.ts";
import { type ChatMessage, plainMessages } from "./messages.ts";
import { sourceOf, withReplays } from "./replay.ts";

export type RequestBody = Record<string, unknown>;

/**
 * OpenAI's reasoning models want `max_completion_tokens` in place of `max_tokens` and refuse `temperature`; older servers refuse
 * `stream_options`. All other servers know only these forms, so they are sent first.
 * @param habits the forms that the endpoint takes instead
 */
export function requestBody(
  settings: ModelSettings,
  request: ModelRequest,
  habits: ReadonlySet<Habit> = new Set(),
): RequestBody {
  const maxTokens = request.maxTokens ?? settings.maxTokens;
  const from = habits.has("no_replay") ? "" : sourceOf(settings);
  const streams = !habits.has("no_stream");
  return {
    model: settings.model,
    messages: inForm(withReplays(plainMessages(request.messages), from), habits),
    // Left out when empty: some endpoints refuse an empty list. Not all of them know "none".
    ...(request.tools.length > 0 &&
      request.toolChoice !== "none" && {
        tools: request.tools,
        ...(request.toolChoice && !habits.has("no_tool_choice") && { tool_choice: request.toolChoice }),
      }),
    [habits.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens"]: maxTokens,
    ...(!habits.has("no_temperature") && { temperature: settings.temperature }),
    stream: streams,
    ...(streams && !habits.has("no_stream_options") && { stream_options: { include_usage: true } }),
  };
}

export type ModelSettings = {
  /** The address up to and including `/v1`, as OpenAI clients expect it. */
  baseUrl: string;
  /** The form in which the endpoint is asked; absent = by its address. */
  api?: Api;
  /** A function is called before each model call, for keys that expire. */
  apiKey?: string | (() => string);
  model: string;
  maxTokens: number;
  /** Absent: the endpoint's own. */
  temperature?: number;
  timeouts?: Partial<ModelTimeouts>;
  /** What addresses and models refused before; absent = what this program met. */
  habits?: HabitStore;
};

export type ModelTimeouts = {
  firstByteMs: number;
  betweenBytesMs: number;
  totalMs: number;
  /** The name of the setting behind `firstByteMs`, for error texts. */
  firstByteSetting?: string;
};

/** The model must call a tool: any tool, or the named one. `none`: it may call none of them now. */
export type ToolChoice = "required" | "none" | { type: "function"; function: { name: string } };

export type ModelRequest = {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  maxTokens?: number;
  signal?: AbortSignal;
  /** Gets each piece of text as it arrives. */
  onText?: (delta: string) => void;
  /** The text so far is no part of the answer: it was a thought, or a call that the model wrote as text. */
  onReset?: () => void;
};
