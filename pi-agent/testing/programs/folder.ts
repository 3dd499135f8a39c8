/** Programs that a test stands in for: executable scripts in a folder of their own, and an ExecOps that finds only them. */
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecOps } from "../../env/environment.ts";
import { localExec } from "../../env/local-exec.ts";

/** Text of a shell script by the program's name. */
export type Scripts = Readonly<Record<string, string>>;

/** @returns the folder with them, for a PATH: a program that is not in `scripts` is looked for behind it */
export function programFolder(scripts: Scripts): string {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-programs-"));
  for (const [name, body] of Object.entries(scripts)) {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}`);
    chmodSync(path, 0o755);
  }
  return folder;
}

/** A program that is on this machine too, but not in `scripts`, is not there for the tools. */
export function programs(scripts: Scripts): ExecOps {
  const folder = programFolder(scripts);
  const exec = localExec(folder);
  return { run: ([name, ...rest], options) => exec.run([join(folder, name), ...rest], options) };
}

/** Fails as the real one does. */
export function failing(words: string, exitCode = 1): string {
  return `cat >&2 <<'END'\n${words}\nEND\nexit ${exitCode}\n`;
}

export function saying(words: string): string {
  return `cat <<'END'\n${words}\nEND\n`;
}
