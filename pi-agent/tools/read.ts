import type { FileHandle } from "node:fs/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { openReadable, READABLE_FILES } from "./readable.ts";

export const MAX_LINES = 2_000;
export const MAX_BYTES = 50 * 1024;
/** Of it for the notice, since the runner cuts what is longer than MAX_BYTES in all. */
const NOTICE_BYTES = 256;
const WINDOW_BYTES = MAX_BYTES - NOTICE_BYTES;
/** A file is read to its end to count its lines; a larger one would hold up a small device for seconds. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

export function read(place: { root: string; workspace: string }): Tool {
  return defineTool({
    name: "read",
    description: `Read a text file of this device: from its workspace folder, or ${READABLE_FILES.join(" or ")}. At most ${MAX_LINES} lines or ${MAX_BYTES / 1024} KB at once; use offset to continue.`,
    input: z.strictObject({
      path: z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(4_096),
          z.describe("Path of the file; relative ones start in the workspace"),
        ),
      offset: z.optional(z.int().check(z.minimum(1), z.maximum(1e9))).check(z.describe("First line, from 1")),
      limit: z
        .optional(z.int().check(z.minimum(1), z.maximum(MAX_LINES)))
        .check(z.describe("How many lines at most")),
    }),
    effect: "read",
    permission: "file_read",
    idempotent: true,
    taints: true,
    timeoutMs: 5_000,
    maxTimeoutMs: 30_000,
    async execute({ path, offset = 1, limit }, { signal }): Promise<ToolResult> {
      const opened = await openReadable(place, path);
      if (!opened.ok) return opened.fault;
      try {
        if (opened.size > MAX_FILE_BYTES) {
          return faultResult(
            "too_large",
            `Error: '${path}' has ${opened.size} bytes; files up to ${MAX_FILE_BYTES} bytes can be read.`,
          );
        }
        const window = new LineWindow(offset, Math.min(limit ?? MAX_LINES, MAX_LINES));
        const isText = await scan(opened.file, window, signal);
        if (!isText)
          return faultResult(
            "is_binary",
            `Error: '${path}' is not a text file (not UTF-8, or with NUL bytes).`,
          );
        return resultOf(path, window, limit);
      } finally {
        await opened.file.close();
      }
    },
  });
}

/** Feeds the file to the window. @returns false when it is not text */
async function scan(file: FileHandle, window: LineWindow, signal: AbortSignal): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
    const chunk = buffer.subarray(0, bytesRead);
    if (chunk.includes(0)) return false;
    try {
      window.add(decoder.decode(chunk, { stream: bytesRead > 0 }));
    } catch {
      return false;
    }
    if (bytesRead === 0) {
      window.end();
      return true;
    }
  }
}

/** Keeps the wanted lines, whole ones up to MAX_BYTES, and counts all of them. */
class LineWindow {
  readonly first: number;
  readonly #last: number;
  /** Lines in the file; a final newline begins no further one. */
  total = 0;
  text = "";
  shown = 0;
  /** The line that did not fit, in bytes. */
  tooLong: number | undefined;
  #bytes = 0;
  #line = "";
  #lineBytes = 0;

  constructor(first: number, limit: number) {
    this.first = first;
    this.#last = first + limit - 1;
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
    this.#lineBytes += Buffer.byteLength(part);
    // A line that cannot be shown is only measured.
    if (this.#wanted(this.total + 1) && this.#bytes + this.#lineBytes <= WINDOW_BYTES) this.#line += part;
  }

  #finishLine(): void {
    this.total += 1;
    if (this.#wanted(this.total)) {
      if (this.#bytes + this.#lineBytes > WINDOW_BYTES) this.tooLong = this.#lineBytes;
      else {
        this.text += this.#line;
        this.#bytes += this.#lineBytes;
        this.shown += 1;
      }
    }
    this.#line = "";
    this.#lineBytes = 0;
  }

  #wanted(line: number): boolean {
    return this.tooLong === undefined && line >= this.first && line <= this.#last;
  }
}

function resultOf(path: string, window: LineWindow, limit: number | undefined): ToolResult {
  const { first, total, shown, text, tooLong } = window;
  if (total === 0 && first === 1) return textResult("(empty file)", { lines: 0 });
  if (first > total) {
    return faultResult(
      "beyond_eof",
      `Error: Offset ${first} is beyond the end of '${path}' (${total} lines total).`,
    );
  }
  if (shown === 0 && tooLong !== undefined) {
    return faultResult(
      "too_large",
      `Error: Line ${first} of '${path}' has ${tooLong} bytes, over the limit of ${WINDOW_BYTES}. Use offset=${first + 1} to go on after it.`,
    );
  }
  const last = first + shown - 1;
  const details = { first, last, lines: total };
  if (last >= total) return textResult(text, details);
  const next = `Use offset=${last + 1} to continue.`;
  const notice =
    tooLong !== undefined
      ? `[Showing lines ${first}-${last} of ${total} (${(MAX_BYTES / 1024).toFixed(1)}KB limit). ${next}]`
      : limit !== undefined
        ? `[${total - last} more lines in file. ${next}]`
        : `[Showing lines ${first}-${last} of ${total}. ${next}]`;
  return textResult(`${text}${text.endsWith("\n") ? "\n" : "\n\n"}${notice}`, details);
}
