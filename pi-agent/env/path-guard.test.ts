import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { casesOf, placeOf } from "../testing/cases.ts";
import type { FileOps } from "./environment.ts";
import { localFiles } from "./local-files.ts";
import { PathGuard } from "./path-guard.ts";

const OPERATIONS: Record<string, (files: FileOps, path: string) => Promise<unknown>> = {
  read: (files, path) => files.readFile(path),
  write: (files, path) => files.writeFile(path, new TextEncoder().encode("written")),
  ls: (files, path) => files.readDir(path),
};

for (const one of casesOf("path_guard")) {
  test(`${one.id}: ${one.title}`, async () => {
    const folder = placeOf(one);
    const cwd = join(folder, one.given?.root ?? ".");
    // A case with no file in the workspace means an empty one.
    if (!existsSync(cwd)) mkdirSync(cwd);
    const files = localFiles({ cwd, writable: (one.given?.allow ?? []).map((path) => join(folder, path)) });
    const { op, path } = one.input as { op: string; path: string };
    const work = one.given?.race ? readSwapped(folder, cwd, path) : OPERATIONS[op]?.(files, path);
    const verdict = await work?.then(
      () => "allowed",
      (error: { code: string }) => (error.code === "access_denied" ? "blocked" : error.code),
    );
    expect(verdict).toBe(one.expect.verdict);
    for (const absent of one.expect.filesAbsent ?? [])
      expect(existsSync(join(folder, absent)), absent).toBe(false);
  });
}

/**
 * Does what local-files.ts does, with a swap between its two steps; the test of local-files.ts swaps at random in a
 * thread.
 */
async function readSwapped(folder: string, cwd: string, path: string): Promise<void> {
  const guard = new PathGuard({ cwd });
  const { real } = await guard.resolve(path, "read");
  rmSync(join(folder, "ws/d"), { recursive: true });
  symlinkSync("../out", join(folder, "ws/d"));
  expect(readFileSync(join(folder, "ws/d/a.txt"), "utf8")).toBe("secret");
  await (await guard.hold(real, path, "read")).close();
}
