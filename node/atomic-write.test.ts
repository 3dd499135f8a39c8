import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linkAtomic, replaceInMemory, writeAtomic } from "./atomic-write.ts";

const folder = () => mkdtempSync(join(tmpdir(), "edgecall-atomic-"));
const modeOf = (path: string) => statSync(path).mode & 0o777;

test("a file is only for its owner by default, whatever a power cut left and whatever the umask is", async () => {
  const dir = folder();
  const path = join(dir, "a/b/key.json");
  await writeAtomic(path, "one");
  expect([modeOf(path), modeOf(join(dir, "a"))]).toEqual([0o600, 0o700]);
  writeFileSync(`${path}.next`, "torn and longer");
  chmodSync(`${path}.next`, 0o666);
  await writeAtomic(path, Buffer.from("two"));
  expect([readFileSync(path, "utf8"), modeOf(path), existsSync(`${path}.next`)]).toEqual([
    "two",
    0o600,
    false,
  ]);
  const umask = process.umask(0o077);
  try {
    await writeAtomic(path, "three", { mode: 0o755 });
  } finally {
    process.umask(umask);
  }
  expect(modeOf(path)).toBe(0o755);
});

test("with a missing folder nothing is written, if no folder may be made", async () => {
  const path = join(folder(), "gone", "acl");
  await expect(writeAtomic(path, "", { makeFolder: false })).rejects.toThrow("ENOENT");
  expect(() => replaceInMemory(path, "", 0o640)).toThrow("ENOENT");
});

test("a link replaces another one, also after a power cut", async () => {
  const path = join(folder(), "current");
  symlinkSync("nowhere", `${path}.next`);
  await linkAtomic("versions/1", path);
  await linkAtomic("versions/2", path);
  expect([readlinkSync(path), existsSync(`${path}.next`)]).toEqual(["versions/2", false]);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});
