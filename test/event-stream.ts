/** A client of a turn's events for tests. It shows what a person would see while the turn runs. */
import { ask } from "./workerd.ts";

export type Seen = { event: string; id: number | undefined; data: Record<string, unknown> };

export class EventStream {
  readonly seen: Seen[] = [];
  /** Resolves when the gateway has closed the stream. */
  readonly ended: Promise<void>;

  #isLeft = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
    this.ended = this.#read().catch((error: unknown) => {
      if (!this.#isLeft) throw error;
    });
  }

  /** Follows all turns of a conversation, also later ones, until `leave`. */
  static async follow(conversation: string): Promise<EventStream> {
    const response = await ask(`/v1/conversations/${conversation}/events`);
    if (!response.body) throw new Error(`no stream: ${response.status}`);
    return new EventStream(response.body);
  }

  async leave(): Promise<void> {
    // What is read when it is cancelled fails, or ends.
    this.#isLeft = true;
    await this.#reader.cancel();
  }

  /** Sends a message and follows the turn. */
  static async say(conversation: string, text: string): Promise<EventStream> {
    const response = await ask(`/v1/conversations/${conversation}/messages`, {
      method: "POST",
      headers: { accept: "text/event-stream" },
      body: JSON.stringify({ text }),
    });
    if (!response.body) throw new Error(`no stream: ${response.status}`);
    return new EventStream(response.body);
  }

  /** Text on the screen that is not part of a message yet. */
  get text(): string {
    let text = "";
    for (const { event, data } of this.seen) {
      if (event === "delta") text += String(data.text);
      else if (event === "reset" || event === "message") text = "";
    }
    return text;
  }

  of(event: string): Array<Record<string, unknown>> {
    return this.seen.filter((one) => one.event === event).map(({ data }) => data);
  }

  async #read(): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
      const blocks = (rest + decoder.decode(part.value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string) => block.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1];
        const [event, id, data] = [field("event"), field("id"), field("data")];
        if (event && data)
          this.seen.push({ event, id: id === undefined ? undefined : Number(id), data: JSON.parse(data) });
      }
    }
  }
}
