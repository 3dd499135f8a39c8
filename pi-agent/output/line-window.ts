/** Keeps the lines that a read asks for while the file streams past, and only counts the others. */
export class LineWindow {
  readonly first: number;
  /** Lines seen so far; at the end, the lines of the file. A final newline does not begin another line. */
  total = 0;
  text = "";
  shown = 0;
  /** Size in bytes of the line that did not fit, as far as it was seen. */
  tooLong: number | undefined;
  readonly #last: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #line = "";
  #lineBytes = 0;

  constructor(first: number, limit: number, maxBytes: number) {
    this.first = first;
    this.#last = first + limit - 1;
    this.#maxBytes = maxBytes;
  }

  /** True if the window is full; further lines are only counted. */
  get full(): boolean {
    return this.tooLong !== undefined || this.total >= this.#last;
  }

  add(text: string): void {
    let from = 0;
    for (let newline = text.indexOf("\n"); newline >= 0; newline = text.indexOf("\n", from)) {
      this.#extend(text.slice(from, newline + 1));
      this.#finishLine();
      from = newline + 1;
    }
    if (from < text.length) this.#extend(text.slice(from));
  }

  end(): void {
    if (this.#lineBytes > 0) this.#finishLine();
  }

  #extend(part: string): void {
    const line = this.total + 1;
    const begun = this.tooLong !== undefined && line === this.first + this.shown;
    if (!begun && !this.#wants(line)) {
      this.#lineBytes += part.length;
      return;
    }
    this.#lineBytes += Buffer.byteLength(part);
    if (begun || this.#bytes + this.#lineBytes > this.#maxBytes) this.tooLong = this.#lineBytes;
    else this.#line += part;
  }

  #finishLine(): void {
    this.total += 1;
    if (this.#wants(this.total)) {
      this.text += this.#line;
      this.#bytes += this.#lineBytes;
      this.shown += 1;
    }
    this.#line = "";
    this.#lineBytes = 0;
  }

  #wants(line: number): boolean {
    return this.tooLong === undefined && line >= this.first && line <= this.#last;
  }
}
