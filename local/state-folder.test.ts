import { mkdtempSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeStateFolder } from "./state-folder.ts";

const folder = () => mkdtempSync(join(tmpdir(), "edgecall-state-"));

test("a folder and its parents are made, only for their owner; an existing one is unchanged", () => {
  const dir = join(folder(), "a/b");
  makeStateFolder(dir);
  makeStateFolder(dir);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, "..")).mode & 0o777).toBe(0o700);
});

test("a link without a target, and a file in its place or above it, are reported", () => {
  const dir = folder();
  writeFileSync(join(dir, "file"), "");
  symlinkSync(join(dir, "gone"), join(dir, "link"));
  for (const name of ["file", "file/below", "link"]) {
    const wanted = join(dir, name);
    expect(() => makeStateFolder(wanted), name).toThrow(
      `EDGECALL_DIR: the folder ${wanted} cannot be made (`,
    );
  }
});

// Node's recursive mkdir never returns there.
test("a system that refuses to make folders is reported", { tags: ["needs/linux"] }, () => {
  for (const dir of ["/proc/edgecall", "/proc/edgecall/state"])
    expect(() => makeStateFolder(dir)).toThrow(
      /^EDGECALL_DIR: the folder \/proc\/edgecall.* cannot be made \(ENOENT/,
    );
});
