/**
 * Workers AI: Cloudflare's own models through the Worker's binding, without a key.
 *
 * The rest of the gateway uses it like any OpenAI-compatible endpoint: this file is the `fetch` that reaches it, so time-outs,
 * retries, fallback and budgets are the same as for other models.
 */
import type { Fetch } from "@edgecall/core/loop/model.ts";
import type { Env } from "../env.ts";
import { WORKERS_AI_URL } from "../settings/workers-ai.ts";
import { callsInText, isObject, mayBeCall, openAiForm, statusOfError } from "./workers-ai-forms.ts";

/** The part of the binding that is used here. */
export type WorkersAi = NonNullable<Env["AI"]>;

/** @returns undefined for a model at an ordinary address */
export function modelFetch(ai: WorkersAi | undefined, baseUrl: string): Fetch | undefined {
  return ai && baseUrl === WORKERS_AI_URL ? workersAiFetch(ai) : undefined;
}

function workersAiFetch(ai: WorkersAi): Fetch {
  return async (_url, init) => {
    const { model, ...input } = JSON.parse(String(init.body)) as Record<string, unknown>;
    const offered = namesOf(input.tools);
    const signal = init.signal ?? undefined;
    let answer: unknown;
    try {
      answer = await ai.run(String(model), input, { ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      const message = error instanceof Error ? error.message : String(error);
      return Response.json({ error: { message } }, { status: statusOfError(message) });
    }
    if (answer instanceof Response) {
      if (!answer.ok || !answer.body || !answer.headers.get("content-type")?.includes("event-stream"))
        return answer;
      answer = answer.body;
    }
    if (answer instanceof ReadableStream) {
      const headers = { "content-type": "text/event-stream" };
      // SAFETY: the binding's streams contain bytes.
      return new Response(mapped(answer as ReadableStream<Uint8Array>, offered), { headers });
    }
    return Response.json(wholeAnswer(openAiForm(answer, "message"), offered));
  };
}

function namesOf(tools: unknown): ReadonlySet<string> {
  const names = (Array.isArray(tools) ? tools : []).map((tool) =>
    isObject(tool) && isObject(tool.function) ? String(tool.function.name) : "",
  );
  return new Set(names);
}

function wholeAnswer(answer: unknown, offered: ReadonlySet<string>): unknown {
  const text = textIn(answer, "message");
  const calls = text && mayBeCall(text) ? callsInText(text, offered) : undefined;
  if (!calls || !isObject(answer)) return answer;
  return { ...answer, choices: [{ index: 0, message: { tool_calls: calls }, finish_reason: "tool_calls" }] };
}

function textIn(chunk: unknown, part: "delta" | "message"): string {
  const choice = isObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  const message = isObject(choice) ? choice[part] : undefined;
  return isObject(message) && typeof message.content === "string" ? message.content : "";
}

/** Converts a stream into OpenAI's form. Lines without data are passed on as signs of life. */
function mapped(
  source: ReadableStream<Uint8Array>,
  offered: ReadonlySet<string>,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const chunks = new HeldText(offered);
  const write = (out: TransformStreamDefaultController<Uint8Array>, lines: string[]) => {
    const text = lines.flatMap((line) => mappedLine(line, chunks)).join("\n");
    if (text !== "") out.enqueue(encoder.encode(`${text}\n`));
  };
  return source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
        rest = lines.pop() ?? "";
        if (lines.length > 0) write(out, lines);
      },
      flush(out) {
        write(out, [rest]);
        // Without [DONE] the stream broke off, and the reader has to notice that.
        if (!chunks.released) write(out, chunks.release().map(dataLine));
      },
    }),
  );
}

function mappedLine(line: string, chunks: HeldText): string[] {
  const data = /^data: ?(.*)$/.exec(line)?.[1];
  if (data === undefined) return [line];
  if (data === "[DONE]") return [...chunks.release().map(dataLine), line, ""];
  try {
    return chunks.accept(openAiForm(JSON.parse(data), "delta")).map(dataLine);
  } catch {
    return [line];
  }
}

const dataLine = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n`;

/** Holds back a text that may still become a call, because text that a person has seen cannot be withdrawn. */
class HeldText {
  readonly #offered: ReadonlySet<string>;
  #held: unknown[] = [];
  #text = "";
  #isText = false;
  released = false;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
    this.#isText = offered.size === 0;
  }

  /** @returns the chunks that can be sent now */
  accept(chunk: unknown): unknown[] {
    const text = textIn(chunk, "delta");
    if (this.#isText || this.released) return [chunk];
    if (this.#text === "" && text.trim() === "") return [chunk];
    this.#text += text;
    this.#held.push(chunk);
    if (mayBeCall(this.#text)) return [];
    this.#isText = true;
    return this.#letGo();
  }

  /** Called at the end of the stream. @returns the remaining chunks */
  release(): unknown[] {
    this.released = true;
    const calls = this.#text === "" ? undefined : callsInText(this.#text, this.#offered);
    if (this.#isText || !calls) return this.#letGo();
    const usage = this.#held.findLast((chunk) => isObject(chunk) && isObject(chunk.usage));
    this.#held = [];
    const reply = { choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: "tool_calls" }] };
    return [{ ...reply, ...(isObject(usage) && { usage: usage.usage }) }];
  }

  #letGo(): unknown[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}
