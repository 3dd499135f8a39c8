/** The Worker's start: every request to a new instance waits for it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundleWorker } from "../local/bundles.ts";
import { START_RATIO } from "./limits.ts";
import { KEPT, measureWorkerStart } from "./worker-start.ts";

/** Stands for the modules of the runtime. */
const RUNTIME = "export class DurableObject {} export const env = {}; export const waitUntil = () => {};";
/** zod calls this for each schema that it makes. */
const COUNTING = `let made = 0;
globalThis.__zod_globalConfig = { postProcessor: () => { made += 1; } };
const { default: app } = await import("./worker.mjs");
const atStart = made;
await app.fetch(new Request("https://gateway/v1/status", { headers: { authorization: "Bearer x" } }), { API_TOKENS: "[]" });
console.log(JSON.stringify({ atStart, routes: app.routes.length, counts: made > 0 }));`;

test("the Worker's start makes no schema: each is made when something is first checked with it", {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-start-"));
  try {
    const code = await bundleWorker();
    writeFileSync(
      join(folder, "worker.mjs"),
      code.replaceAll(/from\s*"cloudflare:\w+"/g, 'from "./runtime.mjs"'),
    );
    writeFileSync(join(folder, "runtime.mjs"), RUNTIME);
    writeFileSync(join(folder, "count.mjs"), COUNTING);
    const said = execFileSync(process.execPath, [join(folder, "count.mjs")], { encoding: "utf8" });
    const { atStart, routes, counts } = JSON.parse(said.trim().split("\n").at(-1) ?? "") as Record<
      string,
      unknown
    >;
    expect(routes).toBeGreaterThan(80);
    expect(atStart).toBe(0);
    // A request reads the tokens, so this does count.
    expect(counts).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// No bound in time: both are measured in one run, and processor time hardly depends on the machine's other work.
test("the Worker's start takes little more processor time than that of 0.3.0", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-starts-"));
  const { kept, today, ratio } = await measureWorkerStart(folder);
  console.log(
    `to start: ${today.toFixed(1)} ms of processor time, ${KEPT} ${kept.toFixed(1)} ms: × ${ratio.toFixed(2)}, at most ${START_RATIO}`,
  );
  expect(ratio).toBeLessThanOrEqual(START_RATIO);
});
