/** A tool with a known duration: it waits for the requested time. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, textResult } from "@edgecall/core/tools/contract.ts";

/** The longest measured wait takes 45 s. */
const WAIT_MAX_MS = 60_000;

export const waitTool = defineTool({
  name: "wait",
  description: "Wait for so many milliseconds.",
  input: z.strictObject({ ms: z.int().check(z.minimum(0), z.maximum(WAIT_MAX_MS)) }),
  effect: "read",
  idempotent: true,
  timeoutMs: WAIT_MAX_MS,
  maxTimeoutMs: WAIT_MAX_MS,
  async execute({ ms }, { signal }) {
    await sleep(ms, undefined, { signal });
    return textResult(`Waited ${ms} ms.`);
  },
});
