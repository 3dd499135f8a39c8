/** What the trial did, how long each step took and what a person had to do for it: a table, and JSON. */
import { loadavg } from "node:os";
import type { StepName } from "./steps.ts";

export type Step = {
  name: StepName;
  ok: boolean;
  ms: number;
  /** Clicks, commands and questions of the person. */
  person: number;
  /** Measured within it, in milliseconds. */
  times: Readonly<Record<string, number>>;
  /** What was seen, or why it failed. */
  note: string;
};

/** What a step gives back: times in milliseconds, by what was waited for, and what was seen. */
export type Seen = { times?: Readonly<Record<string, number>>; note?: string };

export class Recorder {
  readonly steps: Step[] = [];
  /** The step that is under way. */
  running: StepName | undefined;
  readonly #say: (line: string) => void;
  readonly #person: { did: number };

  constructor(person: { did: number }, say: (line: string) => void) {
    this.#person = person;
    this.#say = say;
  }

  /** @throws StepFailed when it does: nothing after it would mean anything */
  async step(name: StepName, run: () => Promise<Seen>): Promise<void> {
    const began = performance.now();
    const before = this.#person.did;
    this.running = name;
    const note = (ok: boolean, { times = {}, note = "" }: Seen) => {
      const ms = Math.round(performance.now() - began);
      const step = { name, ok, ms, person: this.#person.did - before, times, note };
      this.steps.push(step);
      this.#say(lineOf(step));
    };
    try {
      note(true, await run());
    } catch (error) {
      note(false, { note: error instanceof Error ? error.message : String(error) });
      throw new StepFailed(name);
    }
  }

  json(): object {
    return {
      at: new Date().toISOString(),
      load: loadavg().map((one) => Number(one.toFixed(1))),
      steps: this.steps,
    };
  }

  /** For people, and for docs/install.md. */
  table(): string {
    const rows = this.steps.map(({ name, ok, ms, person, times }) => {
      const measured = Object.entries(times).map(([what, time]) => `${what} ${seconds(time)}`);
      return `| ${name}${ok ? "" : " FAILED"} | ${person || "–"} | ${measured.join(", ") || seconds(ms)} |`;
    });
    return ["| what | a person does | seconds |", "| --- | --- | --- |", ...rows].join("\n");
  }
}

export class StepFailed extends Error {
  constructor(step: string) {
    super(`the step '${step}' failed`);
    this.name = "StepFailed";
  }
}

/** Measures from its creation. */
export function stopwatch(): () => number {
  const began = performance.now();
  return () => Math.round(performance.now() - began);
}

function lineOf({ name, ok, ms, times, note }: Step): string {
  const measured = Object.entries(times).map(([what, time]) => `${what} ${seconds(time)} s`);
  const more = [...measured, ...note.split("\n")].filter(Boolean).map((line) => `\n       ${line}`);
  return `${ok ? "ok  " : "FAIL"}  ${name}  (${seconds(ms)} s)${more.join("")}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
