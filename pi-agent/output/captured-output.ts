/**
 * Captures a program's output in bounded memory. It keeps the end, counts everything, and also writes output that is too
 * long for a model to a file.
 */
import { randomUUID } from "node:crypto";
import { createWriteStream, mkdirSync, readdirSync, rmSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { stripVTControlCharacters } from "node:util";
import {
  CUT_MAX_BYTES,
  CUT_MAX_LINES,
  cutNotice,
  formatSize,
  NOTICE_BYTES,
  type Size,
  truncateTail,
  withNotice,
} from "./text-cut.ts";

/** What a model reads of a program that printed nothing. */
export const NO_OUTPUT = "(no output)";
/** Twice what is shown, because control characters are removed before the cut. */
const KEPT_BYTES = 2 * CUT_MAX_BYTES;
/** Largest output file. */
const SPILL_MAX_BYTES = 16 * 1024 * 1024;
/** Most files in the folder; the oldest are deleted first. Their names sort by time. */
export const SPILL_MAX_FILES = 16;

export type SpillOptions = { folder: string; maxBytes?: number };

export type Captured = {
  /** The end of the output for a model, without control characters, with a notice when it was cut. Empty without output. */
  text: string;
  /** The size of the whole output. */
  total: Size;
  /** A file with the whole output, or with its beginning when it exceeded `maxBytes`. */
  spill?: { path: string; bytes: number; whole: boolean };
};

export class CapturedOutput {
  readonly #spillOptions: SpillOptions | undefined;
  readonly #next: string;
  /** The incomplete last character of each stream. */
  readonly #halves: Record<"stdout" | "stderr", Uint8Array> = { stdout: EMPTY, stderr: EMPTY };
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #bytes = 0;
  #newlines = 0;
  #endsInLine = false;
  #cut = false;
  #spill: Spill | undefined;

  /** @param options.next where the whole output is, in words for the model, if it is kept elsewhere than in a file of `spill` */
  constructor(options: { spill?: SpillOptions | undefined; next?: string | undefined } = {}) {
    this.#spillOptions = options.spill;
    this.#next = options.next ?? "The rest was not kept; write the output to a file to read it in parts.";
  }

  /** Adds a chunk in order; a character that is split between chunks stays whole. */
  add(chunk: Uint8Array, stream: "stdout" | "stderr" = "stdout"): void {
    const bytes = Buffer.concat([this.#halves[stream], chunk]);
    const whole = bytes.length - unfinished(bytes);
    this.#halves[stream] = bytes.subarray(whole);
    this.#keep(bytes.subarray(0, whole));
  }

  /** Ends the capture, and waits until the file is written. */
  async end(): Promise<Captured> {
    for (const half of Object.values(this.#halves)) this.#keep(half);
    const total = { lines: this.#newlines + (this.#endsInLine ? 1 : 0), bytes: this.#bytes };
    const spill = await this.#spill?.end();
    return { text: this.#text(total, spill), total, ...(spill && { spill }) };
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#keptBytes += bytes.length;
    this.#bytes += bytes.length;
    for (const byte of bytes) if (byte === NEWLINE) this.#newlines += 1;
    this.#endsInLine = bytes.at(-1) !== NEWLINE;
    this.#spillOver(bytes);
    for (
      let first = this.#chunks[0];
      first && this.#keptBytes - first.length >= KEPT_BYTES;
      first = this.#chunks[0]
    ) {
      this.#chunks.shift();
      this.#keptBytes -= first.length;
      this.#cut = true;
    }
  }

  /** Begins the file. Nothing has been dropped yet, because more is kept than is shown. */
  #spillOver(bytes: Uint8Array): void {
    if (this.#spill) {
      this.#spill.add(bytes);
      return;
    }
    if (!this.#spillOptions || (this.#bytes <= SHOWN_BYTES && this.#newlines <= CUT_MAX_LINES)) return;
    this.#spill = new Spill(this.#spillOptions);
    for (const chunk of this.#chunks) this.#spill.add(chunk);
  }

  #text(total: Size, spill: Captured["spill"]): string {
    const captured = Buffer.concat(this.#chunks);
    const cut = truncateTail(
      plainText(captured.subarray(this.#cut ? characterStart(captured) : 0).toString()),
      {
        maxBytes: SHOWN_BYTES,
      },
    );
    if (cut.by === null && !this.#cut) return cut.content;
    const next = spill
      ? `${spill.whole ? "Full output" : `The first ${formatSize(spill.bytes)} of it`}: ${spill.path}`
      : this.#next;
    const limitBytes = cut.by === "lines" ? undefined : SHOWN_BYTES;
    if (cut.partialLine || cut.shown.lines === 0)
      return withNotice(
        cut.content,
        `[Showing the last ${formatSize(cut.shown.bytes)} of line ${total.lines} of ${total.lines}, ${formatSize(total.bytes)} in all. ${next}]`,
      );
    const first = Math.max(1, total.lines - cut.shown.lines + 1);
    return withNotice(
      cut.content,
      cutNotice({ what: "lines", first, last: total.lines, of: total.lines, limitBytes, next }),
    );
  }
}

/** Removes escape sequences, overwritten text of progress bars and other control characters, which no model can use. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

const EMPTY = new Uint8Array();
const NEWLINE = 10;
const SHOWN_BYTES = CUT_MAX_BYTES - NOTICE_BYTES;

class Spill {
  readonly #path: string;
  readonly #left: number;
  readonly #stream: WriteStream;
  readonly #over: Promise<boolean>;
  #bytes = 0;
  #whole = true;

  constructor({ folder, maxBytes = SPILL_MAX_BYTES }: SpillOptions) {
    this.#path = join(folder, `output-${Date.now()}-${randomUUID().slice(0, 8)}.txt`);
    this.#left = maxBytes;
    makeRoom(folder);
    this.#stream = createWriteStream(this.#path, { flags: "wx", mode: 0o600 });
    this.#over = finished(this.#stream).then(
      () => true,
      () => false,
    );
  }

  /** The quota limits the bytes that wait to be written. */
  add(bytes: Uint8Array): void {
    const part = bytes.subarray(0, this.#left - this.#bytes);
    if (part.length < bytes.length) this.#whole = false;
    if (part.length === 0) return;
    this.#bytes += part.length;
    this.#stream.write(part);
  }

  /** @returns undefined when it could not be written, since a full disk must not fail the call */
  async end(): Promise<Captured["spill"]> {
    this.#stream.end();
    if (!(await this.#over)) return undefined;
    return { path: this.#path, bytes: this.#bytes, whole: this.#whole };
  }
}

function makeRoom(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const files = readdirSync(folder).filter((name) => /^output-\d+-/.test(name));
    for (const name of files.sort().slice(0, Math.max(0, files.length - SPILL_MAX_FILES + 1)))
      rmSync(join(folder, name), { force: true });
  } catch {
    // The stream fails too, and reports it at its end.
  }
}

/** Returns the number of bytes at the end that begin an incomplete UTF-8 character. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** Returns where the first whole character begins. */
function characterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}
