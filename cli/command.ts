/** What one command of `edgecall` is: its words, its options, and where its work is. */

/** An option as `--name`; with `value` it takes one, named so in the help, and without it it is a switch. */
export type Option = {
  readonly value?: string;
  /** The one-letter form. */
  readonly short?: string;
  readonly about: string;
};

export type Command = {
  /** The words that call it, e.g. "agent install". */
  readonly name: string;
  /** One line for the list of commands. */
  readonly about: string;
  /** What it takes besides options, as the help shows it, e.g. "QUESTION…"; left out: nothing. */
  readonly takes?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Its code is read when it is called: `agent run` on a small Pi must not load the others. */
  readonly load: () => Promise<Work>;
};

/** @returns the exit code; an error that is thrown is shown in one line, with exit code 1 */
export type Work = (call: CommandCall) => Promise<number>;

export type CommandCall = {
  readonly positionals: readonly string[];
  /** The value of an option that takes one; undefined where it was not given. */
  text(option: string): string | undefined;
  /** Was this switch given? */
  flag(option: string): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly io: Io;
};

/** Where a command writes. Answers go to `out`, which a program may read; all else goes to `err`. */
export type Io = {
  out(text: string): void;
  err(text: string): void;
  /** Is `out` a terminal? Colours and progress are for people alone. */
  readonly terminal: boolean;
  /** Columns of that terminal. */
  readonly width?: number | undefined;
  /** Is `err` a terminal? */
  readonly watched: boolean;
  /** Is there somebody who can be asked: are input and `err` both a terminal? */
  readonly person: boolean;
};

/** A use that cannot be right, e.g. an option that is missing: shown with the way to the help, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Exit codes, as the shell's own commands have them; `cancelled` is what Ctrl-C comes to. */
export const EXIT = { ok: 0, failed: 1, usage: 2, cancelled: 130 } as const;
