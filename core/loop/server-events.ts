/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream) piece by piece. An
 * event that no blank line ends counts too: some endpoints leave the last one out. Errors come in other forms too: llama.cpp has a field
 * `error`, and some write JSON without a field.
 */

export type ServerEvent = { event: string; data: string };

export class ServerEvents {
  /** The line that has begun, without a CR at its end: an LF may follow in the next piece. */
  #line = "";
  #isReturned = false;
  #data: string[] = [];
  #event = "";
  #length = 0;

  /** Characters of the event that has begun. */
  get length(): number {
    return this.#length + this.#line.length;
  }

  /** @returns the events that this piece ends */
  add(piece: string): ServerEvent[] {
    return this.#read(piece);
  }

  /** @returns what the end of the body ends */
  end(): ServerEvent[] {
    return this.#read("\n\n");
  }

  #read(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.#isReturned ? `\r${text}` : text).split(/\r\n|\n|\r(?!$)/);
    const last = lines.pop() ?? "";
    this.#isReturned = last.endsWith("\r");
    for (const [at, line] of lines.entries()) {
      const event = this.#readLine(at === 0 ? this.#line + line : line);
      if (event) events.push(event);
    }
    const begun = this.#isReturned ? last.slice(0, -1) : last;
    // A long line comes in many pieces. It is only appended to: to look into it would copy all of it for each piece.
    this.#line = lines.length === 0 ? this.#line + begun : begun;
    return events;
  }

  #readLine(line: string): ServerEvent | undefined {
    if (line === "") {
      const ended = { event: this.#event, data: this.#data.join("\n") };
      const isEvent = this.#data.length > 0;
      this.#event = "";
      this.#data = [];
      this.#length = 0;
      return isEvent ? ended : undefined;
    }
    if (line.startsWith("{")) return { event: this.#event, data: line };
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
    if (name === "error") {
      this.#event = name;
      this.#data.push(value);
    }
    this.#length += line.length;
    return undefined;
  }
}
