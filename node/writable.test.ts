import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findUnwritable } from "./writable.ts";

test("O5: a full disk is found with a try and without one, a read-only one too, and a folder with room is fine", {
  tags: ["needs/mounts"],
}, async () => {
  const disk = mkdtempSync(join(tmpdir(), "edgecall-writable-"));
  const mount = (options: string) =>
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "edgecall-test", disk], { stdio: "pipe" });
  const umount = () => void execFileSync("umount", ["--lazy", disk]);
  onTestFinished(umount);
  mount("size=256k");
  for (const tries of [true, false]) expect(await findUnwritable(disk, { tries })).toBeUndefined();
  expect(() => writeFileSync(join(disk, "filler"), Buffer.alloc(300 * 1_024))).toThrow("ENOSPC");
  for (const tries of [true, false])
    expect(await findUnwritable(disk, { tries })).toEqual({ kind: "full", path: disk, error: "ENOSPC" });
  mount("ro,size=64k");
  onTestFinished(umount);
  for (const tries of [true, false])
    expect(await findUnwritable(disk, { tries })).toEqual({ kind: "read_only", path: disk, error: "EROFS" });
});

test("a folder that its program has not made yet is no fault for a doctor", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "edgecall-writable-")), "later");
  expect(await findUnwritable(path, { tries: false })).toBeUndefined();
  expect(await findUnwritable(path, { tries: true })).toBeUndefined();
});
