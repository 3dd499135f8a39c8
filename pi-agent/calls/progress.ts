/**
 * What a call says before its end: a sign of life now and then, and its output while somebody watches. None of
 * it is kept: the result has what counts.
 */

/** The caller gives up after 60 s of silence; three signs may be lost before that. */
export const SIGN_OF_LIFE_MS = 20_000;
/** More would be noise to a person and load to a broker. */
export const BETWEEN_MS = 250;
/** Of one message, in bytes: a screenful. What came faster than that is only seen at its end. */
export const OUTPUT_MAX_BYTES = 8 * 1024;
/** Of one call, in bytes: nobody reads more as it comes, and the result is still to be sent. */
export const OUTPUT_TOTAL_BYTES = 256 * 1024;
const ELLIPSIS = "…";

export type Said = { tool?: string; text?: string };

export type ProgressOptions = {
  publish(said: Said): void;
  watched: boolean;
  /** The tool at work, as far as it is known from the start. */
  tool?: string;
  /** Left out: yes. */
  signsOfLife?: boolean;
};

export class Progress {
  readonly #publish: (said: Said) => void;
  readonly #signsOfLife: boolean;
  #watched: boolean;
  /** The tool at work; none while the device's own model is. */
  #tool: string | undefined;
  /** Output that waits to be said, by the tool that made it. */
  readonly #waiting = new Map<string | undefined, string>();
  #left = OUTPUT_TOTAL_BYTES;
  #saidAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor({ publish, watched, tool, signsOfLife = true }: ProgressOptions) {
    this.#publish = publish;
    this.#signsOfLife = signsOfLife;
    this.#watched = watched;
    this.#tool = tool;
    this.#rest();
  }

  /** This tool is at work now; undefined: the model is. */
  at(tool: string | undefined): void {
    this.#tool = tool;
    if (this.#watched && tool !== undefined) this.#soon();
  }

  /** More output of a tool, or of the model: undefined. Nobody watches: it is dropped. */
  output(text: string, tool: string | undefined): void {
    if (!this.#watched || this.#left <= 0 || text === "") return;
    this.#waiting.set(tool, tailOf((this.#waiting.get(tool) ?? "") + text, OUTPUT_MAX_BYTES));
    this.#soon();
  }

  /** From now on somebody watches. */
  watch(): void {
    this.#watched = true;
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #soon(): void {
    if (this.#ended) return;
    const wait = this.#saidAt + BETWEEN_MS - performance.now();
    if (wait <= 0) this.#speak();
    else this.#wait(wait);
  }

  #speak(): void {
    this.#saidAt = performance.now();
    const [waiting] = this.#waiting;
    const [tool, output] = waiting ?? [this.#tool, undefined];
    this.#waiting.delete(tool);
    const text = output === undefined ? undefined : tailOf(output, Math.min(OUTPUT_MAX_BYTES, this.#left));
    this.#left -= text === undefined ? 0 : Buffer.byteLength(text);
    if (this.#left <= 0) this.#waiting.clear();
    this.#publish({ ...(tool !== undefined && { tool }), ...(text !== undefined && { text }) });
    if (this.#waiting.size > 0) this.#wait(BETWEEN_MS);
    else this.#rest();
  }

  #rest(): void {
    if (this.#signsOfLife) this.#wait(SIGN_OF_LIFE_MS);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#speak(), ms);
  }
}

/** The end of a text in at most so many bytes of UTF-8, after "…" when something is missing. */
export function tailOf(text: string, maxBytes: number): string {
  // A UTF-16 unit is at least a byte: what is before these cannot be among the last bytes.
  const bytes = Buffer.from(text.length > maxBytes ? text.slice(-maxBytes) : text);
  if (text.length <= maxBytes && bytes.length <= maxBytes) return text;
  let from = Math.max(0, bytes.length - maxBytes + Buffer.byteLength(ELLIPSIS));
  // 10xxxxxx goes on with a character that began before.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return ELLIPSIS + bytes.toString("utf8", from);
}
