/** Runs a script of steps (steps.sh) in a machine of its own for a test, and returns the result of each step. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { type MachineFiles, type Ran, runInMachine } from "./machine.ts";

/** Many times what the longest script takes, so that a busy machine does not fail the test. */
const WITHIN_MS = 280_000;
/** Includes the work outside the machine before and after. */
const HOOK_WITHIN_MS = WITHIN_MS + 20_000;

export type Step = { out: string; code: number };

export type Steps = {
  /** Returns a step's result; the error for a step that was not reached lists the others. */
  step: (name: string) => Step;
  /** Checks that steps ended with 0, and shows their output otherwise. */
  fine: (...names: string[]) => void;
};

/**
 * Call it once, in a `describe`.
 * @param script its name in this folder
 * @param files the machine's files besides Node, this repository and a broker's settings
 */
export function useSteps(script: string, files: () => MachineFiles | Promise<MachineFiles>): Steps {
  let steps: ReadonlyMap<string, Step>;
  let ran: Ran;
  beforeAll(async () => {
    ran = await runInMachine({
      script: readFileSync(join(import.meta.dirname, script), "utf8"),
      within: WITHIN_MS,
      files: {
        "/opt/node/bin/node": { bind: process.execPath },
        "/repo": { bind: join(import.meta.dirname, "../..") },
        "/test/mosquitto.conf": { text: "listener 1883 127.0.0.1\nallow_anonymous true\n" },
        ...(await files()),
      },
    });
    steps = stepsOf(ran.out);
  }, HOOK_WITHIN_MS);

  const step = (name: string) => steps.get(name) ?? { out: `not reached:\n${ran.out}\n${ran.log}`, code: -1 };
  return {
    step,
    fine: (...names) => {
      for (const name of names) {
        const { code, out } = step(name);
        expect(code, `${name}: ${out}`).toBe(0);
      }
    },
  };
}

function stepsOf(out: string): ReadonlyMap<string, Step> {
  const parts = out.split(/^== /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [name = "", ...lines] = part.trimEnd().split("\n");
      const code = Number(/^= (\d+)$/.exec(lines.at(-1) ?? "")?.[1] ?? 99);
      return [name, { out: lines.slice(0, -1).join("\n"), code }];
    }),
  );
}
