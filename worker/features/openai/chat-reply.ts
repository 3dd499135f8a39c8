/** Writes a turn as a `chat.completion`, whole or in chunks. */
import type { CallRecord, Usage } from "@edgecall/core/loop/history.ts";
import type { TurnResult } from "../../kernel/api/answers.ts";
import { earlierText } from "../../kernel/api/earlier.ts";
import type { TurnEvent } from "../../kernel/api/turn-events.ts";
import { clientCallId, type Place, type ResponseRef, responseId } from "./conversation-key.ts";
import { OWN_NAME } from "./models.ts";
import { type Linker, shownMedia } from "./pictures.ts";
import { KEEP_ALIVE } from "./sending.ts";
import { askedLine, isRun, questionLine, settledLines } from "./trace.ts";
import { LOST, TAKEN_BACK } from "./turn-text.ts";

export type Chat = {
  turn: string;
  place: Place;
  createdAt: number;
  model: string | undefined;
  /** Send lines of tool activity, as reasoning. */
  trace: boolean;
  /** `stream_options.include_usage` */
  usage: boolean;
  linker: Linker;
  /** Is called when the stream ends before the answer, because the client left. */
  giveUp: () => void;
  /** The client waits so long. `meanwhile`: what its turn waits for then, or its end. */
  patience?: { seconds: number; meanwhile: () => Promise<TurnResult | undefined> };
};

/** The whole answer. A failed turn is an answer in words too: an error status would make the client repeat the request. */
export async function chatCompletion(result: TurnResult, chat: Chat) {
  const lineOf = (call: CallRecord) => (call.status === "pending" ? askedLine(call) : settledLines(call));
  const trace = chat.trace ? result.calls.filter(isRun).map(lineOf).join("") : "";
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
    ...askedMark(result),
  };
}

/** Server-sent events, all without a name. `tool_calls` has only calls of the client's own tools, since the client runs them. */
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
  const retract = () => {
    chat.giveUp();
    return errorChunk(TAKEN_BACK);
  };
  yield chunk({ role: "assistant", content: "" }, { edge: edgeOf(chat) });
  for await (const event of withPatience(events, chat.patience, () => !text.inStep)) {
    if (event.event === "delta") yield* content(text.delta(event.data.text, event.data.at));
    else if (event.event === "probe") yield KEEP_ALIVE;
    else if (event.event === "call" && isRun(event.data)) yield* trace(settledLines(event.data));
    else if (event.event === "question" && event.data.answer === undefined)
      yield* trace(questionLine(event.data, chat.linker.origin));
    else if (event.event === "message") {
      const rest = text.rest(event.data.text);
      if (rest === undefined) return yield retract();
      yield* content(rest);
      text.stepEnds();
      for (const call of event.data.calls.filter(isRun)) yield* trace(askedLine(call));
    } else if (event.event === "reset") {
      // Text that the person has seen cannot be withdrawn.
      if (text.inStep) return yield retract();
    } else if (event.event === "done") {
      const result = event.data;
      if (result.status !== "done") text.stepEnds();
      const rest = text.rest(result.answer ?? result.meanwhile ?? "");
      if (rest === undefined) return yield retract();
      const below = await belowAnswer(result, chat.linker);
      yield* content(rest);
      yield* content(below && `\n\n${below}`);
      const calls = toolCalls(result, chat).map((call, index) => ({ index, ...call }));
      if (calls.length > 0) yield chunk({ tool_calls: calls });
      const end = {
        model: result.model ?? chat.model ?? OWN_NAME,
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishOf(result) }],
      };
      yield chunk({}, { ...end, edge: edgeOf(chat, result), ...askedMark(result) });
      if (chat.usage) yield chunk({}, { model: end.model, choices: [], usage: usageOf(result.usage) });
      return yield "data: [DONE]\n\n";
    }
  }
  yield errorChunk(LOST);
}

type DoneEvent = Pick<TurnEvent & { event: "done" }, "event" | "data">;

/**
 * The events of a turn, up to its end or to what a client is told whose time is over. Words that are being said are not cut off.
 * @param isSilent false while a text is being sent
 */
async function* withPatience(
  events: AsyncIterable<TurnEvent>,
  patience: Chat["patience"],
  isSilent: () => boolean,
): AsyncGenerator<TurnEvent | DoneEvent> {
  if (!patience) return yield* events;
  const iterator = events[Symbol.asyncIterator]();
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isOver = new Promise<"over">((resolve) => {
    timer = setTimeout(() => {
      late = true;
      resolve("over");
    }, patience.seconds * 1_000);
  });
  try {
    let next = iterator.next();
    for (;;) {
      if (late && isSilent()) {
        const data = await patience.meanwhile();
        if (data) yield { event: "done", data };
        return;
      }
      const told = late ? await next : await Promise.race([next, isOver]);
      if (told === "over") continue;
      if (told.done) return;
      next = iterator.next();
      yield told.value;
    }
  } finally {
    clearTimeout(timer);
    void iterator.return?.();
  }
}

/** The text that the client has so far. Text can be added and never withdrawn. */
class SpokenText {
  #step = "";
  #before = false;

  /** Text of this step was sent. */
  get inStep(): boolean {
    return this.#step !== "";
  }

  /** @param at the position in the step; after a gap, the rest comes with the whole text @returns the text to send */
  delta(text: string, at: number): string {
    if (at !== this.#step.length || text === "") return "";
    const gap = this.#gap();
    this.#step += text;
    return gap + text;
  }

  /** @returns the unsent rest of the step's text; undefined when a different text was sent */
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
  return [result.answer ?? result.meanwhile ?? "", await belowAnswer(result, linker)]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** What stands below an answer: the answers of earlier turns that this one carries, and the pictures and files of all of them. */
async function belowAnswer({ calls, earlier = [] }: TurnResult, linker: Linker): Promise<string> {
  const media = await shownMedia([...calls, ...earlier.flatMap((one) => one.calls)], linker);
  return [earlierText(earlier), media].filter((part) => part !== "").join("\n\n");
}

/** Calls of the client's own tools; a client could not run the calls of devices. */
function toolCalls({ requested = [] }: TurnResult, { place }: Chat) {
  return requested.map(({ id, name, args }) => ({
    id: clientCallId(place, id),
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args ?? {}) },
  }));
}

function finishOf({ requested, cut }: TurnResult): "tool_calls" | "stop" | "length" | "content_filter" {
  return requested ? "tool_calls" : (cut ?? "stop");
}

function common(chat: Chat, model: string | null) {
  return {
    id: `chatcmpl-${chat.turn}`,
    created: chat.createdAt,
    // Known only when a model has answered.
    model: model ?? chat.model ?? OWN_NAME,
    system_fingerprint: null,
  };
}

/** Our own fields beside OpenAI's. Clients ignore fields that they do not know. */
function edgeOf(chat: Chat, result?: TurnResult) {
  return {
    turn: chat.turn,
    ...(chat.place.key !== undefined && { conversation: chat.place.key }),
    ...(result && { status: result.status, calls: result.calls.map(briefly) }),
    ...(result?.cut && { cut: result.cut }),
    ...(result?.error && { error: result.error }),
    ...(result?.notices && { notices: result.notices }),
    ...(result?.waiting && { waiting: result.waiting, response: responseId(refOf(chat)) }),
  };
}

/** The mark of an answer behind which no device stands; it has the same name at every route. */
export function askedMark(result: TurnResult | undefined): Pick<TurnResult, "edgecall"> {
  return result?.edgecall ? { edgecall: result.edgecall } : {};
}

/** Where the answer can be fetched later. */
function refOf({ turn, place, createdAt }: Chat): ResponseRef {
  return { turn, place, createdAt };
}

/** A call without its result, which the answer already contains: a reader can check the answer against the calls. */
function briefly(record: CallRecord) {
  const { id, name, agent, action, query, same_as, status, error_type, elapsed_ms, asked } = record;
  return { id, name, agent, action, query, same_as, status, error_type, elapsed_ms, asked };
}

function usageOf({ input_tokens, output_tokens }: Usage) {
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

function errorChunk(error: typeof LOST): string {
  return sse({ error });
}

function sse(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
