/**
 * Publishes the progress of a call: signs of life, and its output while a person watches. None of it is stored: the result
 * has everything that matters.
 */
/** The caller gives up after 60 s of silence. Two signs may be lost before that. */
export const SIGN_OF_LIFE_MS = 20_000;
/** The shortest time between two messages. More would be noise for a person and load for a broker. */
export const BETWEEN_MS = 250;
/** Bytes of one message: a screenful. Of faster output only the end is sent. */
export const OUTPUT_MAX_BYTES = 8 * 1024;
/** Bytes of one call. Nobody reads more live, and the result follows. */
export const OUTPUT_TOTAL_BYTES = 256 * 1024;
const ELLIPSIS = "…";

export type ProgressText = { tool?: string; text?: string };

export type ProgressOptions = {
  publish(progress: ProgressText): void;
  watched: boolean;
  /** The tool at work, if known from the start. */
  tool?: string;
  /** Default: true. */
  signsOfLife?: boolean;
};

export class Progress {
  readonly #publish: (progress: ProgressText) => void;
  readonly #signsOfLife: boolean;
  #watched: boolean;
  /** The tool at work; undefined while the device's own model works. */
  #tool: string | undefined;
  /** Output that waits to be published, by the tool that made it. */
  readonly #waiting = new Map<string | undefined, string>();
  #left = OUTPUT_TOTAL_BYTES;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor({ publish, watched, tool, signsOfLife = true }: ProgressOptions) {
    this.#publish = publish;
    this.#signsOfLife = signsOfLife;
    this.#watched = watched;
    this.#tool = tool;
    this.#waitForSign();
  }

  /** Sets the tool at work; undefined: the model works. */
  setTool(tool: string | undefined): void {
    this.#tool = tool;
    if (this.#watched && tool !== undefined) this.#publishSoon();
  }

  /** Adds output of a tool (undefined: of the model). If nobody watches, it is dropped. */
  output(text: string, tool: string | undefined): void {
    if (!this.#watched || this.#left <= 0 || text === "") return;
    this.#waiting.set(tool, tailOf((this.#waiting.get(tool) ?? "") + text, OUTPUT_MAX_BYTES));
    this.#publishSoon();
  }

  /** A person watches from now on. */
  watch(): void {
    this.#watched = true;
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #publishSoon(): void {
    if (this.#ended) return;
    const wait = this.#publishedAt + BETWEEN_MS - performance.now();
    if (wait <= 0) this.#publishNext();
    else this.#wait(wait);
  }

  #publishNext(): void {
    this.#publishedAt = performance.now();
    const [waiting] = this.#waiting;
    const [tool, output] = waiting ?? [this.#tool, undefined];
    this.#waiting.delete(tool);
    const text = output === undefined ? undefined : tailOf(output, Math.min(OUTPUT_MAX_BYTES, this.#left));
    this.#left -= text === undefined ? 0 : Buffer.byteLength(text);
    if (this.#left <= 0) this.#waiting.clear();
    this.#publish({ ...(tool !== undefined && { tool }), ...(text !== undefined && { text }) });
    if (this.#waiting.size > 0) this.#wait(BETWEEN_MS);
    else this.#waitForSign();
  }

  #waitForSign(): void {
    if (this.#signsOfLife) this.#wait(SIGN_OF_LIFE_MS);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#publishNext(), ms);
  }
}

/** The end of a text in at most `maxBytes` of UTF-8, after "…" when something is missing. */
export function tailOf(text: string, maxBytes: number): string {
  // A UTF-16 unit is at least one byte, so only these can be among the last bytes.
  const bytes = Buffer.from(text.length > maxBytes ? text.slice(-maxBytes) : text);
  if (text.length <= maxBytes && bytes.length <= maxBytes) return text;
  let from = Math.max(0, bytes.length - maxBytes + Buffer.byteLength(ELLIPSIS));
  // A byte 10xxxxxx continues a character that began before.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return ELLIPSIS + bytes.toString("utf8", from);
}
