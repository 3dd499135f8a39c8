/**
 * Runs a command in a terminal of its own and types into it. `script` of util-linux makes the terminal in the command's
 * environment; every Debian has it.
 */
import type { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { shellQuote } from "../../env/shell-quote.ts";
import { KEY_NAMES, keyBytes } from "./terminal-keys.ts";

/** A program that prints nothing for this long waits for a key. */
const SILENCE_MS = 200;
/** After this time a program gets its next key although it still prints, or its first although it never printed. */
const PATIENCE_MS = 2_000;
/** A program that does not echo gets the next key after this time. */
const UNANSWERED_MS = 500;
/** The sequences that switch application cursor keys on and off. */
const CURSOR_ON = "\x1b[?1h";
const CURSOR_OFF = "\x1b[?1l";

/** @returns a command that runs `argv` in a terminal of 80 × 24; it needs TERM=xterm in its environment */
export function inTerminal(argv: readonly string[]): [string, ...string[]] {
  return ["script", "-qefc", `stty rows 24 cols 80; exec ${shellQuote(argv)}`, "/dev/null"];
}

/** Matches a key in angle brackets; anything else is text. */
const KEY = /^<([^<>]+)>$/;

/** @returns what is wrong with the keys; undefined when they are valid */
export function problemOfKeys(keys: readonly string[]): string | undefined {
  for (const [at, key] of keys.entries()) {
    const name = KEY.exec(key)?.[1];
    if (name !== undefined && keyBytes(name) === undefined)
      return `keys[${at}]: no key '${name}'; there are ${KEY_NAMES}. Text of this form goes in two parts: "<", "${name}>"`;
  }
  return undefined;
}

/** Returns the typed text as a shell would read it, for the check of commands. */
export function typedText(keys: readonly string[]): string {
  return keys.map((key) => (/^<(?:enter|ctrl-[jm])>$/i.test(key) ? "\n" : KEY.test(key) ? "" : key)).join("");
}

/** Types each key once the program stops printing, and then closes its input. */
export class Typist {
  readonly #keys: readonly string[];
  readonly #signal: AbortSignal;
  #saidAt: number | undefined;
  #applicationCursor = false;

  constructor(keys: readonly string[], signal: AbortSignal) {
    this.#keys = keys;
    this.#signal = signal;
  }

  /** Gets the program's output as it appears. */
  hears(chunk: Uint8Array): void {
    this.#saidAt = performance.now();
    const text = Buffer.from(chunk).toString("latin1");
    const [on, off] = [text.lastIndexOf(CURSOR_ON), text.lastIndexOf(CURSOR_OFF)];
    if (on !== off) this.#applicationCursor = on > off;
  }

  async type(stdin: Writable): Promise<void> {
    await this.#silence(PATIENCE_MS);
    for (const key of this.#keys) {
      if (this.#signal.aborted || !stdin.writable) return;
      const name = KEY.exec(key)?.[1];
      const bytes = name === undefined ? key : keyBytes(name, { applicationCursor: this.#applicationCursor });
      stdin.write(bytes ?? "");
      this.#saidAt = undefined;
      await this.#silence(UNANSWERED_MS);
    }
    stdin.end();
  }

  /** @param firstWordMs how long the program may take to print anything, in ms */
  async #silence(firstWordMs: number): Promise<void> {
    const began = performance.now();
    while (!this.#signal.aborted) {
      const now = performance.now();
      const silentFor = this.#saidAt === undefined ? 0 : now - this.#saidAt;
      if (silentFor >= SILENCE_MS || now - began >= PATIENCE_MS) return;
      if (this.#saidAt === undefined && now - began >= firstWordMs) return;
      await pause(SILENCE_MS - silentFor);
    }
  }
}
