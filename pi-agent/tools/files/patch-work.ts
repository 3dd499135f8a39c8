/** Lines of a file that a patch changes, and a limit on the work of finding their places. */
import { FileError } from "../../env/environment.ts";

/** A line with its own ending, which is "" for a last line without newline. */
export type FileLine = { text: string; ending: string };

export function splitLines(text: string): FileLine[] {
  const lines: FileLine[] = [];
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf("\n", from);
    const end = found === -1 ? text.length : found;
    const crlf = found > from && text.charAt(end - 1) === "\r";
    const body = crlf ? end - 1 : end;
    lines.push({ text: text.slice(from, body), ending: found === -1 ? "" : text.slice(body, end + 1) });
    from = end + 1;
  }
  return lines;
}

/** Most lines to compare: some hundred milliseconds on a small device, which is blocked meanwhile. */
const WORK_MAX = 10_000_000;
/** A long line counts once for each of these. */
const CHARS_A_LINE = 64;

/** Counts the lines compared for all hunks of one file. */
export class PatchWork {
  readonly #path: string;
  #done = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws FileError `too_large` at the limit */
  count(chars: number): void {
    this.#done += 1 + chars / CHARS_A_LINE;
    if (this.#done > WORK_MAX)
      throw new FileError("too_large", {
        text: `The places of the patch are too far from where it says in '${this.#path}', or too many, to look for them all. Nothing was changed.`,
        advice: "Read the file again, and change fewer places at once with exact lines and line numbers.",
      });
  }
}
