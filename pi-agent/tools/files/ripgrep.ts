/**
 * Runs ripgrep where the files are. No text of a model can become an option: every value follows `=` or `--`, and no
 * configuration file is read.
 */

import { StringDecoder } from "node:string_decoder";
import { cutText } from "@edgecall/core/text/cut.ts";
import { type Environment, FileError } from "../../env/environment.ts";
import { lookFor, NoAnswer } from "../../env/probe.ts";

/** An error message of rg has a line or two. */
const STDERR_MAX_CHARS = 2_000;
/** A line of `--json` contains the file's whole line. Longer ones, of files that are a single line, are left out. */
export const RG_LINE_MAX_CHARS = 4 * 1024 * 1024;

/** Options of every call. Hidden files are searched, .git never; .gitignore applies also outside a repository. */
const ALWAYS = [
  "--no-config",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-messages",
  "--color=never",
];

export type RgOptions = {
  /** A folder of the environment, relative to its `cwd`. */
  cwd?: string | undefined;
  signal: AbortSignal;
  /** Gets each line without its end; returning false stops rg. */
  onLine(line: string): boolean;
  stdin?: Uint8Array;
  /** The line end: `\n`, or NUL for names. */
  lineEnd?: string;
};

/** The gaps of the lines: `partial` when files could not be read, and the number of lines over RG_LINE_MAX_CHARS. */
export type RgRan = { partial: boolean; overlong: number };

/** @returns what is missing and how to install it; undefined when rg is there @throws NoAnswer */
export async function rgMissing({
  exec,
  name,
}: Pick<Environment, "exec" | "name">): Promise<string | undefined> {
  const rg = await lookFor(exec, ["rg", "--no-config", "--version"]);
  if (!rg) return `no ripgrep in the environment '${name}': install ripgrep (apt install ripgrep)`;
  if (rg.exitCode === 0) return undefined;
  throw new NoAnswer(`ripgrep does not tell its version: exit code ${rg.exitCode}`);
}

/** @throws FileError `invalid_params` when rg does not understand the pattern; ExecError when it cannot be started */
export async function runRg(
  { exec }: Pick<Environment, "exec">,
  args: readonly string[],
  { cwd, signal, onLine, stdin, lineEnd = "\n" }: RgOptions,
): Promise<RgRan> {
  const enough = new AbortController();
  const lines = new Lines(lineEnd, (line) => {
    if (!enough.signal.aborted && !onLine(line)) enough.abort();
  });
  let stderr = "";
  const ran = await exec.run(["rg", ...ALWAYS, ...args], {
    ...(cwd !== undefined && { cwd }),
    ...(stdin && { stdin }),
    signal: AbortSignal.any([signal, enough.signal]),
    onOutput(chunk, stream) {
      if (stream === "stdout") lines.add(chunk);
      else if (stderr.length < STDERR_MAX_CHARS) stderr += Buffer.from(chunk).toString();
    },
  });
  signal.throwIfAborted();
  lines.end();
  if (enough.signal.aborted) return { partial: false, overlong: lines.overlong };
  // 0: matches, 1: no match, 2: an error, possibly only an unreadable file among others
  if (ran.exitCode === 2 && stderr.trim() !== "") {
    throw new FileError("invalid_params", `The pattern is not understood: ${cutText(stderr.trim(), 500)}`);
  }
  if (ran.exitCode === null || ran.exitCode > 2) {
    const how = ran.signal === null ? `exit code ${ran.exitCode}` : ran.signal;
    throw new FileError("io", `The search ended early (${how}). ${cutText(stderr.trim(), 500)}`.trim());
  }
  return { partial: ran.exitCode === 2, overlong: lines.overlong };
}

/** Most names that one glob may list or search. */
const NAMES_MAX = 500_000;

/** Globs that match every path. Passed to rg, they would include folders that .gitignore excludes. */
const EVERYTHING = new Set(["*", "**", "**/*"]);

/**
 * Returns options for files that match the glob, never those in .git. A leading `!` is escaped, because it would negate the
 * glob.
 */
export function globOptions(pattern: string | undefined): string[] {
  const wanted = pattern === undefined || EVERYTHING.has(pattern) ? [] : [pattern];
  // The last matching glob wins.
  return [...wanted.map((one) => `--glob=${asPlain(one)}`), "--glob=!.git"];
}

/** Escapes a leading `!`, which negates a rule, and a leading `#`, which begins a comment. */
function asPlain(pattern: string): string {
  return /^[!#]/.test(pattern) ? `\\${pattern}` : pattern;
}

/** Globs that an ignore file cannot contain. */
const NO_RULE = /[\n\r]|^\s|[\s\\]$/;

/**
 * Returns the files that match a glob and that no .gitignore excludes. A glob on rg's command line overrides .gitignore, so
 * callers that use one keep only the files in this set.
 * @param target the searched path, relative to `cwd`
 * @returns undefined when the glob matches everything: rg then gets no glob, and .gitignore applies
 */
export async function notIgnored(
  environment: Pick<Environment, "exec">,
  pattern: string | undefined,
  { cwd, target, signal }: { cwd: string | undefined; target: string; signal: AbortSignal },
): Promise<Set<string> | undefined> {
  if (pattern === undefined || EVERYTHING.has(pattern)) return undefined;
  const names = new Set<string>();
  // .gitignore overrides these rules, so they only shorten the list.
  const rules = NO_RULE.test(pattern) ? undefined : `*\n!*/\n!${asPlain(pattern)}\n`;
  const args = [
    "--files",
    "--null",
    ...(rules ? ["--ignore-file=/dev/stdin"] : []),
    "--glob=!.git",
    "--",
    target,
  ];
  await runRg(environment, args, {
    cwd,
    signal,
    lineEnd: "\0",
    ...(rules && { stdin: Buffer.from(rules) }),
    onLine: (name) => names.add(name).size < NAMES_MAX,
  });
  return names;
}

class Lines {
  readonly #end: string;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #skipping = false;
  overlong = 0;

  constructor(end: string, onLine: (line: string) => void) {
    this.#end = end;
    this.#onLine = onLine;
  }

  add(chunk: Uint8Array): void {
    const [first = "", ...others] = this.#decoder.write(Buffer.from(chunk)).split(this.#end);
    this.#extend(first);
    for (const part of others) {
      this.end();
      this.#skipping = false;
      this.#extend(part);
    }
  }

  end(): void {
    const line = this.#rest;
    this.#rest = "";
    if (line !== "") this.#onLine(line);
  }

  #extend(part: string): void {
    if (this.#skipping) return;
    this.#rest += part;
    if (this.#rest.length <= RG_LINE_MAX_CHARS) return;
    this.#rest = "";
    this.#skipping = true;
    this.overlong += 1;
  }
}
