/**
 * Writes a turn as the event stream of a response. A client can attach again with the last number that it received.
 *
 * The numbers come from the conversation's rows, so an event has the same number each time it is sent: a row `seq` gives
 * `seq·10⁶ + 0, 1, …`, and the text after it `seq·10⁶ + 500,000 +` the text's length so far. A client that lost its connection in
 * the middle of a sentence therefore gets the rest, although deltas are not stored as rows.
 */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import type { TurnResult } from "../../kernel/api/answers.ts";
import type { TurnEvent } from "../../kernel/api/turn-events.ts";
import { finalText } from "./chat-reply.ts";
import { itemId } from "./conversation-key.ts";
import {
  type About,
  callItem,
  errorOf,
  functionItem,
  type Item,
  type MessageItem,
  messageItem,
  type ReasoningItem,
  responseObject,
} from "./response-object.ts";
import { KEEP_ALIVE } from "./sending.ts";
import { isRun, questionLine } from "./trace.ts";
import { LOST, TAKEN_BACK } from "./turn-text.ts";

const PER_ROW = 1_000_000;
const TEXT_AT = 500_000;

type ResponseEvent = { type: string; sequence_number: number } & Record<string, unknown>;

/**
 * Server-sent events of a whole turn.
 * @param events from its beginning
 * @param after the last number that the client has; below 0, none
 * @param options `giveUp` is called when the stream ends without the answer
 */
export async function* responseEvents(
  events: AsyncIterable<TurnEvent>,
  about: About,
  after: number,
  options: { trace: boolean; giveUp: () => void },
): AsyncGenerator<string> {
  const writer = new ResponseWriter(about, after, options.trace);
  for (const written of await writer.begin()) yield sse(written);
  for await (const event of events) {
    if (event.event === "probe") yield KEEP_ALIVE;
    for (const written of await writer.write(event)) yield sse(written);
    if (writer.over && event.event !== "done") options.giveUp();
    if (writer.over) return;
  }
  for (const written of await writer.fail(LOST)) yield sse(written);
}

class ResponseWriter {
  readonly #about: About;
  readonly #after: number;
  readonly #trace: boolean;
  readonly #output: Item[] = [];
  /** The message whose text is being sent. */
  #open: { item: MessageItem; index: number; sent: string } | undefined;
  #row = 0;
  #inRow = 0;
  over = false;

  constructor(about: About, after: number, trace: boolean) {
    this.#about = about;
    this.#after = after;
    this.#trace = trace;
  }

  async begin(): Promise<ResponseEvent[]> {
    const response = await responseObject(this.#about);
    return [
      ...this.#next("response.created", { response }),
      ...this.#next("response.in_progress", { response }),
    ];
  }

  async write(event: TurnEvent): Promise<ResponseEvent[]> {
    switch (event.event) {
      case "delta":
        if (event.data.at !== (this.#open?.sent.length ?? 0)) return [];
        return [...this.#opened(), ...this.#textUpTo((this.#open?.sent ?? "") + event.data.text)];
      case "reset":
        return this.#open ? await this.fail(TAKEN_BACK) : [];
      case "message": {
        const spoken = this.#finishText(event.id, event.data.text);
        if (!spoken) return await this.fail(TAKEN_BACK);
        return [...spoken, ...event.data.calls.filter(isRun).flatMap((call) => this.#asked(call))];
      }
      case "call":
        this.#beginRow(event.id);
        return this.#settled(event.data);
      case "question":
        this.#beginRow(event.id);
        if (!this.#trace || event.data.answer !== undefined) return [];
        return this.#reasoned(event.id, questionLine(event.data, this.#about.linker.origin));
      case "done":
        return await this.#done(event.id, event.data);
      default:
        return [];
    }
  }

  async fail({ message }: { code: string; message: string }): Promise<ResponseEvent[]> {
    this.over = true;
    const response = {
      ...(await responseObject(this.#about, undefined, this.#output)),
      status: "failed",
      error: errorOf(message),
    };
    return this.#emit(this.#textNumber() + 1, "response.failed", { response });
  }

  async #done(row: number, result: TurnResult): Promise<ResponseEvent[]> {
    this.over = true;
    const answer = await finalText(result, this.#about.linker);
    const spoken =
      result.status === "done"
        ? this.#finishText(row, answer)
        : [...this.#cutOff(row), ...this.#wholeText(answer)];
    if (!spoken) return await this.fail(TAKEN_BACK);
    // A late result is stored in the rows after the turn's end.
    for (const call of result.calls) {
      const at = this.#output.findIndex(({ id }) => id === `mcp_${call.id}`);
      if (at >= 0) this.#output[at] = callItem(call);
    }
    const requested = (result.requested ?? []).flatMap((call) => this.#requested(call));
    const response = await responseObject(this.#about, result, this.#output);
    const end = { done: "completed", failed: "failed", cancelled: "incomplete", running: "incomplete" };
    const type = result.cut ? "incomplete" : end[result.status];
    return [...spoken, ...requested, ...this.#next(`response.${type}`, { response })];
  }

  // ── text ──────────────────────────────────────────────────────────────────────────────────────────────

  #opened(): ResponseEvent[] {
    if (this.#open) return [];
    const index = this.#output.length;
    const id = itemId("msg", this.#about.ref, index.toString(16));
    const item: MessageItem = { ...messageItem(id, ""), status: "in_progress", content: [] };
    this.#output.push(item);
    this.#open = { item, index, sent: "" };
    const part = { type: "output_text", text: "", annotations: [] };
    return [
      ...this.#emit(this.#textNumber() - 2, "response.output_item.added", { output_index: index, item }),
      ...this.#emit(this.#textNumber() - 1, "response.content_part.added", { ...place(id, index), part }),
    ];
  }

  /** @param text the whole text so far; a client that attached again may have a part of it */
  #textUpTo(text: string): ResponseEvent[] {
    const { item, index, sent } = this.#open ?? {};
    if (!this.#open || !item || index === undefined || sent === undefined || sent === text) return [];
    const had = Math.min(Math.max(this.#after - this.#textNumber() + sent.length, sent.length), text.length);
    this.#open.sent = text;
    return this.#emit(this.#textNumber(), "response.output_text.delta", {
      ...place(item.id, index),
      delta: text.slice(had),
      logprobs: [],
    });
  }

  /** @returns undefined when the text that was sent differs from the row's */
  #finishText(row: number, text: string): ResponseEvent[] | undefined {
    if (!text.startsWith(this.#open?.sent ?? "")) return undefined;
    const written = text === "" ? [] : [...this.#opened(), ...this.#textUpTo(text)];
    return [...written, ...this.#cutOff(row)];
  }

  /** Closes the open message with the text that was sent. */
  #cutOff(row: number): ResponseEvent[] {
    const open = this.#open;
    this.#open = undefined;
    this.#beginRow(row);
    if (!open) return [];
    return this.#closed(open.item.id, open.index, open.sent);
  }

  /** A text of the gateway itself, which comes without deltas. */
  #wholeText(text: string): ResponseEvent[] {
    const index = this.#output.length;
    const id = itemId("msg", this.#about.ref, index.toString(16));
    const item: MessageItem = { ...messageItem(id, ""), status: "in_progress", content: [] };
    this.#output.push(item);
    const part = { type: "output_text", text: "", annotations: [] };
    return [
      ...this.#next("response.output_item.added", { output_index: index, item }),
      ...this.#next("response.content_part.added", { ...place(id, index), part }),
      ...this.#next("response.output_text.delta", { ...place(id, index), delta: text, logprobs: [] }),
      ...this.#closed(id, index, text),
    ];
  }

  #closed(id: string, index: number, text: string): ResponseEvent[] {
    const item = messageItem(id, text);
    const [part] = item.content;
    this.#output[index] = item;
    return [
      ...this.#next("response.output_text.done", { ...place(id, index), text, logprobs: [] }),
      ...this.#next("response.content_part.done", { ...place(id, index), part }),
      ...this.#next("response.output_item.done", { output_index: index, item }),
    ];
  }

  // ── calls and questions ───────────────────────────────────────────────────────────────────────────────

  #asked(call: CallRecord): ResponseEvent[] {
    const item = callItem(call);
    const at = { output_index: this.#output.length, item_id: item.id };
    this.#output.push(item);
    return [
      ...this.#next("response.output_item.added", { output_index: at.output_index, item }),
      ...this.#next("response.mcp_call.in_progress", at),
      ...this.#next("response.mcp_call_arguments.done", { ...at, arguments: item.arguments }),
    ];
  }

  #settled(call: CallRecord): ResponseEvent[] {
    const item = callItem(call);
    const index = this.#output.findIndex(({ id }) => id === item.id);
    if (index < 0) return [];
    this.#output[index] = item;
    const state = call.status === "error" ? "failed" : "completed";
    return [
      ...this.#next(`response.mcp_call.${state}`, { output_index: index, item_id: item.id }),
      ...this.#next("response.output_item.done", { output_index: index, item }),
    ];
  }

  /** A call of one of the client's own tools. */
  #requested(call: CallRecord): ResponseEvent[] {
    const item = functionItem(this.#about.ref, call);
    const { arguments: text } = item;
    const at = { output_index: this.#output.length, item_id: item.id };
    this.#output.push(item);
    const begun = { output_index: at.output_index, item: { ...item, status: "in_progress", arguments: "" } };
    return [
      ...this.#next("response.output_item.added", begun),
      ...this.#next("response.function_call_arguments.delta", { ...at, delta: text }),
      ...this.#next("response.function_call_arguments.done", { ...at, name: item.name, arguments: text }),
      ...this.#next("response.output_item.done", { output_index: at.output_index, item }),
    ];
  }

  #reasoned(row: number, text: string): ResponseEvent[] {
    const index = this.#output.length;
    const part = { type: "summary_text" as const, text };
    const item: ReasoningItem = {
      id: `rs_${this.#about.ref.turn}_${row}`,
      type: "reasoning",
      summary: [part],
    };
    this.#output.push(item);
    const at = { item_id: item.id, output_index: index, summary_index: 0 };
    const begun = { output_index: index, item: { ...item, summary: [] } };
    return [
      ...this.#next("response.output_item.added", begun),
      ...this.#next("response.reasoning_summary_part.added", { ...at, part: { ...part, text: "" } }),
      ...this.#next("response.reasoning_summary_text.delta", { ...at, delta: text }),
      ...this.#next("response.reasoning_summary_text.done", { ...at, text }),
      ...this.#next("response.reasoning_summary_part.done", { ...at, part }),
      ...this.#next("response.output_item.done", { output_index: index, item }),
    ];
  }

  // ── numbers ───────────────────────────────────────────────────────────────────────────────────────────

  #beginRow(row: number): void {
    if (row === this.#row) return;
    this.#row = row;
    this.#inRow = 0;
  }

  #next(type: string, body: Record<string, unknown>): ResponseEvent[] {
    this.#inRow += 1;
    return this.#emit(this.#row * PER_ROW + this.#inRow - 1, type, body);
  }

  /** The number of the text that was sent so far. */
  #textNumber(): number {
    return this.#row * PER_ROW + TEXT_AT + (this.#open?.sent.length ?? 0);
  }

  #emit(sequence_number: number, type: string, body: Record<string, unknown>): ResponseEvent[] {
    return sequence_number > this.#after ? [{ type, sequence_number, ...body }] : [];
  }
}

function place(id: string, index: number) {
  return { item_id: id, output_index: index, content_index: 0 };
}

function sse(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
