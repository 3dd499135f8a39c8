/** The shape of one command of `edgecall`: its name, its options and its code. */

/** An option, `--name`. With `value` (its name in the help) it takes a value; otherwise it is a switch. */
type Option = {
  readonly value?: string;
  /** The one-letter form. */
  readonly short?: string;
  readonly about: string;
};

export type Command = {
  /** For instance "agent install". */
  readonly name: string;
  /** One line for the list of commands. */
  readonly about: string;
  /** The arguments besides options, as the help shows them, for instance "QUESTION…"; undefined: none. */
  readonly takes?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Loads the code of this command alone: `agent run` on a small Pi must not load the others. */
  readonly load: () => Promise<Work>;
};

/** @returns the exit code @throws an error that is shown in one line, with exit code 1 */
export type Work = (call: CommandCall) => Promise<number>;

export type CommandCall = {
  readonly positionals: readonly string[];
  /** @returns the value of an option; undefined when it was not given */
  text(option: string): string | undefined;
  /** @returns true when the switch was given */
  flag(option: string): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly io: Io;
};

/** A command writes its answer to `out`, which a program may read, and everything else to `err`. */
export type Io = {
  out(text: string): void;
  err(text: string): void;
  /** True if `out` is a terminal. Only people get colours and progress. */
  readonly terminal: boolean;
  /** The columns of that terminal. */
  readonly width?: number | undefined;
  /** True if `err` is a terminal. */
  readonly watched: boolean;
  /** True if a person can be asked: input and `err` are both a terminal. */
  readonly person: boolean;
};

/** Wrong use, for instance a missing option. It is shown with a hint at the help; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Exit codes, the same as of the shell's own commands. `cancelled`: by Ctrl-C. */
export const EXIT = { ok: 0, failed: 1, usage: 2, cancelled: 130 } as const;
