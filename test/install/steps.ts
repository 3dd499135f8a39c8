/** What a script of steps (steps.sh) came to, for a test. */
import type { Ran } from "./machine.ts";

export type Step = { out: string; code: number };

/** @returns each step by its name; one that was not reached says what there was */
export function stepsOf({ out, log }: Ran): (name: string) => Step {
  const steps = new Map(
    out
      .split(/^== /m)
      .slice(1)
      .map((part) => {
        const [name = "", ...lines] = part.trimEnd().split("\n");
        const code = Number(/^= (\d+)$/.exec(lines.at(-1) ?? "")?.[1] ?? 99);
        return [name, { out: lines.slice(0, -1).join("\n"), code }];
      }),
  );
  return (name) => steps.get(name) ?? { out: `not reached:\n${out}\n${log}`, code: -1 };
}
