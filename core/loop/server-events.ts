/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream) piece by piece. An
 * event that no blank line ends counts too: some endpoints leave the last one out.
 */

export type ServerEvent = { event: string; data: string };

export class ServerEvents {
  readonly #decoder = new TextDecoder();
  /** The line that has begun. */
  #line = "";
  #data: string[] = [];
  #event = "";
  #length = 0;

  /** Characters of the event that has begun. */
  get length(): number {
    return this.#length + this.#line.length;
  }

  /** @returns the events that this piece ends */
  add(piece: Uint8Array): ServerEvent[] {
    return this.#read(this.#decoder.decode(piece, { stream: true }));
  }

  /** @returns what the end of the body ends */
  end(): ServerEvent[] {
    return this.#read("\n\n");
  }

  #read(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // Only the new text is searched, since a long line comes in many pieces. LF may follow a CR in the next one.
    const lines = (this.#line.endsWith("\r") ? `\r${text}` : text).split(/\r\n|\n|\r(?!$)/);
    const begun = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
    const last = lines.pop() ?? "";
    for (const [at, line] of lines.entries()) {
      const event = this.#take(at === 0 ? begun + line : line);
      if (event) events.push(event);
    }
    this.#line = lines.length === 0 ? begun + last : last;
    return events;
  }

  #take(line: string): ServerEvent | undefined {
    if (line === "") {
      const ended = { event: this.#event, data: this.#data.join("\n") };
      const isEvent = this.#data.length > 0;
      this.#event = "";
      this.#data = [];
      this.#length = 0;
      return isEvent ? ended : undefined;
    }
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
    this.#length += line.length;
    return undefined;
  }
}
