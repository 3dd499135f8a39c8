/** Captures a skill program's output: the beginning of stdout, which is the result, and the end of stderr. */
import { objectIn } from "@edgecall/core/protocol/json-text.ts";
import {
  CUT_MAX_BYTES,
  cutNotice,
  NOTICE_BYTES,
  truncateHead,
  truncateTail,
  withNotice,
} from "../output/text-cut.ts";

/** Bytes kept of stdout. This is more than is shown, so that JSON up to this size stays complete. */
export const STDOUT_KEPT_BYTES = 256 * 1024;
/** Bytes of stderr for the model and `details`; its end says what went wrong. */
export const STDERR_SHOWN_BYTES = 4 * 1024;

export class ProgramOutput {
  readonly #stdout: Uint8Array[] = [];
  #stdoutBytes = 0;
  #stderr = Buffer.alloc(0);

  add(chunk: Uint8Array, stream: "stdout" | "stderr"): void {
    if (stream === "stderr") {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-2 * STDERR_SHOWN_BYTES);
      return;
    }
    const free = STDOUT_KEPT_BYTES - this.#stdoutBytes;
    if (free > 0) this.#stdout.push(chunk.slice(0, free));
    this.#stdoutBytes += chunk.length;
  }

  /** Undefined when stdout is not a JSON object or too long. */
  json(): Record<string, unknown> | undefined {
    return this.#stdoutBytes > STDOUT_KEPT_BYTES
      ? undefined
      : objectIn(Buffer.concat(this.#stdout).toString());
  }

  /** Returns stdout for the model: without terminal codes, and cut in the usual form. */
  stdout(): string {
    const whole = this.#stdoutBytes <= STDOUT_KEPT_BYTES;
    const text = plain(Buffer.concat(this.#stdout).toString());
    const cut = truncateHead(text, { maxBytes: CUT_MAX_BYTES - NOTICE_BYTES - STDERR_SHOWN_BYTES });
    if (cut.by === null) return text;
    const notice = cutNotice({
      what: "lines",
      first: Math.min(1, cut.shown.lines),
      last: cut.shown.lines,
      of: whole ? cut.total.lines : undefined,
      ...(cut.by === "bytes" && { limitBytes: CUT_MAX_BYTES }),
      next: "Ask this tool for less at once.",
    });
    return withNotice(cut.content, notice);
  }

  stderr(): string {
    return truncateTail(plain(this.#stderr.toString()), { maxBytes: STDERR_SHOWN_BYTES }).content;
  }
}

/** Terminal codes: CSI and OSC sequences, other escapes, and control characters except tab and newline. */
const TERMINAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|[\x00-\x08\x0b-\x1f\x7f]/g;

function plain(text: string): string {
  return text.replaceAll(TERMINAL, "");
}
