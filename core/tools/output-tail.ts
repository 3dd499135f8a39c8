/** Keeps the end of a call's output, for the case that the call is stopped. */

/** In bytes of UTF-8: enough for the end of a build's log, and short enough for a model. */
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
    // It is cut at twice the size, so that not every small piece costs a copy.
    if (this.#kept.length > 2 * this.#maxBytes) this.#kept = this.#end();
  }

  /** Returns the kept text, trimmed, with a notice when earlier output is missing. */
  text(): string {
    const end = this.#end().trim();
    return this.#cut && end !== "" ? `[Cut: the last ${this.#maxBytes} bytes are shown.]\n${end}` : end;
  }

  #end(): string {
    // A UTF-16 unit takes at least one byte, so earlier units cannot be among the last bytes.
    const units = this.#kept.slice(-this.#maxBytes);
    const bytes = new TextEncoder().encode(units);
    let from = Math.max(0, bytes.length - this.#maxBytes);
    // 10xxxxxx continues a character that began earlier.
    while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
    if (from > 0 || units.length < this.#kept.length) this.#cut = true;
    return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes.subarray(from));
  }
}
