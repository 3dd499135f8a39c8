/** The end of what a call said while it ran: all that is left of it when it is stopped. */

/** In bytes of UTF-8: the end of a build's log fits, and a model still reads it. */
export const OUTPUT_TAIL_MAX_BYTES = 16 * 1024;

export class OutputTail {
  readonly #maxBytes: number;
  #kept = "";
  #cut = false;

  constructor(maxBytes = OUTPUT_TAIL_MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  add(text: string): void {
    this.#kept += text;
    // Twice as much before it is cut, so that many small pieces cost no copy each.
    if (this.#kept.length > 2 * this.#maxBytes) this.#kept = this.#end();
  }

  /** What was kept, without blank ends; what came before it is told. */
  text(): string {
    const end = this.#end().trim();
    return this.#cut && end !== "" ? `[Cut: the last ${this.#maxBytes} bytes are shown.]\n${end}` : end;
  }

  #end(): string {
    // A UTF-16 unit is at least a byte, so what is before these can not be among the last bytes.
    const units = this.#kept.slice(-this.#maxBytes);
    const bytes = new TextEncoder().encode(units);
    let from = Math.max(0, bytes.length - this.#maxBytes);
    // 10xxxxxx goes on with a character that began before.
    while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
    if (from > 0 || units.length < this.#kept.length) this.#cut = true;
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes.subarray(from));
  }
}
