/** Tools whose runs can be counted and held, to see what an agent really runs. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";

export type Probe = { tool: Tool; runs: string[]; release(): void };

/** Counts its runs; with `holds` it waits until `release`. */
export function probe(name: string, more: Partial<Tool> & { holds?: boolean } = {}): Probe {
  const { holds = false, ...rest } = more;
  const runs: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tool = defineTool({
    name,
    description: `A probe named ${name}.`,
    input: z.strictObject({ value: z.optional(z.string()) }),
    effect: "read",
    idempotent: true,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ value }) {
      runs.push(value ?? "");
      if (holds) await released;
      return textResult(`${name} ran${value === undefined ? "" : ` with ${value}`}`);
    },
  });
  return { tool: { ...tool, ...rest }, runs, release: () => release() };
}
