/** A program's output on a machine that gives this process no time. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { runProcess } from "./run-process.ts";

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("what was written before the end is read, also where the pause after the end is over before anything could be read", async () => {
  let output = "";
  const run = (script: string, onOutput: (chunk: Uint8Array) => void) =>
    runProcess(["/bin/sh", "-c", script], {
      env: { PATH: process.env.PATH ?? "" },
      signal: new AbortController().signal,
      onOutput,
    });
  const both = Promise.all([
    // While its output is read the other one ends. So both ends come together, before the other one's output.
    run("echo first", () => {
      block(500);
      setImmediate(() => block(300));
    }),
    run("sleep 0.4; echo second", (chunk) => {
      output += new TextDecoder().decode(chunk);
    }),
  ]);
  await nextTurn();
  block(200);
  await both;
  expect(output).toBe("second\n");
});
