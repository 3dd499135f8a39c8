/**
 * `npm run trial`: does what a new user does, on four machines (systemd-nspawn), with a home behind its router and a
 * gateway outside: pairing, first answers, reboots, a new broker, a revoked key, updates. It needs root and Debian.
 * Everything lives in namespaces of one process of this program, so when that process ends, for any reason, the
 * machines, their network and their disks are gone.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cgroupFolders, removeCgroups } from "../install/cgroups.ts";
import { debianFolder } from "./debian.ts";
import { type Given, LIMIT_MS } from "./given.ts";
import { missingForTrial } from "./needed.ts";

const USAGE = `usage: npm run trial [-- --json FILE]
  --json FILE  the figures, besides the table
`;
/** The trial has its own limit and names the step that took too long. This limit is for a trial that hangs. */
const WITHIN_MS = LIMIT_MS + 30_000;
const EXIT_USAGE = 2;

const options = readOptions();
const missing = missingForTrial();
if (missing.length > 0) {
  console.error(`npm run trial needs ${missing.join(", ")}`);
  process.exit(1);
}
const say = (line: string) => console.error(line);
const debian = await debianFolder(say);
const dir = mkdtempSync(join(tmpdir(), "edgecall-trial-"));
const cgroups = cgroupFolders(`edgecall-trial-${process.pid}`);
const given: Given = { debian, dir, cgroups, json: options.json };
const inside = spawn(
  // When this program ends in any way, unshare and everything that it started end too.
  "setpriv",
  [
    ...["--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid"],
    ...["--fork", "--mount-proc", "--kill-child=SIGKILL"],
    ...[process.execPath, join(import.meta.dirname, "trial.ts"), JSON.stringify(given)],
  ],
  { stdio: "inherit", timeout: WITHIN_MS, killSignal: "SIGKILL" },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => inside.kill("SIGKILL"));
const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
  inside.on("close", (...how) => done(how)),
);
cleanUp();
if (signal !== null) say(`ended by ${signal}`);
process.exit(code ?? 1);

function readOptions(): { json: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { json: { type: "string" } },
    });
    return { json: values.json && resolve(values.json) };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

function cleanUp(): void {
  removeCgroups(cgroups);
  rmSync(dir, { recursive: true, force: true });
}
