/**
 * The last runs of each rule that acts, for people. They have a file of their own, written some seconds later: the file by which rules
 * act is written at each step, and stays small. It holds a run until this one does, so no kill loses one.
 */
import { readFile } from "node:fs/promises";
import { AutomationRun } from "@edgecall/core/protocol/automation.ts";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { HeldRule } from "./held-rules.ts";

/** Each rule has at most so many. */
const RUNS_KEPT = 20;
const WRITE_AFTER_MS = 5_000;

const File = z.object({ version: z.literal(1), runs: z.record(z.string(), z.array(z.unknown())) });

/** A rule with the machine's state of it. */
type Held = Pick<HeldRule, "rule" | "state">;

export class RunRecords {
  readonly #path: string;
  readonly #log: Log;
  readonly #runs = new Map<string, AutomationRun[]>();
  /** Runs that the file has as they are. */
  readonly #written = new WeakSet<AutomationRun>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /** A damaged file counts as none, and a damaged run too. */
  static async open(path: string, log: Log): Promise<RunRecords> {
    const records = new RunRecords(path, log);
    const text = await readFile(path, "utf8").catch(() => "");
    const file = text === "" ? undefined : checkJson(File, text);
    if (file && !file.ok) log("warn", "automations.runs_unreadable", { error: cutText(file.error, 300) });
    for (const [rule, runs] of Object.entries(file?.ok ? file.value.runs : {}))
      records.#runs.set(
        rule,
        runs.flatMap((one) => {
          const run = check(AutomationRun, one);
          return run.ok ? [run.value] : [];
        }),
      );
    records.#areWritten(records.#all);
    return records;
  }

  /** The runs of a rule, oldest first. */
  of(rule: string): readonly AutomationRun[] {
    return this.#runs.get(rule) ?? [];
  }

  /** Runs that the file does not have yet. */
  get unwritten(): AutomationRun[] {
    return this.#all.filter((run) => !this.#written.has(run));
  }

  /** The newest runs of a rule, oldest first, and those that the machine has, which may be older: one of them may still be undone. */
  newest(held: Held, most: number): AutomationRun[] {
    const runs = this.of(held.rule.id);
    return runs.filter((run, place) => place >= runs.length - most || isAtHand(held, run));
  }

  /** Takes a run, in the place of what was known of it. */
  set(held: Held, run: AutomationRun): void {
    const known = this.of(run.rule);
    const before = known.filter((one) => isBefore(one, run));
    const runs = [...before, run, ...known.filter((one) => isBefore(run, one))];
    while (runs.length > RUNS_KEPT)
      runs.splice(
        runs.findIndex((one) => !isAtHand(held, one)),
        1,
      );
    this.#runs.set(run.rule, runs);
    this.#writeSoon();
  }

  /** Drops the runs of a rule that is gone. */
  forget(rule: string): void {
    if (this.#runs.delete(rule)) this.#writeSoon();
  }

  /** Drops the runs of all rules but these: a kill may have come between the end of a rule and this file. */
  keepOnly(rules: ReadonlySet<string>): void {
    for (const rule of [...this.#runs.keys()]) if (!rules.has(rule)) this.forget(rule);
  }

  /** Writes what is not written yet. */
  async stop(): Promise<void> {
    if (this.#timer) this.#write();
    await this.#writing;
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(async () => {
      const text = JSON.stringify({ version: 1, runs: Object.fromEntries(this.#runs) });
      const all = this.#all;
      await writeAtomic(this.#path, text).then(
        () => this.#areWritten(all),
        (error: unknown) => this.#log("warn", "automations.runs_not_written", { error: messageOf(error) }),
      );
    });
  }

  get #all(): AutomationRun[] {
    return [...this.#runs.values()].flat();
  }

  #areWritten(runs: readonly AutomationRun[]): void {
    for (const run of runs) this.#written.add(run);
  }
}

/** The machine has it: it is out, was the last one, or is the last one that changed something. */
function isAtHand({ rule, state }: Held, { version, firing }: AutomationRun): boolean {
  const { run, last, changed } = state;
  return version === rule.version && [run, last, changed].some((one) => one?.firing === firing);
}

function isBefore(one: AutomationRun, other: AutomationRun): boolean {
  return one.version < other.version || (one.version === other.version && one.firing < other.firing);
}
