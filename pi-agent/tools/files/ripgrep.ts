/**
 * Runs ripgrep where the files are. No text of a model can become an option: every value stands behind `=` or
 * `--`, and no configuration file is read.
 */
import { StringDecoder } from "node:string_decoder";
import { type Environment, FileError } from "../../env/environment.ts";
import { lookFor, NoAnswer } from "../../env/probe.ts";

/** rg's own complaint is a line or two. */
const STDERR_MAX_CHARS = 2_000;
/** A line of `--json` holds the whole line of the file. Those of files that are one long line are left out. */
export const RG_LINE_MAX_CHARS = 4 * 1024 * 1024;

/** In every call. Hidden files are searched, .git never; .gitignore counts, in a repository or not. */
const ALWAYS = [
  "--no-config",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-messages",
  "--color=never",
];

export type RgOptions = {
  /** A folder of the environment, below its `cwd`. */
  cwd?: string | undefined;
  signal: AbortSignal;
  /** A line without its end; false: enough, rg is stopped. */
  onLine(line: string): boolean;
  stdin?: Uint8Array;
  /** What ends a line: `\n`, or NUL for names. */
  lineEnd?: string;
};

/** What is not in the lines: files that could not be read, and lines over RG_LINE_MAX_CHARS. */
export type RgRan = { partial: boolean; overlong: number };

/** @returns what is missing and how to get it; undefined when it is there @throws NoAnswer */
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
  // 0: found, 1: nothing found, 2: an error, or a file among others that could not be read
  if (ran.exitCode === 2 && stderr.trim() !== "") {
    throw new FileError("invalid_params", `The pattern is not understood: ${stderr.trim().slice(0, 500)}`);
  }
  if (ran.exitCode === null || ran.exitCode > 2) {
    const how = ran.signal === null ? `exit code ${ran.exitCode}` : ran.signal;
    throw new FileError("io", `The search ended early (${how}). ${stderr.trim().slice(0, 500)}`.trim());
  }
  return { partial: ran.exitCode === 2, overlong: lines.overlong };
}

/** More than anybody lists or searches by one glob. */
const NAMES_MAX = 500_000;

/** Fits every path. As a glob for rg it would bring back the folders that .gitignore leaves out. */
const EVERYTHING = new Set(["*", "**", "**/*"]);

/**
 * Only what fits the glob, and never .git. As a value that rg takes for nothing else: `!` in front would turn its
 * meaning round.
 */
export function globOptions(pattern: string | undefined): string[] {
  const wanted = pattern === undefined || EVERYTHING.has(pattern) ? [] : [pattern];
  // The last one that fits wins.
  return [...wanted.map((one) => `--glob=${asPlain(one)}`), "--glob=!.git"];
}

/** In a rule `!` in front turns the meaning round, and `#` begins a comment. */
function asPlain(pattern: string): string {
  return /^[!#]/.test(pattern) ? `\\${pattern}` : pattern;
}

/** A glob that a file of rules for ignoring cannot hold as it is. */
const NO_RULE = /[\n\r]|^\s|[\s\\]$/;

/**
 * The files that fit a glob and that no .gitignore names, as rg tells them. A glob on rg's command line brings back what
 * .gitignore leaves out; so whoever uses one keeps only what is in here.
 * @param target what is searched, relative to `cwd`
 * @returns undefined when the glob leaves nothing out: then rg needs none, and .gitignore counts
 */
export async function notIgnored(
  environment: Pick<Environment, "exec">,
  pattern: string | undefined,
  { cwd, target, signal }: { cwd: string | undefined; target: string; signal: AbortSignal },
): Promise<Set<string> | undefined> {
  if (pattern === undefined || EVERYTHING.has(pattern)) return undefined;
  const names = new Set<string>();
  // These rules count less than those of .gitignore, so they only spare the listing of the rest.
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
