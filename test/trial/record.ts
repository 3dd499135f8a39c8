/** Records what the trial did, how long each step took and how much a person did for it, as a table and as JSON. */
import { loadavg } from "node:os";
import type { StepName } from "./steps.ts";

export type Step = {
  name: StepName;
  ok: boolean;
  ms: number;
  /** The number of the person's clicks, commands and questions. */
  person: number;
  /** Times measured within the step, in milliseconds. */
  times: Readonly<Record<string, number>>;
  /** What was seen, or why the step failed. */
  note: string;
};

/** The result of a step: times in milliseconds by name, and a note on what was seen. */
export type Seen = { times?: Readonly<Record<string, number>>; note?: string };

export class Recorder {
  readonly steps: Step[] = [];
  /** The current step. */
  running: StepName | undefined;
  readonly #say: (line: string) => void;
  readonly #person: { did: number };

  constructor(person: { did: number }, say: (line: string) => void) {
    this.#person = person;
    this.#say = say;
  }

  /** @throws StepFailed when the step fails, because the later steps depend on it */
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

  /** A table for people and for docs/measured/install.md. */
  table(): string {
    const rows = this.steps.map(({ name, ok, ms, person, times }) => {
      const measured = Object.entries(times).map(([what, time]) => `${what} ${seconds(time)}`);
      return `| ${name}${ok ? "" : " FAILED"} | ${person || "–"} | ${measured.join(", ") || seconds(ms)} |`;
    });
    return ["| what | a person does | seconds |", "| --- | --- | --- |", ...rows].join("\n");
  }
}

class StepFailed extends Error {
  constructor(step: string) {
    super(`the step '${step}' failed`);
    this.name = "StepFailed";
  }
}

/** Starts a stopwatch. @returns a function that gives the milliseconds since then */
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
