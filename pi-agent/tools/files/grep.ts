import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolResult, textResult } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import {
  CUT_MAX_BYTES,
  cutNotice,
  formatSize,
  LINE_MAX_CHARS,
  NOTICE_BYTES,
  truncateLine,
  withNotice,
} from "../../output/text-cut.ts";
import { FILE_READ } from "../reads.ts";
import { orFault } from "./file-fault.ts";
import { filePath } from "./file-path.ts";
import { globOptions, notIgnored, RG_LINE_MAX_CHARS, type RgRan, runRg } from "./ripgrep.ts";
import { fromWorkspace, type SearchPlace, searchPlace } from "./search-place.ts";

const GREP_MATCHES = 100;
const GREP_MAX_MATCHES = 1_000;
const GREP_MAX_CONTEXT = 20;
export const PATTERN_MAX_CHARS = 1_000;

export function grep(environment: Pick<Environment, "name" | "cwd" | "files" | "exec">): Tool {
  return defineTool({
    name: "grep",
    description: `Search the text of files in this device's workspace folder with a regular expression (Rust's syntax). Gives path:line: text, at most ${GREP_MATCHES} matches (limit) and ${LINE_MAX_CHARS} characters of a line. Files that .gitignore names are left out.`,
    input: z.strictObject({
      pattern: z
        .string()
        .check(z.minLength(1), z.maxLength(PATTERN_MAX_CHARS), z.describe("What to search for")),
      path: z.optional(filePath("File or folder; the workspace when left out")),
      include: z
        .optional(z.string().check(z.minLength(1), z.maxLength(PATTERN_MAX_CHARS)))
        .check(z.describe("Only files of this glob: *.ts, src/**/*.md")),
      ignore_case: z.optional(z.boolean()),
      literal: z.optional(z.boolean()).check(z.describe("The pattern is plain text")),
      context: z
        .optional(z.int().check(z.minimum(0), z.maximum(GREP_MAX_CONTEXT)))
        .check(z.describe("Lines shown around each match")),
      limit: z.optional(z.int().check(z.minimum(1), z.maximum(GREP_MAX_MATCHES))),
    }),
    ...FILE_READ,
    aliases: { glob: "include", ignoreCase: "ignore_case" },
    async execute({ path = ".", limit = GREP_MATCHES, ...wanted }, { signal }): Promise<ToolResult> {
      return await orFault(async () => {
        const place = await searchPlace(environment, path, signal);
        const { cwd, target } = place;
        const included = await notIgnored(environment, wanted.include, { cwd, target, signal });
        const matches = new Matches(place, limit, wanted.context ?? 0, included);
        const ran = await runRg(environment, argumentsOf({ ...wanted, place }), {
          cwd: place.cwd,
          signal,
          onLine: (line) => matches.add(line),
        });
        return matches.result(ran);
      });
    },
  });
}

function argumentsOf({
  pattern,
  include,
  ignore_case,
  literal,
  context,
  place,
}: {
  pattern: string;
  include?: string | undefined;
  ignore_case?: boolean | undefined;
  literal?: boolean | undefined;
  context?: number | undefined;
  place: SearchPlace;
}): string[] {
  return [
    "--json",
    // One thread is slower, but returns the same matches at every call.
    "--sort=path",
    ...(ignore_case ? ["--ignore-case"] : []),
    ...(literal ? ["--fixed-strings"] : []),
    ...(context ? [`--context=${context}`] : []),
    ...globOptions(include),
    `--regexp=${pattern}`,
    "--",
    place.target,
  ];
}

type RgText = { text?: string; bytes?: string };
type RgLine = { type: string; data: { path?: RgText; lines?: RgText; line_number?: number | null } };

/** Collects the lines of a result as they arrive. */
class Matches {
  readonly #place: SearchPlace;
  readonly #limit: number;
  readonly #context: number;
  /** Absent = all files. */
  readonly #files: ReadonlySet<string> | undefined;
  #lastMatch: { path: string; line: number } | undefined;
  readonly #lines: string[] = [];
  #bytes = 0;
  #count = 0;
  #inContext = false;
  #cut: "matches" | "bytes" | undefined;
  #before: { path: string; line: number } | undefined;

  constructor(place: SearchPlace, limit: number, context: number, files: ReadonlySet<string> | undefined) {
    this.#place = place;
    this.#limit = limit;
    this.#context = context;
    this.#files = files;
  }

  /** @returns false when the limit is reached */
  add(json: string): boolean {
    const { type, data } = JSON.parse(json) as RgLine;
    if ((type !== "match" && type !== "context") || !data.lines) return true;
    const name = textOf(data.path);
    if (this.#files && !this.#files.has(name)) return true;
    if (type === "match" && this.#count === this.#limit) return this.#end("matches");
    const path = fromWorkspace(this.#place, name);
    const line = data.line_number ?? 1;
    // Lines above a hidden match are not context of a shown one.
    if (this.#count === this.#limit && !this.#isBelowLast(path, line)) return this.#end("matches");
    const mark = type === "match" ? ":" : "-";
    const { text } = truncateLine(plain(textOf(data.lines)));
    const shown = `${plain(path)}${mark}${line}${mark} ${text}`;
    const gap = this.#before && (this.#before.path !== path || line > this.#before.line + 1);
    const lines = gap && this.#inContext ? ["--", shown] : [shown];
    const bytes = Buffer.byteLength(lines.join("\n")) + 1;
    if (this.#bytes + bytes > CUT_MAX_BYTES - NOTICE_BYTES) return this.#end("bytes");
    this.#lines.push(...lines);
    this.#bytes += bytes;
    this.#before = { path, line };
    if (type === "match") {
      this.#count += 1;
      this.#lastMatch = { path, line };
    } else this.#inContext = true;
    return true;
  }

  #isBelowLast(path: string, line: number): boolean {
    const last = this.#lastMatch;
    return last?.path === path && line <= last.line + this.#context;
  }

  #end(cut: "matches" | "bytes"): false {
    this.#cut = cut;
    return false;
  }

  result({ partial, overlong }: RgRan): ToolResult {
    const details = { matches: this.#count, ...(this.#cut && { cut: this.#cut }) };
    const unread = [
      ...(partial ? ["\n[Some files could not be read.]"] : []),
      ...(overlong > 0
        ? [`\n[${overlong} lines of over ${formatSize(RG_LINE_MAX_CHARS)} are left out.]`]
        : []),
    ].join("");
    if (this.#count === 0) return textResult(`No matches found${unread}`, details);
    const text = this.#lines.join("\n");
    if (!this.#cut) return textResult(`${text}${unread}`, details);
    const more = Math.min(2 * this.#limit, GREP_MAX_MATCHES);
    const narrow = "a narrower pattern, path or include";
    const notice = cutNotice({
      what: "matches",
      first: 1,
      last: this.#count,
      limitBytes: this.#cut === "bytes" ? CUT_MAX_BYTES : undefined,
      next:
        this.#cut === "bytes" || more === this.#limit
          ? `Use ${narrow}.`
          : `Use limit=${more} for more, or ${narrow}.`,
    });
    return textResult(withNotice(text, notice), details);
  }
}

/** rg writes text that is not UTF-8 as base64. */
function textOf(given: RgText | undefined): string {
  if (given?.bytes !== undefined) return Buffer.from(given.bytes, "base64").toString();
  return given?.text ?? "";
}

/** Puts text on one line, without control characters. */
function plain(text: string): string {
  return text.replace(/\r?\n$/, "").replaceAll(/[^\P{Cc}\t]/gu, "\ufffd");
}
