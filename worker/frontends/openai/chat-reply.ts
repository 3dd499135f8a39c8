/** A turn as `chat.completion` and as its chunks. */
import type { CallRecord, Usage } from "@edgecall/core/loop/history.ts";
import type { TurnResult } from "../../api/answers.ts";
import type { TurnEvent } from "../../api/turn-events.ts";
import { clientCallId, type Place } from "./conversation-key.ts";
import { OWN_NAME } from "./models.ts";
import { type Linker, shownMedia } from "./pictures.ts";
import { KEEP_ALIVE } from "./sending.ts";
import { askedLine, questionLine, settledLines } from "./trace.ts";
import { LOST, TAKEN_BACK } from "./turn-text.ts";

export type Chat = {
  turn: string;
  place: Place;
  createdAt: number;
  model: string | undefined;
  /** Lines of tool activity, as reasoning. */
  trace: boolean;
  /** `stream_options.include_usage` */
  usage: boolean;
  linker: Linker;
  /** The stream ends without the answer: nobody waits for it any more. */
  giveUp: () => void;
};

/** The whole answer. What went wrong is said in it, in words: an error status would have the client ask again. */
export async function chatCompletion(result: TurnResult, chat: Chat) {
  const trace = chat.trace ? result.calls.map((call) => settledLines(call)).join("") : "";
  return {
    ...common(chat, result.model),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: (await finalText(result, chat.linker)) || (result.requested ? null : ""),
          refusal: null,
          ...(result.requested && { tool_calls: toolCalls(result, chat) }),
          ...(trace && { reasoning_content: trace }),
        },
        logprobs: null,
        finish_reason: finishOf(result),
      },
    ],
    usage: usageOf(result.usage),
    metadata: chat.place.key === undefined ? {} : { conversation_id: chat.place.key },
    edge: edgeOf(chat, result),
  };
}

/** Server-sent events; never a named one, and `tool_calls` for the client's own tools alone, since it runs them. */
export async function* chatChunks(events: AsyncIterable<TurnEvent>, chat: Chat): AsyncGenerator<string> {
  const chunk = (delta: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    sse({
      ...common(chat, null),
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
      ...more,
    });
  const trace = (line: string) => (chat.trace ? [chunk({ reasoning_content: line })] : []);
  const text = new SpokenText();
  const content = (words: string) => (words === "" ? [] : [chunk({ content: words })]);
  const takenBack = () => {
    chat.giveUp();
    return errorChunk(TAKEN_BACK);
  };
  yield chunk({ role: "assistant", content: "" }, { edge: edgeOf(chat) });
  for await (const event of events) {
    if (event.event === "delta") yield* content(text.delta(event.data.text, event.data.at));
    else if (event.event === "probe") yield KEEP_ALIVE;
    else if (event.event === "call") yield* trace(settledLines(event.data));
    else if (event.event === "question" && event.data.answer === undefined)
      yield* trace(questionLine(event.data, chat.linker.origin));
    else if (event.event === "message") {
      const rest = text.rest(event.data.text);
      if (rest === undefined) return yield takenBack();
      yield* content(rest);
      text.stepEnds();
      for (const call of event.data.calls) yield* trace(askedLine(call));
    } else if (event.event === "reset") {
      // What is on the person's screen cannot be taken back.
      if (text.inStep) return yield takenBack();
    } else if (event.event === "done") {
      const result = event.data;
      if (result.status !== "done") text.stepEnds();
      const rest = text.rest(result.answer ?? "");
      if (rest === undefined) return yield takenBack();
      const media = await shownMedia(result.calls, chat.linker);
      yield* content(rest);
      yield* content(media && `\n\n${media}`);
      const calls = toolCalls(result, chat).map((call, index) => ({ index, ...call }));
      if (calls.length > 0) yield chunk({ tool_calls: calls });
      const end = {
        model: result.model ?? chat.model ?? OWN_NAME,
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishOf(result) }],
      };
      yield chunk({}, { ...end, edge: edgeOf(chat, result) });
      if (chat.usage) yield chunk({}, { model: end.model, choices: [], usage: usageOf(result.usage) });
      return yield "data: [DONE]\n\n";
    }
  }
  yield errorChunk(LOST);
}

/** The text of the steps so far, as a client has it: it can be added to and never be taken back. */
export class SpokenText {
  #step = "";
  #before = false;

  /** Something of this step was said. */
  get inStep(): boolean {
    return this.#step !== "";
  }

  /** @param at where it belongs in its step: after a gap the rest comes as a whole. @returns what to send */
  delta(text: string, at: number): string {
    if (at !== this.#step.length || text === "") return "";
    const gap = this.#gap();
    this.#step += text;
    return gap + text;
  }

  /** What of the step's text was not sent; undefined: something else was. */
  rest(text: string): string | undefined {
    if (!text.startsWith(this.#step)) return undefined;
    const rest = text.slice(this.#step.length);
    const gap = rest === "" ? "" : this.#gap();
    this.#step = text;
    return gap + rest;
  }

  stepEnds(): void {
    this.#before ||= this.#step !== "";
    this.#step = "";
  }

  #gap(): string {
    return this.#before && this.#step === "" ? "\n\n" : "";
  }
}

export async function finalText(result: TurnResult, linker: Linker): Promise<string> {
  const media = await shownMedia(result.calls, linker);
  return [result.answer ?? "", media].filter((part) => part !== "").join("\n\n");
}

/** Of the client's own tools alone: what devices did is no call that a client could make. */
function toolCalls({ requested = [] }: TurnResult, { place }: Chat) {
  return requested.map(({ id, name, args }) => ({
    id: clientCallId(place, id),
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args ?? {}) },
  }));
}

function finishOf({ requested }: TurnResult): "tool_calls" | "stop" {
  return requested ? "tool_calls" : "stop";
}

function common(chat: Chat, model: string | null) {
  return {
    id: `chatcmpl-${chat.turn}`,
    created: chat.createdAt,
    // The model that answered, once it is known.
    model: model ?? chat.model ?? OWN_NAME,
    system_fingerprint: null,
  };
}

/** Our own words beside OpenAI's: clients leave alone what they do not know. */
function edgeOf(chat: Chat, result?: TurnResult) {
  return {
    turn: chat.turn,
    ...(chat.place.key !== undefined && { conversation: chat.place.key }),
    ...(result && { status: result.status, calls: result.calls.map(briefly) }),
    ...(result?.error && { error: result.error }),
    ...(result?.notices && { notices: result.notices }),
  };
}

/** What is claimed can be held against it; results are in the words already. */
function briefly({ id, name, agent, action, query, status, error_type, elapsed_ms }: CallRecord) {
  return { id, name, agent, action, query, status, error_type, elapsed_ms };
}

function usageOf({ input_tokens, output_tokens }: Usage) {
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

function errorChunk(error: { code: string; message: string }): string {
  return sse({ error: { ...error, type: "server_error", param: null } });
}

function sse(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
