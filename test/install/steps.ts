/** A script of steps (steps.sh) in a machine of its own, for a test: what each of them came to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { type MachineFiles, type Ran, runInMachine } from "./machine.ts";

/** Many times what the longest of them takes: a machine under load must not decide. */
const WITHIN_MS = 280_000;
/** For what is done before and after, outside the machine. */
const HOOK_WITHIN_MS = WITHIN_MS + 20_000;

export type Step = { out: string; code: number };

export type Steps = {
  /** One that was not reached says what there was. */
  step: (name: string) => Step;
  /** Steps that have to end with 0; what they said is shown if not. */
  fine: (...names: string[]) => void;
};

/**
 * To be called once, in a `describe`.
 * @param script its name in this folder
 * @param files what the machine has besides Node, this repository and the settings of a broker
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
